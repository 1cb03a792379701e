import { Button, Group, Modal, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { showDone, useList } from "../api/queries.ts";
import { EmptyList } from "../shell/empty-list.tsx";
import { Icon } from "../shell/icons.tsx";
import { ListPages } from "../shell/list-pages.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { SearchField } from "../shell/search-field.tsx";
import { CustomerForm } from "./customer-form.tsx";
import { CustomerRows } from "./customer-rows.tsx";

const AT_ONCE = 25;

export function CustomersPage() {
  const { id: merchantId } = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/customers" });
  const navigate = useNavigate({ from: "/console/$merchantId/customers" });
  // Who may change customers may also create one.
  const mayCreate = useMay("customer:update");
  const [isCreating, creating] = useDisclosure();
  const customers = useList("listCustomers", { merchantId, query: { ...search, limit: AT_ONCE } });
  return (
    <>
      <PageHeader
        title="Customers"
        subtitle="Who bought from you. One is kept for each email address of an invoice."
        actions={
          mayCreate && (
            <Button leftSection={<Icon name="plus" />} onClick={creating.open}>
              New customer
            </Button>
          )
        }
      />
      <Stack>
        <Group role="search" aria-label="Search the customers">
          <SearchField
            name="Search customers"
            hint="Beginning of the name, a whole email address, or id"
            asked={search.search}
            // Another search begins at its first page.
            onSearch={(words) => navigate({ search: words === undefined ? {} : { search: words }, replace: true })}
          />
        </Group>
        <Read query={customers}>
          {({ data, nextCursor }) => (
            <>
              {data.length === 0 ? (
                <NoCustomers isFiltered={Object.keys(search).length > 0} />
              ) : (
                <CustomerRows customers={data} isStale={customers.isPlaceholderData} />
              )}
              <ListPages
                cursor={search.cursor}
                nextCursor={nextCursor}
                onGo={(cursor) => navigate({ search: { ...search, cursor } })}
              />
            </>
          )}
        </Read>
      </Stack>
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
          showDone("The customer is kept, and can be chosen for an invoice.");
          void navigate({ to: "/console/$merchantId/customers/$customerId", params: { merchantId, customerId } });
        }}
      />
    </Modal>
  );
}

function NoCustomers({ isFiltered }: { readonly isFiltered: boolean }) {
  const navigate = useNavigate({ from: "/console/$merchantId/customers" });
  if (!isFiltered) {
    return (
      <EmptyList title="No customer yet">
        Whoever is named on an invoice, or gives an email address on your page, is listed here by themselves.
      </EmptyList>
    );
  }
  return (
    <EmptyList
      title="No customer matches"
      action={
        <Button variant="default" onClick={() => navigate({ search: {} })}>
          Show all customers
        </Button>
      }
    >
      Search by the beginning of a name, or by a whole email address or id.
    </EmptyList>
  );
}
