import { Anchor, Text } from "@mantine/core";
import { hasMailbox } from "../shell/deployment.ts";

/** Says where a development server shows its emails. */
export function MailboxHint({ email }: { readonly email?: string }) {
  if (!hasMailbox) return null;
  const search = email === undefined ? "" : `?to=${encodeURIComponent(email)}`;
  return (
    <Text size="sm" c="dimmed">
      This development server stores emails instead of sending them:{" "}
      <Anchor href={`/dev/mail${search}`} target="_blank" inherit underline="always">
        open its mailbox
      </Anchor>
      .
    </Text>
  );
}
