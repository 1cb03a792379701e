import { Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { call } from "../api/call.ts";
import type { Invoice } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { EmptyList } from "../shell/empty-list.tsx";
import { ListExportButton } from "../shell/list-export-button.tsx";
import { addressOf, ListPage, NewButton } from "../shell/list-page.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { useFormats } from "../shell/reader.tsx";
import { type Column, Rows } from "../shell/rows.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { useColumns } from "./column-choice.tsx";
import { columnsOf } from "./columns.tsx";
import { Filters, type InvoicesAddress, useFilters } from "./filters.tsx";
import { FoundOnChain, useFoundOnChain } from "./found-on-chain.tsx";
import { INVOICE_LINE } from "./invoice-line.ts";
import { InvoiceDialogs, InvoiceMenu, type Opened } from "./invoice-menu.tsx";
import { NewInvoice } from "./new-invoice.tsx";

const AT_ONCE = 25;

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
            title="No invoices yet"
            action={mayCreate && <Button onClick={creating.open}>Create your first invoice</Button>}
          >
            Every invoice has a page where your customer chooses a coin and pays straight into your wallet.
          </EmptyList>
        }
        unmatched={{ title: "No matching invoices", all: "Show all invoices", about: SEARCHABLE }}
        isFoundElsewhere={found !== undefined}
      >
        {(rows, isStale) => <InvoiceRows invoices={rows} isStale={isStale} />}
      </ListPage>
      <NewInvoice isOpen={isCreating} onClose={creating.close} />
    </>
  );
}

const SEARCHABLE =
  "Search by words in the name, part of the order number, the customer's name or email, amount, transaction or address. Upper and lower case are treated the same.";

const NONE: ReadonlySet<string> = new Set();

function InvoiceRows({ invoices, isStale }: { readonly invoices: readonly Invoice[]; readonly isStale: boolean }) {
  const [chosen] = useColumns();
  const formats = useFormats();
  const [opened, open] = useState<Opened>();
  const [ids, choose] = useState<ReadonlySet<string>>(NONE);
  // Only shown invoices are selected: an invoice that leaves the page and comes back is no longer selected.
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

/** The members of `ids` whose invoices are shown; returns the same set if all of them are. */
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
