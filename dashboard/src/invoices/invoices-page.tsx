import { Button, Checkbox, Group, Menu, Select, Text } from "@mantine/core";
import { useDisclosure, useLocalStorage } from "@mantine/hooks";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { call } from "../api/call.ts";
import type { Invoice } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { endOfDay, startOfDay } from "../audit/days.ts";
import { DayRange } from "../shell/day-range.tsx";
import { EmptyList } from "../shell/empty-list.tsx";
import { Icon } from "../shell/icons.tsx";
import { ListExportButton } from "../shell/list-export-button.tsx";
import { type Address, addressOf, ListPage, NewButton } from "../shell/list-page.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { useFormats, useZoneName } from "../shell/reader.tsx";
import { type Column, Rows } from "../shell/rows.tsx";
import { SearchField } from "../shell/search-field.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { COLUMN_IDS, type ColumnId, columnsOf, FIRST_COLUMNS } from "./columns.tsx";
import { CURRENCIES } from "./currencies.ts";
import { CurrencyField } from "./currency-field.tsx";
import { FoundOnChain, useFoundOnChain } from "./found-on-chain.tsx";
import { INVOICE_LINE } from "./invoice-line.ts";
import { InvoiceDialogs, InvoiceMenu, type Opened } from "./invoice-menu.tsx";
import { NewInvoice } from "./new-invoice.tsx";
import type { InvoicesSearch } from "./search.ts";
import { INVOICE_STATES, isInvoiceStatus } from "./states.ts";

const AT_ONCE = 25;

type InvoicesAddress = Address<InvoicesSearch>;

export function InvoicesPage() {
  const merchant = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/invoices" });
  const mayCreate = useMay("invoice:create");
  const address: InvoicesAddress = addressOf(search, useNavigate({ from: "/console/$merchantId/invoices" }));
  const found = useFoundOnChain(search.search ?? "");
  const [isCreating, creating] = useDisclosure();
  const { cursor, ...filters } = search;
  const query = useFilters(filters);
  const invoices = useList("listInvoices", { merchantId: merchant.id, query: { ...query, cursor, limit: AT_ONCE } });
  return (
    <>
      <ListPage
        title="Invoices"
        subtitle="What your customers owe you, and what they have paid."
        actions={
          <>
            <ListExportButton
              read={(place, signal) =>
                call("listInvoices", { merchantId: merchant.id, query: { ...query, ...place } }, { signal })
              }
              line={INVOICE_LINE}
              fileName="invoices"
              noun={["invoice", "invoices"]}
            />
            {mayCreate && <NewButton onClick={creating.open}>New invoice</NewButton>}
          </>
        }
        filters={
          <>
            <Filters address={address} />
            {found !== undefined && <FoundOnChain found={found} />}
          </>
        }
        query={invoices}
        address={address}
        none={
          <EmptyList
            title="No invoice yet"
            action={mayCreate && <Button onClick={creating.open}>Create the first invoice</Button>}
          >
            Every invoice has a page where your customer chooses a coin and pays straight into your wallet.
          </EmptyList>
        }
        unmatched={{ title: "No invoice matches", all: "Show all invoices", about: SEARCHABLE }}
        isFoundElsewhere={found !== undefined}
      >
        {(rows, isStale) => <InvoiceRows invoices={rows} isStale={isStale} />}
      </ListPage>
      <NewInvoice isOpen={isCreating} onClose={creating.close} />
    </>
  );
}

const SEARCHABLE =
  "Search for words of a name, part of an order number, a customer's name or email, an amount, a transaction or an address. Upper and lower case are the same.";

/** As the API takes them. */
function useFilters({ from, to, ...others }: Omit<InvoicesSearch, "cursor">) {
  const zone = useZoneName();
  return {
    ...others,
    ...(from === undefined ? {} : { createdFrom: startOfDay(from, zone).toISOString() }),
    ...(to === undefined ? {} : { createdTo: endOfDay(to, zone).toISOString() }),
  };
}

const STATE_OPTIONS = Object.entries(INVOICE_STATES).map(([value, { name }]) => ({ value, label: name }));

function Filters({ address: { search, filter } }: { readonly address: InvoicesAddress }) {
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Filter the invoices">
      <SearchField
        name="Search invoices"
        hint="Name, order number, customer, amount, transaction or address"
        asked={search.search}
        onSearch={(words) => filter({ search: words })}
      />
      <Select
        label="State"
        placeholder="Any state"
        data={STATE_OPTIONS}
        value={search.status ?? null}
        onChange={(value) => filter({ status: isInvoiceStatus(value) ? value : undefined })}
        clearable
        clearButtonProps={{ "aria-label": "Any state" }}
        w={170}
      />
      <DayRange label="Created" from={search.from} to={search.to} onChange={({ from, to }) => filter({ from, to })} />
      <CurrencyField
        placeholder="Any currency"
        value={search.currency ?? null}
        onChange={(currency) => filter({ currency: CURRENCIES.find((each) => each === currency) })}
        allowDeselect={false}
        clearable
        clearButtonProps={{ "aria-label": "Any currency" }}
        w={150}
      />
      <Checkbox
        label="Needs review"
        mb={8}
        checked={search.needsReview === true}
        onChange={({ currentTarget }) => filter({ needsReview: currentTarget.checked ? true : undefined })}
      />
      {search.customerId !== undefined && (
        <Button variant="light" onClick={() => filter({ customerId: undefined })}>
          One customer: show all
        </Button>
      )}
      <ColumnChoice />
    </Group>
  );
}

function useColumns() {
  const [chosen, choose] = useLocalStorage<readonly ColumnId[]>({
    key: "edgetill-invoice-columns",
    defaultValue: FIRST_COLUMNS,
    getInitialValueInEffect: false,
  });
  // In their own order, without an older version's columns.
  return [COLUMN_IDS.filter((id) => chosen.includes(id)), choose] as const;
}

function ColumnChoice() {
  const [chosen, choose] = useColumns();
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <Button variant="default" visibleFrom="sm" rightSection={<Icon name="chevron" size={14} />}>
          Columns
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {COLUMN_IDS.map((id) => {
          const isShown = chosen.includes(id);
          return (
            <Menu.Item
              key={id}
              role="menuitemcheckbox"
              aria-checked={isShown}
              leftSection={<span style={{ visibility: isShown ? "visible" : "hidden" }}>✓</span>}
              onClick={() => choose(isShown ? chosen.filter((each) => each !== id) : [...chosen, id])}
            >
              {columnsOf[id].name}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

const NONE: ReadonlySet<string> = new Set();

function InvoiceRows({ invoices, isStale }: { readonly invoices: readonly Invoice[]; readonly isStale: boolean }) {
  const [chosen] = useColumns();
  const formats = useFormats();
  const [opened, open] = useState<Opened>();
  const [ids, choose] = useState<ReadonlySet<string>>(NONE);
  // What is chosen is what can be seen to be: an invoice that leaves the page, and comes back later, is not chosen still.
  useEffect(() => choose((before) => shownOf(before, invoices)), [invoices]);
  const menuOf = (invoice: Invoice) => <InvoiceMenu invoice={invoice} onOpen={open} />;
  const columns: readonly Column<Invoice>[] = [
    { name: "Invoice", maxWidth: 200, show: (invoice) => <InvoiceLink invoice={invoice} /> },
    ...chosen.map((id) => ({
      ...columnsOf[id],
      show: (invoice: Invoice) => <div style={{ whiteSpace: "nowrap" }}>{columnsOf[id].show(invoice, formats)}</div>,
    })),
    { name: "Actions", isAction: true, show: menuOf },
  ];
  return (
    <>
      <BulkActions invoices={invoices.filter(({ id }) => ids.has(id))} onClear={() => choose(NONE)} />
      <Rows
        rows={invoices}
        selection={{ ids, nameOf: ({ name }) => name, onChange: choose }}
        columns={columns}
        isStale={isStale}
        card={(invoice) => (
          <>
            <Group justify="space-between" wrap="nowrap" align="flex-start">
              <InvoiceLink invoice={invoice} />
              <Group gap={4} wrap="nowrap" style={{ flex: "none" }}>
                <Text className="numbers" fw={600}>
                  {columnsOf.amount.show(invoice, formats)}
                </Text>
                {menuOf(invoice)}
              </Group>
            </Group>
            <Group justify="space-between" mt="xs" gap="xs">
              {columnsOf.state.show(invoice, formats)}
              <Text size="sm" c="dimmed" component="div">
                {columnsOf.created.show(invoice, formats)}
              </Text>
            </Group>
          </>
        )}
      />
      <InvoiceDialogs opened={opened} onClose={() => open(undefined)} />
    </>
  );
}

/** The same set if all are shown. */
function shownOf(ids: ReadonlySet<string>, invoices: readonly Invoice[]): ReadonlySet<string> {
  const shown = invoices.flatMap(({ id }) => (ids.has(id) ? [id] : []));
  return shown.length === ids.size ? ids : new Set(shown);
}

function InvoiceLink({ invoice }: { readonly invoice: Invoice }) {
  return (
    <Link
      className="row-link"
      to="/console/$merchantId/invoices/$invoiceId"
      params={{ merchantId: invoice.merchantId, invoiceId: invoice.id }}
    >
      <Text span size="sm" fw={600} truncate display="block">
        {invoice.name}
      </Text>
    </Link>
  );
}
