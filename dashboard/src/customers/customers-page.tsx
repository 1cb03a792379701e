import { Group, Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { showDone, useList } from "../api/queries.ts";
import { EmptyList } from "../shell/empty-list.tsx";
import { type Address, addressOf, ListPage, NewButton } from "../shell/list-page.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { SearchField } from "../shell/search-field.tsx";
import { CustomerForm } from "./customer-form.tsx";
import { CustomerRows } from "./customer-rows.tsx";
import type { CustomersSearch } from "./search.ts";

const AT_ONCE = 25;

export function CustomersPage() {
  const { id: merchantId } = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/customers" });
  const address: Address<CustomersSearch> = addressOf(search, useNavigate({ from: "/console/$merchantId/customers" }));
  // A user who may change customers may also create one.
  const mayCreate = useMay("customer:update");
  const [isCreating, creating] = useDisclosure();
  const customers = useList("listCustomers", { merchantId, query: { ...search, limit: AT_ONCE } });
  return (
    <>
      <ListPage
        title="Customers"
        subtitle="People who bought from you. Each email address on an invoice is one customer."
        actions={mayCreate && <NewButton onClick={creating.open}>New customer</NewButton>}
        filters={
          <Group role="search" aria-label="Filter customers">
            <SearchField
              name="Search customers"
              hint="Start of a name, a full email address, or an ID"
              asked={search.search}
              onSearch={(words) => address.filter({ search: words })}
            />
          </Group>
        }
        query={customers}
        address={address}
        none={
          <EmptyList title="No customers yet">
            Anyone named on an invoice, or who enters an email address on your payment page, is added here
            automatically.
          </EmptyList>
        }
        unmatched={{
          title: "No matching customers",
          all: "Show all customers",
          about: "Search by the start of a name, a full email address or an ID.",
        }}
      >
        {(rows, isStale) => <CustomerRows customers={rows} isStale={isStale} />}
      </ListPage>
      <NewCustomer isOpen={isCreating} onClose={creating.close} />
    </>
  );
}

interface NewCustomerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function NewCustomer({ isOpen, onClose }: NewCustomerProps) {
  const { id: merchantId } = useMerchant();
  const navigate = useNavigate();
  return (
    <Modal opened={isOpen} onClose={onClose} title="New customer" size="lg">
      <CustomerForm
        onSaved={({ id: customerId }) => {
          showDone("Customer created. You can now choose them for an invoice.");
          void navigate({ to: "/console/$merchantId/customers/$customerId", params: { merchantId, customerId } });
        }}
      />
    </Modal>
  );
}
