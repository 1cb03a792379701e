import { Card, Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

interface Props {
  readonly title: string;
  /** The part's id, for links to it. */
  readonly anchor?: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** A part of a page, as a named region. */
export function Section({ title, anchor, about, actions, children }: Props) {
  const id = useId();
  return (
    <Card component="section" aria-labelledby={id} id={anchor} style={{ scrollMarginTop: 72 }}>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Stack gap={2} style={{ flex: "1 1 14rem" }}>
            <Title order={2} id={id}>
              {title}
            </Title>
            {about !== undefined && (
              <Text size="sm" c="dimmed">
                {about}
              </Text>
            )}
          </Stack>
          {actions}
        </Group>
        {children}
      </Stack>
    </Card>
  );
}
