import { Anchor, Text } from "@mantine/core";
import { hasMailbox } from "../shell/deployment.ts";

/** Where a development server's emails are. */
export function MailboxHint({ email }: { readonly email?: string }) {
  if (!hasMailbox) return null;
  const search = email === undefined ? "" : `?to=${encodeURIComponent(email)}`;
  return (
    <Text size="sm" c="dimmed">
      This development server keeps emails instead of sending them:{" "}
      <Anchor href={`/dev/mail${search}`} target="_blank" inherit underline="always">
        open its mailbox
      </Anchor>
      .
    </Text>
  );
}
