import { Button, Card, Checkbox, Group, Menu, Select, Stack, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDisclosure, useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Invoice } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { Icon } from "../shell/icons.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { COLUMN_IDS, type ColumnId, columnsOf, FIRST_COLUMNS } from "./columns.tsx";
import { NewInvoice } from "./new-invoice.tsx";
import type { InvoicesSearch } from "./search.ts";
import { INVOICE_STATES } from "./status.tsx";

const AT_ONCE = 25;
const READ_AGAIN_MS = 15_000;
const SEARCH_AFTER_MS = 300;
const LONGEST_SEARCH = 320;

export function InvoicesPage() {
  const merchant = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/invoices" });
  const mayCreate = useMay("invoice:create");
  const [isCreating, creating] = useDisclosure();
  const { needsReview, ...filters } = search;
  const query = { ...filters, limit: AT_ONCE, ...(needsReview === undefined ? {} : { needsReview }) };
  const invoices = useList("listInvoices", { merchantId: merchant.id, query }, READ_AGAIN_MS);
  return (
    <>
      <PageHeader
        title="Invoices"
        subtitle="What your customers have to pay, and what they paid."
        actions={
          mayCreate && (
            <Button leftSection={<Icon name="plus" />} onClick={creating.open}>
              New invoice
            </Button>
          )
        }
      />
      <Stack>
        <Filters search={search} />
        <Read query={invoices}>
          {({ data, nextCursor }) => (
            <>
              {data.length === 0 ? (
                <NoInvoices
                  isFiltered={Object.keys(search).length > 0}
                  mayCreate={mayCreate}
                  onCreate={creating.open}
                />
              ) : (
                <InvoiceRows invoices={data} isStale={invoices.isPlaceholderData} />
              )}
              <Pages search={search} nextCursor={nextCursor} />
            </>
          )}
        </Read>
      </Stack>
      <NewInvoice isOpen={isCreating} onClose={creating.close} />
    </>
  );
}

/** Changes filters in the address; a change begins at the first page. */
function useFilter() {
  const navigate = useNavigate({ from: "/console/$merchantId/invoices" });
  return (change: { readonly [K in keyof InvoicesSearch]: InvoicesSearch[K] | undefined }) =>
    navigate({ search: (last: InvoicesSearch) => ({ ...last, cursor: undefined, ...change }), replace: true });
}

const STATE_OPTIONS = Object.entries(INVOICE_STATES).map(([value, { name }]) => ({ value, label: name }));

function Filters({ search }: { readonly search: InvoicesSearch }) {
  const filter = useFilter();
  const [text, setText] = useState(search.search ?? "");
  const find = useDebouncedCallback(
    (words: string) => filter({ search: words === "" ? undefined : words }),
    SEARCH_AFTER_MS,
  );
  return (
    <Group gap="sm" role="search" aria-label="Filter the invoices">
      <TextInput
        aria-label="Search invoices"
        placeholder="Name, id, order number or email"
        leftSection={<Icon name="search" size={16} />}
        style={{ flex: "1 1 15rem" }}
        maxLength={LONGEST_SEARCH}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          find(currentTarget.value.trim());
        }}
      />
      <Select
        aria-label="State"
        placeholder="Any state"
        data={STATE_OPTIONS}
        value={search.status ?? null}
        onChange={(value) =>
          filter({ status: STATE_OPTIONS.some((each) => each.value === value) ? (value as never) : undefined })
        }
        clearable
        clearButtonProps={{ "aria-label": "Any state" }}
        w={190}
      />
      <Checkbox
        label="Needs review"
        checked={search.needsReview === true}
        onChange={({ currentTarget }) => filter({ needsReview: currentTarget.checked ? true : undefined })}
      />
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
  // In their own order, without those of an older version.
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

function InvoiceRows({ invoices, isStale }: { readonly invoices: readonly Invoice[]; readonly isStale: boolean }) {
  const isNarrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const style = { opacity: isStale ? 0.6 : 1 };
  if (isNarrow) {
    return (
      <Stack gap="xs" style={style}>
        {invoices.map((invoice) => (
          <InvoiceCard key={invoice.id} invoice={invoice} />
        ))}
      </Stack>
    );
  }
  return (
    <Card padding={0} style={style}>
      <InvoiceTable invoices={invoices} />
    </Card>
  );
}

function InvoiceTable({ invoices }: { readonly invoices: readonly Invoice[] }) {
  const [columns] = useColumns();
  const formats = useFormats();
  return (
    <Table.ScrollContainer minWidth={600} type="native">
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Invoice</Table.Th>
            {columns.map((id) => (
              <Table.Th key={id} ta={columnsOf[id].isNumeric ? "right" : "left"}>
                {columnsOf[id].name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {invoices.map((invoice) => (
            <Table.Tr key={invoice.id}>
              <Table.Td maw={280}>
                <InvoiceLink invoice={invoice} />
              </Table.Td>
              {columns.map((id) => (
                <Table.Td key={id} ta={columnsOf[id].isNumeric ? "right" : "left"} className="numbers">
                  {columnsOf[id].show(invoice, formats)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function InvoiceCard({ invoice }: { readonly invoice: Invoice }) {
  const formats = useFormats();
  return (
    <Card padding="md" className="row-card">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <InvoiceLink invoice={invoice} />
        <Text className="numbers" fw={600}>
          {columnsOf.amount.show(invoice, formats)}
        </Text>
      </Group>
      <Group justify="space-between" mt="xs" gap="xs">
        {columnsOf.state.show(invoice, formats)}
        <Text size="sm" c="dimmed" component="div">
          {columnsOf.created.show(invoice, formats)}
        </Text>
      </Group>
    </Card>
  );
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

interface NoInvoicesProps {
  readonly isFiltered: boolean;
  readonly mayCreate: boolean;
  readonly onCreate: () => void;
}

function NoInvoices({ isFiltered, mayCreate, onCreate }: NoInvoicesProps) {
  const navigate = useNavigate({ from: "/console/$merchantId/invoices" });
  return (
    <Card padding="xl">
      <Stack align="center" gap="sm" py="lg">
        <Text fw={650}>{isFiltered ? "No invoice matches" : "No invoice yet"}</Text>
        <Text c="dimmed" ta="center" maw={420}>
          {isFiltered
            ? "Search by the beginning of a name, or by an exact id, order number or email address."
            : "An invoice has a page where your customer chooses a coin and pays straight into your wallet."}
        </Text>
        {isFiltered && (
          <Button variant="default" onClick={() => navigate({ search: {} })}>
            Show all invoices
          </Button>
        )}
        {!isFiltered && mayCreate && <Button onClick={onCreate}>Create the first invoice</Button>}
      </Stack>
    </Card>
  );
}

interface PagesProps {
  readonly search: InvoicesSearch;
  readonly nextCursor: string | null;
}

function Pages({ search, nextCursor }: PagesProps) {
  const navigate = useNavigate({ from: "/console/$merchantId/invoices" });
  const { cursor } = search;
  if (cursor === undefined && nextCursor === null) return null;
  const go = (to: string | undefined) =>
    navigate({ search: { ...search, ...(to === undefined ? { cursor: undefined } : { cursor: to }) } });
  return (
    <Group component="nav" justify="flex-end" aria-label="Pages of the list">
      <Button variant="default" disabled={cursor === undefined} onClick={() => go(undefined)}>
        Newest
      </Button>
      <Button variant="default" disabled={nextCursor === null} onClick={() => go(nextCursor ?? undefined)}>
        Older
      </Button>
    </Group>
  );
}
