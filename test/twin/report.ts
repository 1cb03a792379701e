// The results of a day in the twin, as one page of text.
import { keysOf } from "../../scripts/keys-of.ts";
import type { DayOptions, Findings } from "./day.ts";
import type { EndpointTally } from "./delivery-log.ts";
import type { Switch, Twin } from "./deployment.ts";
import type { Work } from "./gate.ts";
import { growsSteadily, type HeapWatch, heapFigures, MOST_HEAP_BYTES } from "./heap.ts";
import {
  during,
  type Figures,
  figuresOf,
  type Measured,
  otherStatuses,
  outside,
  quantiles,
  RECOVERY_MS,
  type Stall,
} from "./measured.ts";
import { unexcused } from "./troubles.ts";

/**
 * US dollars per million: developers.cloudflare.com/workers/platform/pricing and /durable-objects/platform/pricing, November 2026. A plan's
 * allowance is not deducted.
 */
export const PRICES = {
  requests: 0.3,
  objects: 0.15,
  rowsRead: 0.001,
  rowsWritten: 1,
  queue: 0.4,
  cpuMs: 0.02,
  objectGbS: 12.5,
};
/** An object is billed for this much memory, no matter how much it uses. */
const GB_OF_OBJECT = 0.128;
/** Each message is written, read and deleted. */
const OPERATIONS_A_MESSAGE = 3;

/** Billed usage. */
export type Used = Readonly<Record<keyof typeof PRICES, number>>;

interface Report {
  readonly text: string;
  readonly wrong: readonly string[];
}

const [WORK_SHOWN, SQL_SHOWN, WRONG_SHOWN] = [8, 150, 20];

const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

/** The most timers that an object may have at once: a pending timer keeps an object awake, and at 10,000 the platform ends it. */
const MOST_TIMERS = 10;

/** What is wrong with a deployment, apart from its shops' findings: timers, heaps, and jobs that failed without a known cause. */
export function wrongOf(
  twin: Pick<Twin, "timers" | "jobFaults" | "refusedAt" | "gate" | "troubles" | "heap">,
): readonly string[] {
  const crowded = [...twin.timers].filter(([, most]) => most > MOST_TIMERS);
  return [
    ...crowded.map(([object, most]) => `${object} had ${most} timers at once`),
    ...unexcused(twin).uncaused.map(
      ({ job, toMs }) => `the job ${job} failed at ${new Date(toMs).toISOString()}, and nothing had befallen it`,
    ),
    ...twin.heap.rows
      .filter(({ samples }) => growsSteadily(samples))
      .map(({ name }) => `the heap of the ${name} grows steadily`),
    ...twin.heap.rows.flatMap(({ name, samples }) => {
      const most = heapFigures(samples)?.mostBytes ?? 0;
      return most <= MOST_HEAP_BYTES ? [] : [`the heap of the ${name} reached ${mib(most)} MiB`];
    }),
  ];
}

/** A finding if the 99th percentile of creates outside stalls is above `limitMs`; 0 means no limit. */
export function slowOf(creates: Measured, stalls: readonly Stall[], limitMs: number): readonly string[] {
  const { p99 } = figuresOf(outside(creates, stalls));
  return limitMs === 0 || p99 <= limitMs ? [] : [`99 of 100 creates outside stalls took ${p99} ms, not ${limitMs}`];
}

/** A line for the page if the machine was overloaded, because the numbers then mean little. */
function lateLines(late: readonly Stall[], stalls: readonly Stall[]): readonly string[] {
  const others = late.filter(({ startMs, endMs }) =>
    stalls.every((each) => endMs < each.startMs || startMs > each.endMs),
  );
  const seconds = others.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) / 1_000;
  return others.length === 0
    ? []
    : [`  ${others.length} times, ${Math.round(seconds)} s in all, more was asked than this machine could do`];
}

function overloadedLines(twin: Twin): readonly string[] {
  const { overloaded } = unexcused(twin);
  const times = overloaded.map(({ job, toMs }) => `${job} at ${new Date(toMs).toISOString()}`).join(", ");
  return overloaded.length === 0
    ? []
    : [`  failed only because this machine was too slow, as far as is known: ${times}`];
}

/** `ours`: problems in addition to the shops' findings. */
export function reportOf(
  twin: Twin,
  findings: Findings,
  { shops, p99LimitMs = 0 }: Pick<DayOptions, "shops"> & { readonly p99LimitMs?: number },
  ours: readonly string[] = wrongOf(twin),
): Report {
  const creates = findings.routes.get("POST /invoices") ?? [];
  const wrong = [...findings.wrong, ...ours, ...slowOf(creates, twin.gate.stalls, p99LimitMs)];
  const { counts } = twin.gate;
  const routes = [...findings.routes].map(([route, measured]) => routeLine(route, measured));
  const d1 = quantiles(counts.times);
  const text = [
    "",
    `A day of ${shops} shops in ${Math.round(findings.seconds)} s, deployed as ${twin.origin}`,
    "",
    `  ${findings.created} invoices, ${findings.paid} of them paid; ${findings.events} events accepted`,
    `  database: ${counts.calls} calls with ${counts.statements} statements, ${counts.failed} failed; p50 ${d1.p50} ms, p99 ${d1.p99} ms`,
    ...lateLines(twin.gate.late, twin.gate.stalls),
    ...overloadedLines(twin),
    `  objects: ${twin.calls.objects} calls; most timers of one: ${Math.max(2, ...twin.timers.values())}`,
    ...switchLines(twin.switches),
    `  queues: ${twin.calls.messages} messages; crons: ${twin.calls.crons}`,
    `  befallen: ${[...twin.troubles].map(([kind, { length }]) => `${length} x ${kind}`).join(", ")}; ${twin.jobFaults.length} jobs failed`,
    ...endpointLines(findings.endpoints),
    ...heapLines(twin.heap),
    "",
    ...createLines(creates, twin.gate.stalls, findings.created / findings.seconds),
    "",
    `  ${"route".padEnd(22)} ${"answers".padStart(8)} ${"p50 ms".padStart(8)} ${"p99 ms".padStart(8)}  not 2xx`,
    ...routes,
    "",
    ...costLines(twin, findings),
    "",
    ...workLines(counts.bySql),
    "",
    ...(wrong.length === 0
      ? ["Nothing is wrong: every invoice is what its history demands, and every event came, each once."]
      : [`${wrong.length} things are WRONG:`, ...groupsOf(wrong)]),
    "",
  ].join("\n");
  return { text, wrong };
}

/** One line for each way in which objects switched to the code of an upgrade, with its count. */
export function switchLines(switches: readonly Switch[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { played, uploaded } of switches) {
    const text = played === uploaded ? `${played}, as deployed` : `${played}, although deployed as ${uploaded}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, times]) => `  objects switched to the code of an upgrade: ${text} (${times} x)`);
}

/** One line per endpoint whose delivery log was compared. */
export function endpointLines(endpoints: readonly EndpointTally[]): readonly string[] {
  return endpoints.map(({ manner, succeeded, failed, waiting, attempts, disabledReason }) => {
    const off = disabledReason === null ? "" : `; switched off: ${disabledReason}`;
    const states = `${succeeded} delivered, ${failed} failed, ${waiting} wait`;
    return `  deliveries to a ${manner} endpoint: ${states}, after ${attempts} attempts${off}`;
  });
}

/** One line per start of an isolate. */
function heapLines({ rows }: HeapWatch): readonly string[] {
  return rows.flatMap(({ name, samples }) => {
    const figures = heapFigures(samples);
    if (figures === undefined) return [];
    const { firstBytes, lastBytes, mostBytes } = figures;
    return [`  heap of the ${name}: first ${mib(firstBytes)}, last ${mib(lastBytes)}, most ${mib(mostBytes)} MiB`];
  });
}

function createLines(creates: Measured, stalls: readonly Stall[], rate: number): readonly string[] {
  const all = figuresOf(creates);
  const [away, met] = [outside(creates, stalls), during(creates, stalls)];
  const isWaiting = ({ begunMs, ms }: Measured[number]) =>
    stalls.some(({ startMs }) => begunMs < startMs && begunMs + ms > startMs);
  const line = (of: Figures) => `${of.answers} answers, p50 ${of.p50} ms, p99 ${of.p99} ms, ${of.errors} errors`;
  return [
    `  creates: ${rate.toFixed(1)} a second`,
    `    over all: ${line(all)}`,
    ...(stalls.length === 0
      ? []
      : [
          `    outside stalls and ${RECOVERY_MS / 1_000} s after each: ${line(figuresOf(away))}`,
          `    the same without those under way as one began: ${line(figuresOf(away.filter((each) => !isWaiting(each))))}`,
          `    met by a stall: ${line(figuresOf(met))}; the longest ${Math.max(0, ...met.map(({ ms }) => ms))} ms`,
        ]),
  ];
}

function routeLine(route: string, answers: Measured): string {
  const { p50, p99 } = figuresOf(answers);
  const cells = [answers.length, p50, p99].map((cell) => String(cell).padStart(8));
  return `  ${route.padEnd(22)} ${cells.join(" ")}  ${otherStatuses(answers)}`;
}

/** Usage since the deployment was created. */
export function usedBy({
  calls,
  gate,
  cpu,
}: Pick<Twin, "calls" | "gate"> & { readonly cpu: Pick<Twin["cpu"], "ms"> }): Used {
  const { rowsRead, rowsWritten } = gate.counts;
  return {
    requests: calls.requests + calls.messages + calls.crons,
    objects: calls.objects,
    rowsRead,
    rowsWritten,
    queue: calls.messages * OPERATIONS_A_MESSAGE,
    cpuMs: cpu.ms,
    objectGbS: (calls.awakeMs / 1_000) * GB_OF_OBJECT,
  };
}

/** States which figures are counted as in a bill, and how the other two are estimated. */
export const ESTIMATES = [
  "    counted: requests, calls of objects, rows, queue. Estimated: cpuMs is the CPU time of the edge's whole process on this machine,",
  "    start-up and the runtime's own work included; objectGbS is the time in which objects had a call or a timer open, at 128 MB",
] as const;

function costLines(twin: Twin, { paid }: Findings): readonly string[] {
  const used = usedBy(twin);
  const dollars = keysOf(PRICES).map((what) => [what, used[what] * PRICES[what]] as const);
  const sum = dollars.reduce((all, [, cost]) => all + cost, 0);
  const each = (cost: number) => (cost / Math.max(1, paid)).toFixed(2);
  return [
    `  cost of 1,000,000 paid invoices at this mix, idle work of this day included: ${each(sum)} $`,
    `    ${dollars.map(([what, cost]) => `${what} ${each(cost)}`).join(", ")}`,
    ...ESTIMATES,
  ];
}

/** The most expensive statements, by time and by rows read. A cost that grows with a shop's data shows here first. */
function workLines(bySql: ReadonlyMap<string, Work>): readonly string[] {
  const all = [...bySql];
  const top = (of: (work: Work) => number) =>
    all.toSorted(([, one], [, other]) => of(other) - of(one)).slice(0, WORK_SHOWN);
  const shown = new Map([...top(({ rowsRead }) => rowsRead), ...top(({ ms }) => ms)]);
  const cell = (of: number) => of.toFixed(of < 100 ? 1 : 0).padStart(8);
  const lines = [...shown].map(
    ([sql, { times, ms, rowsRead, rowsWritten }]) =>
      `  ${String(times).padStart(8)} ${[ms, rowsRead, rowsWritten].map((sum) => cell(sum / times)).join(" ")}  ${briefly(sql)}`,
  );
  const heads = ["times", "ms", "rows", "written"].map((head) => head.padStart(8));
  return [`  ${heads.join(" ")}  the dearest statements: how often, and each time`, ...lines];
}

/** A statement's text without parenthesized parts and without the list of columns. */
function briefly(sql: string): string {
  let depth = 0;
  const outer = [...sql].filter((sign) => {
    if (sign === ")") depth -= 1;
    const isOuter = depth === 0;
    if (sign === "(") depth += 1;
    return isOuter;
  });
  return outer
    .join("")
    .replace(/^select .*? from /, "select .. from ")
    .slice(0, SQL_SHOWN);
}

/** Lines that differ only in ids, times and numbers are merged, with their count. */
function groupsOf(wrong: readonly string[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const line of wrong) {
    const kind = line.replace(/\b[a-z]+_[0-9A-Z]{26}\b|0x[0-9a-f]+|\d+/g, "#");
    groups.set(kind, [...(groups.get(kind) ?? []), line]);
  }
  const largest = [...groups.values()].toSorted((one, other) => other.length - one.length);
  const shown = largest.slice(0, WRONG_SHOWN).map(([first = "", ...others]) => `  ${others.length + 1} x ${first}`);
  return largest.length > WRONG_SHOWN ? [...shown, `  and ${largest.length - WRONG_SHOWN} other kinds`] : shown;
}
