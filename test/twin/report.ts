// What a day in the twin showed, on a page that is read in a minute.
import type { DayOptions, Findings, Measured } from "./day.ts";
import type { Twin } from "./deployment.ts";

/** US dollars for a million: developers.cloudflare.com/workers/platform/pricing, November 2026. What a plan includes is not taken off. */
const PRICES = { requests: 0.3, objects: 0.15, rowsRead: 0.001, rowsWritten: 1, queue: 0.4 };
/** A message is written, read and deleted. */
const OPERATIONS_A_MESSAGE = 3;

export interface Report {
  readonly text: string;
  readonly wrong: readonly string[];
}

/** The most timers that an object may have at once: a pending one keeps it awake, and 10,000 end it. */
export const MOST_TIMERS = 10;

export function reportOf(twin: Twin, findings: Findings, { seconds, shops }: DayOptions): Report {
  const crowded = [...twin.timers].filter(([, most]) => most > MOST_TIMERS);
  const wrong = [...findings.wrong, ...crowded.map(([object, most]) => `${object} had ${most} timers at once`)];
  const { counts } = twin.gate;
  const routes = [...findings.routes].map(([route, measured]) => routeLine(route, measured));
  const d1 = quantiles(counts.times);
  const text = [
    "",
    `A day of ${shops} shops in ${seconds} s, deployed as ${twin.origin}`,
    "",
    `  ${findings.created} invoices, ${findings.paid} of them paid; ${findings.events} events accepted`,
    `  database: ${counts.calls} calls with ${counts.statements} statements, ${counts.failed} failed; p50 ${d1.p50} ms, p99 ${d1.p99} ms`,
    `  objects: ${twin.calls.objects} calls; most timers of one: ${Math.max(2, ...twin.timers.values())}`,
    `  queues: ${twin.calls.messages} messages; crons: ${twin.calls.crons}`,
    "",
    `  ${"route".padEnd(22)} ${"answers".padStart(8)} ${"p50 ms".padStart(8)} ${"p99 ms".padStart(8)}  not 2xx`,
    ...routes,
    "",
    ...costLines(twin, findings),
    "",
    ...(wrong.length === 0
      ? ["Nothing is wrong: every invoice is what its history demands, and every event came, each once."]
      : [`${wrong.length} things are WRONG:`, ...wrong.slice(0, 20).map((line) => `  ${line}`)]),
    "",
  ].join("\n");
  return { text, wrong };
}

function routeLine(route: string, { times, statuses }: Measured): string {
  const { p50, p99 } = quantiles(times);
  const others = [...statuses].filter(([status]) => status >= 300).map(([status, times_]) => `${status} x ${times_}`);
  const cells = [String(times.length).padStart(8), String(p50).padStart(8), String(p99).padStart(8)];
  return `  ${route.padEnd(22)} ${cells.join(" ")}  ${others.join(", ")}`;
}

function quantiles(times: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99) };
}

function costLines({ calls, gate }: Twin, { paid }: Findings): readonly string[] {
  const used = {
    requests: calls.requests + calls.messages + calls.crons,
    objects: calls.objects,
    rowsRead: gate.counts.rowsRead,
    rowsWritten: gate.counts.rowsWritten,
    queue: calls.messages * OPERATIONS_A_MESSAGE,
  };
  const dollars = Object.entries(PRICES).map(
    ([what, price]) => [what, used[what as keyof typeof used] * price] as const,
  );
  const sum = dollars.reduce((all, [, cost]) => all + cost, 0);
  const each = (cost: number) => (cost / Math.max(1, paid)).toFixed(2);
  return [
    `  cost of 1,000,000 paid invoices at this mix, idle work of this day included: ${each(sum)} $`,
    `    ${dollars.map(([what, cost]) => `${what} ${each(cost)}`).join(", ")}`,
  ];
}
