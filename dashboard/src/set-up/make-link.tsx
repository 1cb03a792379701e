import { Stack, Text } from "@mantine/core";
import { CodeToCopy } from "../shell/code-to-copy.tsx";

/** How an operator creates a set-up link. */
export function MakeLink() {
  return (
    <Stack gap="xs">
      <Text>
        If you run this deployment, run this command in the folder you deployed it from, then open the link it prints:
      </Text>
      <CodeToCopy name="Command that creates a set-up link" noun="the command" code={command()} />
      <Text size="sm" c="dimmed">
        The link works once, within 24 hours.
      </Text>
    </Stack>
  );
}

function command(): string {
  const isLocal = ["localhost", "127.0.0.1"].includes(location.hostname);
  return isLocal ? "npm run setup-link" : `npm run setup-link -- --remote \\\n  --origin ${location.origin}`;
}
