// Assigns the payment to any other invoice of the merchant: the customer may name an order that no rule suggested.
import { Button, Card, Select, Stack, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import type { Invoice, PaymentDetails } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { useFormats } from "../shell/reader.tsx";
import type { Decision } from "./decision.tsx";

const SEARCH_AFTER_MS = 300;
const SHOWN = 8;

interface Props {
  readonly payment: PaymentDetails;
  readonly onChosen: (decision: Decision) => void;
}

export function OtherInvoiceCard({ payment, onChosen }: Props) {
  const { money } = useFormats();
  const [text, setText] = useState("");
  const [search] = useDebouncedValue(text.trim(), SEARCH_AFTER_MS);
  const [chosen, choose] = useState<Invoice>();
  const { merchantId } = payment;
  const nameOf = ({ name, rawAmount, currency }: Invoice) => `${name}, ${money(rawAmount, currency)}`;
  // If the field holds the chosen item, there is no search.
  const isSearch = search !== "" && (chosen === undefined || search !== nameOf(chosen));
  const { data } = useList("listInvoices", { merchantId, query: { limit: SHOWN, ...(isSearch ? { search } : {}) } });
  const found = data?.data ?? [];
  return (
    <Card component="section" aria-labelledby="other-invoice" padding="md">
      <Stack gap="sm" h="100%">
        <Title order={2} id="other-invoice">
          Another invoice
        </Title>
        <Text size="sm">Ask the customer which order the payment was for.</Text>
        <Select
          label="Invoice"
          placeholder="Name, ID, order number or email"
          searchable
          data={found.map((invoice) => ({ value: invoice.id, label: nameOf(invoice) }))}
          filter={({ options }) => options}
          value={chosen?.id ?? null}
          searchValue={text}
          onSearchChange={setText}
          onChange={(id) => choose(found.find((invoice) => invoice.id === id))}
          nothingFoundMessage="No matching invoices"
        />
        <Button
          mt="auto"
          variant="light"
          disabled={chosen === undefined}
          onClick={() => chosen !== undefined && onChosen({ action: "ASSIGN", invoice: chosen })}
        >
          Assign to selected invoice
        </Button>
      </Stack>
    </Card>
  );
}
