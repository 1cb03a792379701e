import "@mantine/charts/styles.css";
import { AreaChart } from "@mantine/charts";
import { Paper, Text } from "@mantine/core";
import type { ReportTotals } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { receivedIn } from "./sums.ts";

interface Props {
  readonly now: ReportTotals;
  readonly before: ReportTotals;
  readonly currency: string;
  readonly height: number;
}

const SERIES = [
  { name: "before", label: "Before", color: "gray.5", strokeDasharray: "4 4" },
  { name: "now", label: "Received", color: "indigo.5" },
];

/** Heights are JavaScript numbers, which may lose digits; the printed amounts are exact. */
interface Point {
  readonly date: string;
  readonly now: number;
  readonly before: number;
  readonly received: string;
  readonly past: string;
}

export function DayChart({ now, before, currency, height }: Props) {
  const formats = useFormats();
  const points = now.periods.map((period, place): Point => {
    const received = receivedIn(period, currency);
    const past = receivedIn(before.periods[place] ?? { received: [] }, currency);
    return { date: period.from, now: Number(received), before: Number(past), received, past };
  });
  const compact = new Intl.NumberFormat(undefined, { notation: "compact" });
  return (
    <AreaChart
      h={height}
      data={points.map((point) => ({ ...point }))}
      dataKey="date"
      series={SERIES}
      curveType="linear"
      withDots={points.length <= 7}
      withLegend
      legendProps={{ verticalAlign: "bottom", height: 36 }}
      fillOpacity={0.12}
      xAxisProps={{ tickFormatter: formats.day, minTickGap: 24, interval: "equidistantPreserveStart" }}
      yAxisProps={{ width: 52 }}
      valueFormatter={(value) => compact.format(value)}
      areaProps={{ isAnimationActive: false }}
      areaChartProps={{ title: `Received by day, in ${currency}` }}
      tooltipProps={{
        content: ({ label }) => <PointTooltip point={points.find(({ date }) => date === label)} currency={currency} />,
      }}
    />
  );
}

function PointTooltip({ point, currency }: { readonly point: Point | undefined; readonly currency: string }) {
  const { day, sum } = useFormats();
  if (point === undefined) return null;
  return (
    <Paper px="md" py="xs" withBorder shadow="md" radius="md">
      <Text size="sm" fw={600}>
        {day(point.date)}
      </Text>
      <Text size="sm" className="numbers">
        {sum(point.received, currency)}
      </Text>
      <Text size="xs" c="dimmed" className="numbers">
        {sum(point.past, currency)} before
      </Text>
    </Paper>
  );
}
