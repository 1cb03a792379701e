import { Group, Text } from "@mantine/core";
import { useNetwork } from "@mantine/hooks";
import { useSyncExternalStore } from "react";
import { connection } from "../api/connection.ts";
import { Icon } from "./icons.tsx";

/** Says that the service cannot be reached, for as long as that lasts. */
export function ConnectionBanner() {
  const isLost = useSyncExternalStore(connection.subscribe, connection.isLost);
  const { online } = useNetwork();
  return (
    <div role="status">
      {(isLost || !online) && (
        <Group bg="orange.1" c="#5f2c00" px="md" py={6} gap="xs" justify="center">
          <Icon name="offline" />
          <Text size="sm" fw={600}>
            {online ? "The service cannot be reached." : "You are offline."} The console continues as soon as it is
            back.
          </Text>
        </Group>
      )}
    </div>
  );
}
