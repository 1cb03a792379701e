import { Box, Code } from "@mantine/core";

interface Props {
  /** Its name, for screen readers. */
  readonly name: string;
  readonly code: string;
  /** Longer code scrolls. */
  readonly tallest?: number;
}

/** Code verbatim, in a box that can be scrolled sideways with mouse and keyboard. */
export function CodeBlock({ name, code, tallest }: Props) {
  return (
    <Box component="section" aria-label={name} tabIndex={0} style={{ overflow: "auto" }} mah={tallest}>
      <Code block bg="var(--console-ground)" style={{ width: "max-content", minWidth: "100%" }}>
        {code}
      </Code>
    </Box>
  );
}
