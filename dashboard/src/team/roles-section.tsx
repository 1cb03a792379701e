import { Box, Table, Text } from "@mantine/core";
import { PERMISSIONS } from "../../../src/accounts/roles/permissions.ts";
import { ROLE_PERMISSIONS, ROLES, type Role } from "../../../src/accounts/roles/roles.ts";
import { type PermissionGroup, permissionGroups } from "../shell/permission-words.ts";
import { Section } from "../shell/section.tsx";
import { ROLE_WORDS } from "./roles.ts";

/** The permissions of each role, from the table that the service itself uses. */
export function RolesSection() {
  return (
    <Section title="Roles" about="What each role can do.">
      <Box component="section" aria-label="What each role can do" tabIndex={0} style={{ overflowX: "auto" }}>
        <Table miw={680} verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Area</Table.Th>
              {ROLES.map((role) => (
                <Table.Th key={role} scope="col" w="19%" style={{ verticalAlign: "top" }}>
                  {ROLE_WORDS[role].name}
                  <Text size="xs" c="dimmed">
                    {ROLE_WORDS[role].about}
                  </Text>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {permissionGroups(PERMISSIONS).map((group) => (
              <Table.Tr key={group.name}>
                <Table.Th scope="row">{group.name}</Table.Th>
                {ROLES.map((role) => (
                  <Table.Td key={role}>{actionsOf(group, role)}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
    </Section>
  );
}

function actionsOf({ members }: PermissionGroup, role: Role): string {
  const held = members.filter(({ permission }) => ROLE_PERMISSIONS[role].has(permission));
  return held.length === members.length && held.length > 1 ? "All" : held.map(({ action }) => action).join(", ");
}
