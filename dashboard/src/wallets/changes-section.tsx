import { Group, Stack, Text } from "@mantine/core";
import type { AuditEvent, Wallet } from "../api/operations.ts";
import { useAuthors } from "../shell/authors.ts";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { useWalletChanges } from "./changes.ts";

export function ChangesSection({ wallet }: { readonly wallet: Wallet }) {
  const authorOf = useAuthors();
  const changes = useWalletChanges().filter(({ target }) => target === wallet.id);
  return (
    <Section title="Changes" about="Who changed this wallet. Owners and admins get an email about each change.">
      <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: "none" }}>
        {changes.map((change) => (
          <Group component="li" key={change.id} justify="space-between" gap="xs">
            <Text size="sm" style={{ flex: "1 1 14rem", overflowWrap: "anywhere" }}>
              {whatOf(change)} by {authorOf(change.actor)}
            </Text>
            <Text size="sm" c="dimmed" component="div">
              <Time value={change.createdAt} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

function whatOf({ action, before, after }: AuditEvent): string {
  if (action === "wallet.created") return "Added";
  if (action === "wallet.frozen") return "Taken out of use (altered in the database)";
  if (action === "wallet.disabled_by_link") return "Disabled with the link in an email";
  if (before?.isEnabled !== after?.isEnabled) return after?.isEnabled === true ? "Enabled" : "Disabled";
  return `Confirmations changed from ${before?.requiredConfirmations} to ${after?.requiredConfirmations}`;
}
