// The results of a day in the twin, on a page readable in a minute.
import { keysOf } from "../../scripts/keys-of.ts";
import type { DayOptions, Findings } from "./day.ts";
import type { Twin } from "./deployment.ts";
import type { Work } from "./gate.ts";
import { growsSteadily, type HeapWatch, heapFigures } from "./heap.ts";
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
import { unexplained, withAftermath } from "./troubles.ts";

/** US dollars for a million: developers.cloudflare.com/workers/platform/pricing, November 2026. A plan's allowance is not deducted. */
export const PRICES = { requests: 0.3, objects: 0.15, rowsRead: 0.001, rowsWritten: 1, queue: 0.4 };
/** A message is written, read and deleted. */
const OPERATIONS_A_MESSAGE = 3;

/** Billed usage. */
export type Used = Readonly<Record<keyof typeof PRICES, number>>;

interface Report {
  readonly text: string;
  readonly wrong: readonly string[];
}

const [WORK_SHOWN, SQL_SHOWN, WRONG_SHOWN] = [8, 150, 20];

/** The most timers that an object may have at once: a pending one keeps it awake, and 10,000 end it. */
const MOST_TIMERS = 10;

/**
 * What is wrong with a deployment, apart from its shops' findings: timers, heaps, and jobs that failed without a
 * reason.
 */
export function wrongOf(
  twin: Pick<Twin, "timers" | "jobFaults" | "refusedAt" | "gate" | "troubles" | "heap">,
): readonly string[] {
  const crowded = [...twin.timers].filter(([, most]) => most > MOST_TIMERS);
  return [
    ...crowded.map(([object, most]) => `${object} had ${most} timers at once`),
    ...unexplained(
      twin.jobFaults,
      [...twin.gate.counts.failedAt, ...[...twin.troubles.values()].flat()],
      withAftermath([...twin.gate.stalls, ...twin.gate.late], twin.refusedAt),
    ).map(({ job, toMs }) => `the job ${job} failed at ${new Date(toMs).toISOString()}, and nothing had befallen it`),
    ...twin.heap.rows
      .filter(({ samples }) => growsSteadily(samples))
      .map(({ name }) => `the heap of the ${name} grows steadily`),
  ];
}

/** A page with numbers from an overloaded machine must say so. */
function lateLines(late: readonly Stall[], stalls: readonly Stall[]): readonly string[] {
  const others = late.filter(({ startMs, endMs }) =>
    stalls.every((each) => endMs < each.startMs || startMs > each.endMs),
  );
  const seconds = others.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) / 1_000;
  return others.length === 0
    ? []
    : [`  ${others.length} times, ${Math.round(seconds)} s in all, more was asked than this machine could do`];
}

/** `ours`: what is wrong in addition to the shops' findings. */
export function reportOf(
  twin: Twin,
  findings: Findings,
  { shops }: Pick<DayOptions, "shops">,
  ours: readonly string[] = wrongOf(twin),
): Report {
  const wrong = [...findings.wrong, ...ours];
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
    `  objects: ${twin.calls.objects} calls; most timers of one: ${Math.max(2, ...twin.timers.values())}`,
    `  queues: ${twin.calls.messages} messages; crons: ${twin.calls.crons}`,
    `  befallen: ${[...twin.troubles].map(([kind, { length }]) => `${length} x ${kind}`).join(", ")}; ${twin.jobFaults.length} jobs failed`,
    ...heapLines(twin.heap),
    "",
    ...createLines(findings.routes.get("POST /invoices") ?? [], twin.gate.stalls, findings.created / findings.seconds),
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

const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

/** A line for each start of an isolate. */
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

/** Since it was deployed. */
export function usedBy({ calls, gate }: Pick<Twin, "calls" | "gate">): Used {
  const { rowsRead, rowsWritten } = gate.counts;
  return {
    requests: calls.requests + calls.messages + calls.crons,
    objects: calls.objects,
    rowsRead,
    rowsWritten,
    queue: calls.messages * OPERATIONS_A_MESSAGE,
  };
}

function costLines(twin: Twin, { paid }: Findings): readonly string[] {
  const used = usedBy(twin);
  const dollars = keysOf(PRICES).map((what) => [what, used[what] * PRICES[what]] as const);
  const sum = dollars.reduce((all, [, cost]) => all + cost, 0);
  const each = (cost: number) => (cost / Math.max(1, paid)).toFixed(2);
  return [
    `  cost of 1,000,000 paid invoices at this mix, idle work of this day included: ${each(sum)} $`,
    `    ${dollars.map(([what, cost]) => `${what} ${each(cost)}`).join(", ")}`,
  ];
}

/** Statements that cost the database most, by time and by rows: what grows with a shop shows here first. */
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

/** Without what is in brackets, and without the list of columns. */
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

/** Lines that differ only in ids, times and numbers are one, with how many they are. */
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
