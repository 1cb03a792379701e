import { Button, Group, Select } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useList } from "../api/queries.ts";
import { EmptyList } from "../shell/empty-list.tsx";
import { type Address, addressOf, ListPage } from "../shell/list-page.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { SearchField } from "../shell/search-field.tsx";
import { LookUpButton } from "./look-up.tsx";
import { useNetworks } from "./networks.ts";
import { PaymentRows } from "./payment-rows.tsx";
import type { PaymentsSearch } from "./search.ts";
import { isListedStatus, PAYMENT_STATES } from "./status.tsx";
import { WaitingInvoices } from "./waiting-invoices.tsx";

const AT_ONCE = 25;
const LONGEST_HASH = 66;

type PaymentsAddress = Address<PaymentsSearch>;

export function PaymentsPage() {
  const merchant = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/payments" });
  const address: PaymentsAddress = addressOf(search, useNavigate({ from: "/console/$merchantId/payments" }));
  const maySeeInvoices = useMay("invoice:view");
  const mayResolve = useMay("payment:resolve");
  const { status = "UNMATCHED", ...filters } = search;
  const isFirst = Object.keys(search).length === 0;
  const query = { ...filters, limit: AT_ONCE, ...(status === "ALL" ? {} : { status }) };
  const payments = useList("listPayments", { merchantId: merchant.id, query });
  return (
    <ListPage
      title="Payments to review"
      subtitle="Payments that could not be credited automatically."
      actions={mayResolve && <LookUpButton />}
      filters={
        <>
          {isFirst && maySeeInvoices && <WaitingInvoices />}
          <Filters address={address} />
        </>
      }
      query={payments}
      address={address}
      none={
        <EmptyList
          title="No payments to review"
          action={
            <Button variant="default" onClick={() => address.show({ status: "ALL" })}>
              Show all payments
            </Button>
          }
        >
          Almost all payments are credited automatically. A payment that fits no invoice, or several, appears here for
          you to decide.
        </EmptyList>
      }
      unmatched={{
        title: "No matching payments",
        all: "Show payments to review",
        about: "Search by a full transaction hash, or choose another status.",
      }}
    >
      {(rows, isStale) => <PaymentRows payments={rows} isStale={isStale} />}
    </ListPage>
  );
}

const STATE_OPTIONS = [
  ...Object.entries(PAYMENT_STATES).map(([value, { name }]) => ({ value, label: name })),
  { value: "ALL", label: "All payments" },
];

function Filters({ address: { search, filter } }: { readonly address: PaymentsAddress }) {
  const networks = useNetworks();
  return (
    <Group gap="sm" role="search" aria-label="Filter payments">
      <SearchField
        name="Transaction hash"
        hint="Transaction hash"
        asked={search.txHash}
        longest={LONGEST_HASH}
        onSearch={(hash) => filter(hash === undefined ? { txHash: hash } : { txHash: hash, status: "ALL" })}
      />
      <Select
        aria-label="Status"
        data={STATE_OPTIONS}
        value={search.status ?? "UNMATCHED"}
        onChange={(value) => filter({ status: isListedStatus(value) && value !== "UNMATCHED" ? value : undefined })}
        allowDeselect={false}
        w={170}
      />
      {networks.length > 1 && (
        <Select
          aria-label="Network"
          placeholder="Any network"
          data={networks}
          value={search.network ?? null}
          onChange={(value) => filter({ network: value ?? undefined })}
          clearable
          clearButtonProps={{ "aria-label": "Any network" }}
          w={160}
        />
      )}
    </Group>
  );
}
