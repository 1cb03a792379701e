// Invoices that need a decision, because payments were late or too low. They are resolved on their own page.
import { Anchor, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Attention } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { InvoiceState } from "../invoices/status.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

type Kind = Attention["data"][number];
type InvoiceKind = Extract<Kind, { type: "INVOICE_IN_REVIEW" | "INVOICE_UNDERPAID" }>;

const WHY = {
  INVOICE_IN_REVIEW: "Money arrived late, or could not be handled automatically.",
  INVOICE_UNDERPAID: "Too little was paid before the invoice expired.",
} as const;

const FILTERS = { INVOICE_IN_REVIEW: { needsReview: true }, INVOICE_UNDERPAID: { status: "UNDERPAID" } } as const;

export function WaitingInvoices() {
  const { id: merchantId } = useMerchant();
  const attention = useList("getAttention", { merchantId });
  const kinds = (attention.data?.data ?? []).filter(isOfInvoices);
  if (kinds.length === 0) return null;
  return (
    <Section title="Invoices that need a decision">
      {kinds.map((kind) => (
        <WaitingKind key={kind.type} kind={kind} merchantId={merchantId} />
      ))}
    </Section>
  );
}

function isOfInvoices(kind: Kind): kind is InvoiceKind {
  return kind.type === "INVOICE_IN_REVIEW" || kind.type === "INVOICE_UNDERPAID";
}

function WaitingKind({ kind, merchantId }: { readonly kind: InvoiceKind; readonly merchantId: string }) {
  const { type, newest, count, isMore } = kind;
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {WHY[type]}
      </Text>
      {newest.map((invoice) => (
        <Group key={invoice.invoiceId} justify="space-between" gap="xs">
          <Anchor
            component={Link}
            to={`/console/${merchantId}/invoices/${invoice.invoiceId}`}
            fw={600}
            size="sm"
            style={{ overflowWrap: "anywhere" }}
          >
            {invoice.name}
          </Anchor>
          <Group gap="xs">
            <InvoiceState invoice={{ ...invoice, needsReview: type === "INVOICE_IN_REVIEW" }} />
            <Text size="sm" c="dimmed" component="div">
              <Time value={invoice.since} />
            </Text>
          </Group>
        </Group>
      ))}
      {(isMore || count > newest.length) && (
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link {...props} to="/console/$merchantId/invoices" params={{ merchantId }} search={FILTERS[type]} />
          )}
        >
          See all {isMore ? `${count}+` : count}
        </Anchor>
      )}
    </Stack>
  );
}
