import { Button, Group, Select, Stack } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useList } from "../api/queries.ts";
import { EmptyList } from "../shell/empty-list.tsx";
import { ListPages } from "../shell/list-pages.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { SearchField } from "../shell/search-field.tsx";
import { LookUpButton } from "./look-up.tsx";
import { useNetworks } from "./networks.ts";
import { PaymentRows } from "./payment-rows.tsx";
import type { PaymentsSearch } from "./search.ts";
import { PAYMENT_STATES } from "./status.tsx";
import { WaitingInvoices } from "./waiting-invoices.tsx";

const AT_ONCE = 25;
const LONGEST_HASH = 66;

export function PaymentsPage() {
  const merchant = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/payments" });
  const navigate = useNavigate({ from: "/console/$merchantId/payments" });
  const maySeeInvoices = useMay("invoice:view");
  const mayResolve = useMay("payment:resolve");
  const { status = "UNMATCHED", ...filters } = search;
  const isFirst = Object.keys(search).length === 0;
  const query = { ...filters, limit: AT_ONCE, ...(status === "ALL" ? {} : { status }) };
  const payments = useList("listPayments", { merchantId: merchant.id, query });
  return (
    <>
      <PageHeader
        title="Payments to review"
        subtitle="What no rule could credit waits here for a person."
        actions={mayResolve && <LookUpButton />}
      />
      <Stack>
        {isFirst && maySeeInvoices && <WaitingInvoices />}
        <Filters search={search} />
        <Read query={payments}>
          {({ data, nextCursor }) => (
            <>
              {data.length === 0 ? (
                <NoPayments isFirst={isFirst} />
              ) : (
                <PaymentRows payments={data} isStale={payments.isPlaceholderData} />
              )}
              <ListPages
                cursor={search.cursor}
                nextCursor={nextCursor}
                onGo={(cursor) => navigate({ search: { ...search, cursor } as PaymentsSearch })}
              />
            </>
          )}
        </Read>
      </Stack>
    </>
  );
}

const STATE_OPTIONS = [
  ...Object.entries(PAYMENT_STATES).map(([value, { name }]) => ({ value, label: name })),
  { value: "ALL", label: "All payments" },
];

function Filters({ search }: { readonly search: PaymentsSearch }) {
  const navigate = useNavigate({ from: "/console/$merchantId/payments" });
  const networks = useNetworks();
  // A change begins at the first page.
  const filter = (change: { readonly [K in keyof PaymentsSearch]: PaymentsSearch[K] | undefined }) =>
    navigate({
      search: (last: PaymentsSearch) => ({ ...last, cursor: undefined, ...change }) as PaymentsSearch,
      replace: true,
    });
  return (
    <Group gap="sm" role="search" aria-label="Filter the payments">
      <SearchField
        name="Transaction hash"
        hint="Transaction hash"
        asked={search.txHash}
        longest={LONGEST_HASH}
        onSearch={(hash) => filter(hash === undefined ? { txHash: hash } : { txHash: hash, status: "ALL" })}
      />
      <Select
        aria-label="State"
        data={STATE_OPTIONS}
        value={search.status ?? "UNMATCHED"}
        onChange={(value) => filter({ status: value === "UNMATCHED" ? undefined : (value as never) })}
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

function NoPayments({ isFirst }: { readonly isFirst: boolean }) {
  const navigate = useNavigate({ from: "/console/$merchantId/payments" });
  return (
    <EmptyList
      title={isFirst ? "No payment waits for you" : "No payment matches"}
      action={
        <Button variant="default" onClick={() => navigate({ search: isFirst ? { status: "ALL" } : {} })}>
          {isFirst ? "Show all payments" : "Show what waits"}
        </Button>
      }
    >
      {isFirst
        ? "Almost every payment is credited by the rules. One that fits no invoice, or several, comes here, and you decide which was meant."
        : "Search by a whole transaction hash, or choose another state."}
    </EmptyList>
  );
}
