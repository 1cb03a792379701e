import { Box, Group, Stack, Text } from "@mantine/core";
import { CodeBlock } from "../shell/code-block.tsx";
import { CopyIcon } from "../shell/copy-text.tsx";

/** How an operator creates a set-up link. */
export function MakeLink() {
  return (
    <Stack gap="xs">
      <Text>Do you run it? In the folder you deployed it from, run this command and open the link it prints:</Text>
      <Group wrap="nowrap" align="center" gap={4}>
        <Box flex={1} miw={0}>
          <CodeBlock name="The command that makes a set-up link" code={command()} />
        </Box>
        <CopyIcon value={command()} name="the command" />
      </Group>
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
