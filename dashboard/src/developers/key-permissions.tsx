import { SimpleGrid, Stack, Text } from "@mantine/core";
import { keyPermissionName, SECRET_KEY_PERMISSIONS } from "../../../src/accounts/roles/permissions.ts";
import { permissionGroups } from "../shell/permission-words.ts";

/** A key's permissions, by subject. `names` are in the API's form: `INVOICE_CREATE`. */
export function KeyPermissions({ names }: { readonly names: readonly string[] }) {
  const held = SECRET_KEY_PERMISSIONS.filter((permission) => names.includes(keyPermissionName(permission)));
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs">
      {permissionGroups(held).map(({ name, members }) => (
        <Stack key={name} gap={0}>
          <Text size="sm" fw={600}>
            {name}
          </Text>
          <Text size="sm" c="dimmed">
            {members.map(({ action }) => action).join(", ")}
          </Text>
        </Stack>
      ))}
    </SimpleGrid>
  );
}
