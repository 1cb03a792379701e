import { Box, Code } from "@mantine/core";

interface Props {
  /** What it is, for who hears it. */
  readonly name: string;
  readonly code: string;
  /** More scrolls. */
  readonly tallest?: number;
}

/** Code as it is, which scrolls sideways in its own place, by keyboard too. */
export function CodeBlock({ name, code, tallest }: Props) {
  return (
    <Box component="section" aria-label={name} tabIndex={0} style={{ overflow: "auto" }} mah={tallest}>
      <Code block bg="var(--console-ground)" style={{ width: "max-content", minWidth: "100%" }}>
        {code}
      </Code>
    </Box>
  );
}
