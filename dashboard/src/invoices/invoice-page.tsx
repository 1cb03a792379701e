import { Alert, Anchor, Button, CopyButton, Group, SimpleGrid, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, useParams } from "@tanstack/react-router";
import type { Invoice } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { hasTestChain } from "../shell/deployment.ts";
import { Icon } from "../shell/icons.tsx";
import { useMay } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { PayAsCustomer } from "../test-chain/pay-as-customer.tsx";
import { EditInvoice } from "./edit-invoice.tsx";
import { EventsSection } from "./events-section.tsx";
import { MethodsSection } from "./methods-section.tsx";
import { PaymentsSection } from "./payments-section.tsx";
import { ResolveInvoice } from "./resolve-invoice.tsx";
import { isCancellable } from "./states.ts";
import { InvoiceState } from "./status.tsx";
import { SummarySection } from "./summary-section.tsx";
import { TimelineSection } from "./timeline-section.tsx";

/** On fast networks confirmations arrive every few seconds, and there are no events for them, so they are polled while they are counted. */
const CONFIRMATIONS_MS = 5_000;

export function InvoicePage() {
  const params = useParams({ from: "/frame/merchant/console/$merchantId/invoices/$invoiceId" });
  const { merchantId, invoiceId } = params;
  const invoice = useList("getInvoice", { merchantId, params: { invoiceId } }, (read) =>
    isCounting(read) ? CONFIRMATIONS_MS : false,
  );
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/console/${merchantId}/invoices`} size="sm" mb="xs">
        All invoices
      </Anchor>
      <Read query={invoice}>{(data) => <TheInvoice invoice={data} />}</Read>
    </Stack>
  );
}

function isCounting(invoice: Invoice | undefined): boolean {
  return invoice?.payments.some(({ status }) => status === "DETECTED") === true;
}

function TheInvoice({ invoice }: { readonly invoice: Invoice }) {
  const maySeeEvents = useMay("webhook:view");
  return (
    <>
      <PageHeader
        title={invoice.name}
        mark={<InvoiceState invoice={invoice} />}
        subtitle={invoice.description ?? undefined}
        actions={<Actions invoice={invoice} />}
      />
      <Stack gap="lg">
        {invoice.warnings.includes("NO_ENABLED_WALLET") && (
          <Alert color="orange" title="This invoice cannot be paid yet">
            None of your wallets can be used for this invoice. Add or enable one, and the payment page will offer it.
          </Alert>
        )}
        {invoice.warnings.includes("RESTORED") && (
          <Alert color="orange" title="Recovered after a restore">
            The operator restored the database to an earlier point in time. The address and amount are those shown to
            your customer; later changes to the invoice were lost. Compare it with your own records, then dismiss the
            review.
          </Alert>
        )}
        {hasTestChain && <PayAsCustomer invoice={invoice} />}
        <ResolveInvoice invoice={invoice} />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <SummarySection invoice={invoice} />
          <TimelineSection invoice={invoice} />
        </SimpleGrid>
        <PaymentsSection invoice={invoice} />
        <MethodsSection invoice={invoice} />
        {maySeeEvents && <EventsSection invoice={invoice} />}
      </Stack>
    </>
  );
}

function Actions({ invoice }: { readonly invoice: Invoice }) {
  const mayCancel = useMay("invoice:cancel");
  const mayUpdate = useMay("invoice:update");
  const [isEditing, editing] = useDisclosure();
  const cancel = useChange("cancelInvoice", { onSuccess: () => showDone("Invoice cancelled.") });
  const { merchantId, id, status, checkoutUrl } = invoice;
  return (
    <Group gap="xs">
      <CopyButton value={checkoutUrl} timeout={2_000}>
        {({ copied, copy }) => (
          <Button onClick={copy} leftSection={<Icon name={copied ? "check" : "copy"} size={16} />}>
            {copied ? "Copied" : "Copy link"}
          </Button>
        )}
      </CopyButton>
      <Button component="a" href={checkoutUrl} target="_blank" rel="noreferrer" variant="default">
        Open page
      </Button>
      {mayUpdate && status === "AWAITING_PAYMENT" && (
        <Button variant="default" onClick={editing.open}>
          Edit
        </Button>
      )}
      <EditInvoice invoice={invoice} isOpen={isEditing} onClose={editing.close} />
      {mayCancel && isCancellable(invoice) && (
        <ConfirmButton
          action="Cancel invoice"
          isBusy={cancel.isPending}
          consequence="The payment page stops asking for payment. Payments already on their way are still detected, and will need your decision."
          onConfirmed={() => cancel.mutate({ merchantId, params: { invoiceId: id } })}
        />
      )}
    </Group>
  );
}
