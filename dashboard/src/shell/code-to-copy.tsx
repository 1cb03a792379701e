import { Box, Group } from "@mantine/core";
import { CodeBlock } from "./code-block.tsx";
import { CopyIcon } from "./copy-text.tsx";

interface Props {
  /** Its name, for screen readers. */
  readonly name: string;
  /** The noun in the button's name: `Copy the command`. */
  readonly noun: string;
  readonly code: string;
}

/** Code verbatim, with a button that copies it. */
export function CodeToCopy({ name, noun, code }: Props) {
  return (
    <Group wrap="nowrap" align="center" gap={4}>
      <Box flex={1} miw={0}>
        <CodeBlock name={name} code={code} />
      </Box>
      <CopyIcon value={code} name={noun} />
    </Group>
  );
}
