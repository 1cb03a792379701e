import { Button, Checkbox, Group, Select } from "@mantine/core";
import { endOfDay, startOfDay } from "../audit/days.ts";
import { DayRange } from "../shell/day-range.tsx";
import type { Address } from "../shell/list-page.tsx";
import { useZoneName } from "../shell/reader.tsx";
import { SearchField } from "../shell/search-field.tsx";
import { AmountRange } from "./amount-range.tsx";
import { CoinField } from "./coin-field.tsx";
import { ColumnChoice } from "./column-choice.tsx";
import { CURRENCIES } from "./currencies.ts";
import { CurrencyField } from "./currency-field.tsx";
import type { InvoicesSearch } from "./search.ts";
import { INVOICE_STATES, isInvoiceStatus } from "./states.ts";

export type InvoicesAddress = Address<InvoicesSearch>;

/** The filters as the API expects them. */
export function useFilters({ from, to, ...others }: Omit<InvoicesSearch, "cursor">) {
  const zone = useZoneName();
  return {
    ...others,
    ...(from === undefined ? {} : { createdFrom: startOfDay(from, zone).toISOString() }),
    ...(to === undefined ? {} : { createdTo: endOfDay(to, zone).toISOString() }),
  };
}

const STATE_OPTIONS = Object.entries(INVOICE_STATES).map(([value, { name }]) => ({ value, label: name }));

export function Filters({ address: { search, filter } }: { readonly address: InvoicesAddress }) {
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Filter invoices">
      <SearchField
        name="Search invoices"
        hint="Name, order number, customer, amount, transaction or address"
        asked={search.search}
        onSearch={(words) => filter({ search: words })}
      />
      <Select
        label="Status"
        placeholder="Any status"
        data={STATE_OPTIONS}
        value={search.status ?? null}
        onChange={(value) => filter({ status: isInvoiceStatus(value) ? value : undefined })}
        clearable
        clearButtonProps={{ "aria-label": "Any status" }}
        w={170}
      />
      <DayRange label="Created" from={search.from} to={search.to} onChange={({ from, to }) => filter({ from, to })} />
      <AmountRange from={search.amountFrom} to={search.amountTo} onChange={filter} />
      <CurrencyField
        placeholder="Any currency"
        value={search.currency ?? null}
        onChange={(currency) => filter({ currency: CURRENCIES.find((each) => each === currency) })}
        allowDeselect={false}
        clearable
        clearButtonProps={{ "aria-label": "Any currency" }}
        w={150}
      />
      <CoinField cryptocurrency={search.cryptocurrency} network={search.network} onChange={filter} />
      <Checkbox
        label="Needs review"
        mb={8}
        checked={search.needsReview === true}
        onChange={({ currentTarget }) => filter({ needsReview: currentTarget.checked ? true : undefined })}
      />
      {search.customerId !== undefined && (
        <Button variant="light" onClick={() => filter({ customerId: undefined })}>
          Clear customer filter
        </Button>
      )}
      <ColumnChoice />
    </Group>
  );
}
