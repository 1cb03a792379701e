import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** One line of a list of facts (`dl`). */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Group justify="space-between" align="flex-start" gap="md" wrap="nowrap">
      <Text component="dt" size="sm" c="dimmed" style={{ flex: "none" }}>
        {name}
      </Text>
      <Text component="dd" size="sm" m={0} ta="right" className="numbers" style={{ overflowWrap: "anywhere" }}>
        {children}
      </Text>
    </Group>
  );
}
