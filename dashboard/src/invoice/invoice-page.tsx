import { Alert, Anchor, Button, CopyButton, Group, SimpleGrid, Stack } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import type { Invoice } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { InvoiceState } from "../invoices/status.tsx";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMay } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { EventsSection } from "./events-section.tsx";
import { MethodsSection } from "./methods-section.tsx";
import { PaymentsSection } from "./payments-section.tsx";
import { ResolveInvoice } from "./resolve-invoice.tsx";
import { SummarySection } from "./summary-section.tsx";
import { TimelineSection } from "./timeline-section.tsx";

/** Confirmations come every few seconds on quick networks. */
const READ_AGAIN_MS = 5_000;

export function InvoicePage() {
  const params = useParams({ from: "/frame/merchant/console/$merchantId/invoices/$invoiceId" });
  const { merchantId, invoiceId } = params;
  const invoice = useList("getInvoice", { merchantId, params: { invoiceId } }, READ_AGAIN_MS);
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/console/${merchantId}/invoices`} size="sm" mb="xs">
        All invoices
      </Anchor>
      <Read query={invoice}>{(data) => <TheInvoice invoice={data} />}</Read>
    </Stack>
  );
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
          <Alert color="orange" title="Nothing can be paid yet">
            No wallet is in use for this invoice. Register or enable one, and its page offers it.
          </Alert>
        )}
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
  const cancel = useChange("cancelInvoice", { onSuccess: () => showDone("The invoice was cancelled.") });
  const { merchantId, id, status, checkoutUrl } = invoice;
  return (
    <Group gap="xs">
      <CopyButton value={checkoutUrl} timeout={2_000}>
        {({ copied, copy }) => (
          <Button onClick={copy} leftSection={<Icon name={copied ? "check" : "copy"} size={16} />}>
            {copied ? "Copied" : "Copy its link"}
          </Button>
        )}
      </CopyButton>
      <Button component="a" href={checkoutUrl} target="_blank" rel="noreferrer" variant="default">
        Open its page
      </Button>
      {mayCancel && status === "AWAITING_PAYMENT" && (
        <ConfirmButton
          action="Cancel the invoice"
          isBusy={cancel.isPending}
          consequence="Its page stops asking for money. A payment that is on its way is still noticed, and then needs your decision."
          onConfirmed={() => cancel.mutate({ merchantId, params: { invoiceId: id } })}
        />
      )}
    </Group>
  );
}
