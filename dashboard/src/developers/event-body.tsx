import { Group, Stack, Text } from "@mantine/core";
import { CodeBlock } from "../shell/code-block.tsx";
import { CopyIcon } from "../shell/copy-text.tsx";

const TALLEST = 360;

/** The body of each request that delivers the event. */
export function EventBody({ event }: { readonly event: object }) {
  const code = JSON.stringify(event, null, 2);
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          Request body that endpoints receive
        </Text>
        <CopyIcon value={code} name="the body" />
      </Group>
      <CodeBlock name="Event body" code={code} tallest={TALLEST} />
    </Stack>
  );
}
