// The layout of pages outside the console: sign-in, and pages that emails link to.
import { Card, Center, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { Brand } from "../shell/merchant-switcher.tsx";

interface Props {
  readonly title: string;
  readonly about?: string;
  readonly children: ReactNode;
}

export function Entrance({ title, about, children }: Props) {
  useEffect(() => {
    document.title = `${title} - Edgetill`;
  }, [title]);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack w="100%" maw={420} gap="md">
        <Brand />
        <Card padding="xl" shadow="sm">
          <Stack gap="lg">
            <Stack gap={4}>
              <Title order={1}>{title}</Title>
              {about !== undefined && <Text c="dimmed">{about}</Text>}
            </Stack>
            {children}
          </Stack>
        </Card>
        <Text size="xs" c="dimmed" ta="center">
          Non-custodial crypto payments. Your keys stay yours.
        </Text>
      </Stack>
    </Center>
  );
}
