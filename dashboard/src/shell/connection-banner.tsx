import { Group, Text } from "@mantine/core";
import { useNetwork } from "@mantine/hooks";
import { useSyncExternalStore } from "react";
import { connection } from "../api/connection.ts";
import { Icon } from "./icons.tsx";

/** Shown for as long as the service cannot be reached. */
export function ConnectionBanner() {
  const isLost = useSyncExternalStore(connection.subscribe, connection.isLost);
  const { online } = useNetwork();
  return (
    <div role="status">
      {(isLost || !online) && (
        <Group bg="orange.1" c="#5f2c00" px="md" py={6} gap="xs" justify="center">
          <Icon name="offline" />
          <Text size="sm" fw={600}>
            {online ? "The service cannot be reached." : "You are offline."} The console reconnects automatically.
          </Text>
        </Group>
      )}
    </div>
  );
}
