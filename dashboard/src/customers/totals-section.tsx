import { Stack } from "@mantine/core";
import type { Customer } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { Fact } from "../invoices/fact.tsx";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";

export function TotalsSection({ customer: { id, merchantId } }: { readonly customer: Customer }) {
  const { sum, count } = useFormats();
  const totals = useList("getCustomerResume", { merchantId, params: { customerId: id } });
  return (
    <Section title="Totals" about="Confirmed payments on paid invoices.">
      <Read query={totals}>
        {({ revenues, totalInvoices, paidInvoices }) => (
          <Stack component="dl" m={0} gap="xs">
            {revenues.map(({ currency, amount }) => (
              <Fact key={currency} name={`Paid in ${currency}`}>
                {sum(amount, currency)}
              </Fact>
            ))}
            {revenues.length === 0 && <Fact name="Paid">Nothing yet</Fact>}
            <Fact name="Invoices">{count(totalInvoices)}</Fact>
            <Fact name="Paid invoices">{count(paidInvoices)}</Fact>
          </Stack>
        )}
      </Read>
    </Section>
  );
}
