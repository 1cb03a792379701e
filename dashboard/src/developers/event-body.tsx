import { Group, Stack, Text } from "@mantine/core";
import { CodeBlock } from "../shell/code-block.tsx";
import { CopyIcon } from "../shell/copy-text.tsx";

const TALLEST = 360;

/** The body of each request about it. */
export function EventBody({ event }: { readonly event: object }) {
  const code = JSON.stringify(event, null, 2);
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          The body that endpoints receive
        </Text>
        <CopyIcon value={code} name="the body" />
      </Group>
      <CodeBlock name="Body of the event" code={code} tallest={TALLEST} />
    </Stack>
  );
}
