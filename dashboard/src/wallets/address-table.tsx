import { Table } from "@mantine/core";
import type { PathAndAddress } from "./verdict.ts";

export function AddressTable({ addresses }: { readonly addresses: readonly PathAndAddress[] }) {
  return (
    <Table verticalSpacing={6} horizontalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Path</Table.Th>
          <Table.Th>Address</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {addresses.map(({ path, address }) => (
          <Table.Tr key={path}>
            <Table.Td className="mono" style={{ whiteSpace: "nowrap" }}>
              {path}
            </Table.Td>
            <Table.Td className="mono">{address}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
