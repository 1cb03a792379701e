import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Customer } from "../api/operations.ts";
import { type Column, Rows } from "../shell/rows.tsx";
import { Time } from "../shell/time.tsx";
import { customerName } from "./customer-name.ts";

interface Props {
  readonly customers: readonly Customer[];
  readonly isStale: boolean;
}

const COLUMNS: readonly Column<Customer>[] = [
  { name: "Customer", maxWidth: 400, show: (customer) => <CustomerLink customer={customer} /> },
  {
    name: "Phone number",
    maxWidth: 200,
    show: ({ phoneNumber }) => (
      <Text size="sm" truncate title={phoneNumber ?? undefined}>
        {phoneNumber}
      </Text>
    ),
  },
  { name: "Since", show: ({ createdAt }) => <Time value={createdAt} /> },
];

export function CustomerRows({ customers, isStale }: Props) {
  return (
    <Rows
      rows={customers}
      columns={COLUMNS}
      isStale={isStale}
      card={(customer) => (
        <>
          <CustomerLink customer={customer} />
          <Text size="sm" c="dimmed" component="div" mt={4}>
            since <Time value={customer.createdAt} />
          </Text>
        </>
      )}
    />
  );
}

function CustomerLink({ customer }: { readonly customer: Customer }) {
  return (
    <>
      <Link
        className="row-link"
        to="/console/$merchantId/customers/$customerId"
        params={{ merchantId: customer.merchantId, customerId: customer.id }}
      >
        <Text span size="sm" fw={600} truncate display="block">
          {customerName(customer)}
        </Text>
      </Link>
      {customer.name !== null && (
        <Text size="sm" c="dimmed" truncate>
          {customer.email}
        </Text>
      )}
    </>
  );
}
