import { Anchor, Group, Stack, Text } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Customer, Invoice } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { isOpen } from "../invoices/columns.tsx";
import { InvoiceState } from "../invoices/status.tsx";
import { List } from "../shell/list.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

const AT_ONCE = 10;

export function InvoicesSection({ customer: { id: customerId, merchantId } }: { readonly customer: Customer }) {
  const { cursor } = useSearch({ from: "/frame/merchant/console/$merchantId/customers/$customerId" });
  const navigate = useNavigate({ from: "/console/$merchantId/customers/$customerId" });
  const invoices = useList("listInvoices", { merchantId, query: { customerId, limit: AT_ONCE, cursor } });
  return (
    <Section
      title="Invoices"
      actions={
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link to="/console/$merchantId/invoices" params={{ merchantId }} search={{ customerId }} {...props} />
          )}
        >
          View in invoice list
        </Anchor>
      }
    >
      <List
        query={invoices}
        cursor={cursor}
        onGo={(to) => navigate({ search: { cursor: to } })}
        empty={<Text c="dimmed">No invoices yet.</Text>}
      >
        {(rows, isStale) => (
          <Stack gap="sm" aria-busy={isStale}>
            {rows.map((invoice) => (
              <InvoiceRow key={invoice.id} invoice={invoice} />
            ))}
          </Stack>
        )}
      </List>
    </Section>
  );
}

function InvoiceRow({ invoice }: { readonly invoice: Invoice }) {
  const { money } = useFormats();
  const { id, merchantId, name, rawAmount, currency, createdAt } = invoice;
  return (
    <Group justify="space-between" gap="xs">
      <Stack gap={2} miw={0} style={{ flex: "1 1 14rem" }}>
        <Anchor component={Link} to={`/console/${merchantId}/invoices/${id}`} size="sm" fw={600} truncate>
          {name}
        </Anchor>
        <Text size="xs" c="dimmed" component="div">
          <Time value={createdAt} />
        </Text>
      </Stack>
      <Group justify="space-between" gap="xs" style={{ flex: "1 1 14rem" }}>
        <InvoiceState invoice={invoice} />
        <Text size="sm" className="numbers" fw={600}>
          {isOpen(rawAmount) ? "Any amount" : money(rawAmount, currency)}
        </Text>
      </Group>
    </Group>
  );
}
