// The amount received, as a bar for each day. Unlike a line, bars show days without receipts as gaps, and one good day does not become a spike.
import { Box, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { ReportTotals } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { receivedIn } from "./sums.ts";

interface Props {
  readonly now: ReportTotals;
  readonly before: ReportTotals;
  readonly currency: string;
}

const HEIGHT = 180;
/** The lowest bar, in percent of the height, so that a day with a small amount is visible too. */
const LEAST = 1.5;

interface Bar {
  readonly date: string;
  readonly received: string;
  readonly past: string;
}

export function DayBars({ now, before, currency }: Props) {
  const { day, sum } = useFormats();
  const [shown, show] = useState<string>();
  const bars = now.periods.map((period, place): Bar => {
    const past = receivedIn(before.periods[place] ?? { received: [] }, currency);
    return { date: period.from, received: receivedIn(period, currency), past };
  });
  // Heights are JavaScript numbers, which may lose digits; the printed amounts are exact.
  const most = Math.max(...bars.flatMap(({ received, past }) => [Number(received), Number(past)]));
  const best = bars.reduce((one, other) => (Number(other.received) > Number(one.received) ? other : one), NO_BAR);
  const told = bars.find(({ date }) => date === shown);
  return (
    <Stack gap={6}>
      <Text size="sm" className="numbers" aria-hidden="true">
        {told === undefined
          ? Number(best.received) > 0 && `Best day: ${day(best.date)}, ${sum(best.received, currency)}`
          : `${day(told.date)}: ${sum(told.received, currency)}; previous period: ${sum(told.past, currency)}`}
        {"\u00a0"}
      </Text>
      <Box
        className="day-bars"
        h={HEIGHT}
        role="img"
        aria-label={labelOf({ bars, best, currency, day, sum })}
        onMouseLeave={() => show(undefined)}
        onMouseMove={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect();
          show(bars[Math.floor(((clientX - left) / width) * bars.length)]?.date);
        }}
      >
        {bars.map(({ date, received, past }) => (
          <div key={date} className="day-bar" data-shown={date === shown}>
            <div className="day-bar-before" style={{ height: heightOf(past, most) }} />
            <div className="day-bar-now" style={{ height: heightOf(received, most) }} />
          </div>
        ))}
      </Box>
      <Group justify="space-between" aria-hidden="true">
        {[bars[0], bars.at(-1)].map((bar, place) => (
          <Text key={place === 0 ? "first" : "last"} size="xs" c="dimmed">
            {bar !== undefined && day(bar.date)}
          </Text>
        ))}
      </Group>
      <Group gap="md" justify="center" aria-hidden="true">
        <Mark name="Received" className="day-bar-now" />
        <Mark name="Previous period" className="day-bar-before" />
      </Group>
    </Stack>
  );
}

const NO_BAR: Bar = { date: "", received: "0", past: "0" };

function heightOf(amount: string, most: number): string {
  const part = most > 0 ? (100 * Number(amount)) / most : 0;
  return part > 0 ? `${Math.max(part, LEAST)}%` : "0";
}

interface Label extends Pick<ReturnType<typeof useFormats>, "day" | "sum"> {
  readonly bars: readonly Bar[];
  readonly best: Bar;
  readonly currency: string;
}

/** A description for users who cannot see the bars. The table that can replace the chart has every day. */
function labelOf({ bars, best, currency, day, sum }: Label): string {
  const busy = bars.filter(({ received }) => Number(received) > 0).length;
  const title = `Received by day, in ${currency}`;
  if (busy === 0) return `${title}: nothing`;
  return `${title}: payments on ${busy} of ${bars.length} days, most on ${day(best.date)}: ${sum(best.received, currency)}`;
}

function Mark({ name, className }: { readonly name: string; readonly className: string }) {
  return (
    <Group gap={6}>
      <Box className={className} w={12} h={12} pos="static" />
      <Text size="xs" c="dimmed">
        {name}
      </Text>
    </Group>
  );
}
