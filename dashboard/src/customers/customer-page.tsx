import { Anchor, Button, Group, Modal, SimpleGrid, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { LocatedCustomer } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { Fact } from "../invoices/fact.tsx";
import { ConfirmTyped } from "../shell/confirm-typed.tsx";
import { CopyText } from "../shell/copy-text.tsx";
import { useMay } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { CustomerForm } from "./customer-form.tsx";
import { customerName } from "./customer-name.ts";
import { InvoicesSection } from "./invoices-section.tsx";
import { TotalsSection } from "./totals-section.tsx";

export function CustomerPage() {
  const params = useParams({ from: "/frame/merchant/console/$merchantId/customers/$customerId" });
  const { merchantId, customerId } = params;
  const customer = useList("getCustomer", { merchantId, params: { customerId } });
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/console/${merchantId}/customers`} size="sm" mb="xs">
        All customers
      </Anchor>
      <Read query={customer}>{(data) => <TheCustomer customer={data} />}</Read>
    </Stack>
  );
}

function TheCustomer({ customer }: { readonly customer: LocatedCustomer }) {
  const maySeeInvoices = useMay("invoice:view");
  return (
    <>
      <PageHeader title={customerName(customer)} actions={<Actions customer={customer} />} />
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <DetailsSection customer={customer} />
          <TotalsSection customer={customer} />
        </SimpleGrid>
        {maySeeInvoices && <InvoicesSection customer={customer} />}
      </Stack>
    </>
  );
}

function DetailsSection({ customer }: { readonly customer: LocatedCustomer }) {
  const { email, name, address, phoneNumber, location, metadata } = customer;
  return (
    <Section title="Details">
      <Stack component="dl" m={0} gap="xs">
        {name !== null && <Fact name="Name">{name}</Fact>}
        {email !== null && (
          <Fact name="Email">
            <CopyText value={email} name="the email address" />
          </Fact>
        )}
        {phoneNumber !== null && <Fact name="Phone number">{phoneNumber}</Fact>}
        {address !== null && (
          <Fact name="Address">
            <span style={{ whiteSpace: "pre-line" }}>{address}</span>
          </Fact>
        )}
        {location !== null && (
          <Fact name="Last location">
            {location.city === null ? location.country : `${location.city}, ${location.country}`}
          </Fact>
        )}
        {Object.entries(metadata ?? {}).map(([key, value]) => (
          <Fact key={key} name={key}>
            {value}
          </Fact>
        ))}
        <Fact name="Customer since">
          <Time value={customer.createdAt} />
        </Fact>
        <Fact name="ID">
          <CopyText value={customer.id} name="the ID" />
        </Fact>
      </Stack>
    </Section>
  );
}

function Actions({ customer }: { readonly customer: LocatedCustomer }) {
  const { id: customerId, merchantId } = customer;
  const mayUpdate = useMay("customer:update");
  const mayErase = useMay("customer:delete");
  const navigate = useNavigate();
  const [isEditing, editing] = useDisclosure();
  const erase = useChange("deleteCustomer", {
    onSuccess: () => {
      showDone("Personal data erased.");
      void navigate({ to: "/console/$merchantId/customers", params: { merchantId } });
    },
  });
  return (
    <Group gap="xs">
      {mayUpdate && (
        <Button variant="default" onClick={editing.open}>
          Edit
        </Button>
      )}
      {mayErase && (
        <ConfirmTyped
          action="Erase"
          word={customer.email ?? customerName(customer)}
          isBusy={erase.isPending}
          consequence="Name, email, address, phone number, location and notes are permanently erased, here and on their invoices. The invoices themselves are kept for your books. A later invoice with the same email creates a new customer."
          onConfirmed={() => erase.mutate({ merchantId, params: { customerId } })}
        />
      )}
      <Modal opened={isEditing} onClose={editing.close} title="Edit customer" size="lg">
        <CustomerForm
          customer={customer}
          onSaved={() => {
            showDone("Customer saved.");
            editing.close();
          }}
        />
      </Modal>
    </Group>
  );
}
