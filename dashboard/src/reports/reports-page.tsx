import { Alert, Group, SegmentedControl, Stack } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useList } from "../api/queries.ts";
import { DayRange } from "../shell/day-range.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { useZoneName } from "../shell/reader.tsx";
import { ExportSection } from "./export-section.tsx";
import { PERIODS, type ReportsSearch, rangeError, rangeOf } from "./search.ts";
import { CoinsSection, PeriodsSection, ReceivedSection } from "./totals-sections.tsx";

const KINDS = [
  { value: "day", label: "Days" },
  { value: "week", label: "Weeks" },
  { value: "month", label: "Months" },
];

export function ReportsPage() {
  const timezone = useZoneName();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/reports" });
  const range = rangeOf(search, timezone, Date.now());
  const problem = rangeError(range);
  return (
    <>
      <PageHeader
        title="Reports"
        subtitle="What you received, valued when each payment arrived, and files for your bookkeeping."
      />
      <Stack gap="lg">
        <RangeChoice range={range} isRefused={problem !== undefined} />
        {problem === undefined ? (
          <Totals range={range} timezone={timezone} />
        ) : (
          <Alert color="red" title="Choose other dates" role="alert">
            {problem}
          </Alert>
        )}
        {range.from <= range.to && <ExportSection from={range.from} to={range.to} />}
      </Stack>
    </>
  );
}

interface Range {
  readonly range: Required<ReportsSearch>;
}

function Totals({ range, timezone }: Range & { readonly timezone: string }) {
  const { id: merchantId } = useMerchant();
  const totals = useList("getTotals", { merchantId, query: { ...range, timezone } });
  return (
    <Read query={totals}>
      {(read) => (
        <Stack gap="lg" aria-busy={totals.isPlaceholderData}>
          <ReceivedSection totals={read} />
          <PeriodsSection totals={read} />
          <CoinsSection totals={read} />
        </Stack>
      )}
    </Read>
  );
}

function RangeChoice({ range, isRefused }: Range & { readonly isRefused: boolean }) {
  const navigate = useNavigate({ from: "/console/$merchantId/reports" });
  const change = (part: ReportsSearch) =>
    navigate({ search: (last: ReportsSearch) => ({ ...last, ...part }), replace: true });
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Report dates">
      <DayRange
        label="Days"
        isRequired
        from={range.from}
        to={range.to}
        error={isRefused}
        onChange={(days) => void change(days)}
      />
      <SegmentedControl
        aria-label="Group by"
        data={KINDS}
        value={range.by}
        transitionDuration={0}
        onChange={(value) => {
          const by = PERIODS.find((each) => each === value);
          if (by !== undefined) void change({ by });
        }}
      />
    </Group>
  );
}
