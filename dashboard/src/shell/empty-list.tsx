import { Card, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  /** Why there is nothing, and what to do. */
  readonly children?: ReactNode;
  /** The button that does it. */
  readonly action?: ReactNode;
}

/** In the place of a list's rows where there are none. */
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
