import { Card, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  /** Says why the list is empty, and what to do. */
  readonly children?: ReactNode;
  /** The button for the next step. */
  readonly action?: ReactNode;
}

/** Shown instead of an empty list's rows. */
export function EmptyList({ title, children, action }: Props) {
  return (
    <Card padding="xl">
      <Stack align="center" gap="sm" py="lg">
        <Text fw={650}>{title}</Text>
        {children !== undefined && (
          <Text c="dimmed" ta="center" maw={440}>
            {children}
          </Text>
        )}
        {action}
      </Stack>
    </Card>
  );
}
