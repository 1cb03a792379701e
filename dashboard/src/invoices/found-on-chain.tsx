// Search results for a transaction or an address that the list does not show: how it relates to an invoice, and payments without an invoice.
import { Anchor, Card, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { reading } from "../api/queries.ts";
import { coinName } from "../shell/coin-name.ts";
import { useMerchant } from "../shell/merchants.ts";
import { useFormats } from "../shell/reader.tsx";
import { FOUND_BY } from "./found-by.ts";
import { InvoiceState } from "./status.tsx";

/** A hash or an address: long, and without the characters of names and emails. */
const ON_CHAIN = /^[0-9a-zA-Z:]{20,}$/;

/** The invoices and payments that belong to a transaction or an address; undefined if there are none. */
export function useFoundOnChain(text: string) {
  const { id: merchantId } = useMerchant();
  const enabled = ON_CHAIN.test(text);
  const { data } = useQuery({ ...reading("search", { merchantId, query: { q: text } }), enabled });
  const invoices = (data?.invoices ?? []).flatMap((invoice) =>
    invoice.matchedBy === "TRANSACTION" || invoice.matchedBy === "ADDRESS"
      ? [{ ...invoice, why: FOUND_BY[invoice.matchedBy] }]
      : [],
  );
  const payments = (data?.payments ?? []).filter(({ invoiceId }) => invoiceId === null);
  return invoices.length + payments.length === 0 ? undefined : { invoices, payments };
}

type Found = NonNullable<ReturnType<typeof useFoundOnChain>>;

export function FoundOnChain({ found: { invoices, payments } }: { readonly found: Found }) {
  const { id: merchantId } = useMerchant();
  const { coins } = useFormats();
  return (
    <Card padding="md" component="section" aria-label="Found on chain">
      <Stack gap="xs">
        {invoices.map((invoice) => (
          <Group key={invoice.id} justify="space-between" gap="xs">
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              <Anchor component={Link} to={`/console/${merchantId}/invoices/${invoice.id}`} fw={600} inherit>
                {invoice.name}
              </Anchor>{" "}
              was found {invoice.why}.
            </Text>
            <InvoiceState invoice={{ ...invoice, isLate: false }} />
          </Group>
        ))}
        {payments.map((payment) => (
          <Text key={payment.id} size="sm">
            <Anchor component={Link} to={`/console/${merchantId}/payments/${payment.id}`} fw={600} inherit>
              {coins(payment.amount)} {coinName(payment.currency, payment.network)}
            </Anchor>{" "}
            is not credited to any invoice.
          </Text>
        ))}
      </Stack>
    </Card>
  );
}
