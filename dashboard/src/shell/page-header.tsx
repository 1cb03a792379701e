import { Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

interface Props {
  /** The page's heading, and its title in the browser. */
  readonly title: string;
  readonly subtitle?: ReactNode;
  /** Shown next to the title: the object's state. */
  readonly mark?: ReactNode;
  readonly actions?: ReactNode;
}

export function PageHeader({ title, subtitle, mark, actions }: Props) {
  useEffect(() => {
    document.title = `${title} - Edgetill`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="lg" gap="md">
      <Stack gap={4} miw={0} flex="1 1 18rem">
        <Group gap="sm">
          <Title order={1} style={{ overflowWrap: "anywhere" }}>
            {title}
          </Title>
          {mark}
        </Group>
        {subtitle !== undefined && (
          <Text c="dimmed" component="div">
            {subtitle}
          </Text>
        )}
      </Stack>
      {actions !== undefined && <Group gap="sm">{actions}</Group>}
    </Group>
  );
}
