import { Button, Group, Progress, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { dayIn } from "../home/spans.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { useFormats, useZoneName } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import type { ExportId } from "./download.ts";
import type { Format } from "./records.ts";
import { monthsUntil } from "./search.ts";
import { useDownload } from "./use-download.ts";

const FORMATS = [
  { value: "csv", label: "CSV" },
  { value: "jsonl", label: "JSON lines" },
];
const MONTHS = 36;

interface Props {
  readonly from: string;
  readonly to: string;
}

/** Export files for the days that the page shows, and for a whole month. */
export function ExportSection({ from, to }: Props) {
  const { id: merchantId } = useMerchant();
  const timezone = useZoneName();
  const maySeePayments = useMay("payment:view");
  const months = monthsUntil(dayIn(timezone, Date.now()), MONTHS);
  const [format, setFormat] = useState<Format>("csv");
  const [month, setMonth] = useState(months[0] ?? "");
  const { records, start, cancel } = useDownload();
  const isRunning = records !== undefined;

  const get = (name: "Payments" | "Invoices" | "Statement", query: Readonly<Record<string, string>>, of: string) => {
    const operation: ExportId = format === "csv" ? `export${name}Csv` : `export${name}`;
    const fileName = `${name.toLowerCase()}-${of}.${format}`;
    start({ operation, format, merchantId, query: { ...query, timezone }, fileName });
  };
  const range = `${from}-to-${to}`;
  return (
    <Section
      title="Export"
      about="Every payment with its value and rate when received, its transaction and its customer, for spreadsheets or programs."
      actions={
        <SegmentedControl
          aria-label="Format"
          data={FORMATS}
          value={format}
          transitionDuration={0}
          onChange={(value) => setFormat(value === "jsonl" ? "jsonl" : "csv")}
        />
      }
    >
      <Group gap="sm">
        {maySeePayments && (
          <Button variant="default" disabled={isRunning} onClick={() => get("Payments", { from, to }, range)}>
            Export payments
          </Button>
        )}
        <Button variant="default" disabled={isRunning} onClick={() => get("Invoices", { from, to }, range)}>
          Export invoices
        </Button>
      </Group>
      {maySeePayments && (
        <Group gap="sm" align="flex-end">
          <MonthChoice months={months} month={month} onChoose={setMonth} />
          <Button variant="default" disabled={isRunning} onClick={() => get("Statement", { month }, month)}>
            Export statement
          </Button>
        </Group>
      )}
      {isRunning && <Running records={records} onCancel={cancel} />}
    </Section>
  );
}

interface MonthChoiceProps {
  readonly months: readonly string[];
  readonly month: string;
  readonly onChoose: (month: string) => void;
}

function MonthChoice({ months, month, onChoose }: MonthChoiceProps) {
  const format = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });
  return (
    <Select
      label="Monthly statement"
      data={months.map((value) => ({ value, label: format.format(new Date(`${value}-01`)) }))}
      value={month}
      onChange={(value) => value !== null && onChoose(value)}
      allowDeselect={false}
      w={200}
    />
  );
}

/** A running export. It shows no percentage, because the total is not known before the last record arrives. */
function Running({ records, onCancel }: { readonly records: number; readonly onCancel: () => void }) {
  const { count } = useFormats();
  return (
    <Stack gap={6}>
      <Progress value={100} striped animated aria-label="Export" />
      <Group justify="space-between">
        <Text size="sm" role="status" className="numbers">
          {records === 0 ? "Reading…" : `${count(records)} rows so far`}
        </Text>
        <Button size="compact-sm" variant="subtle" onClick={onCancel}>
          Stop
        </Button>
      </Group>
    </Stack>
  );
}
