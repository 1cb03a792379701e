// The cost of an idle deployment: an hour of crons and the jobs that they start, and then silence, in which nothing may run.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { keysOf } from "../../scripts/keys-of.ts";
import type { Twin } from "./deployment.ts";
import { ESTIMATES, PRICES, type Used, usedBy } from "./report.ts";

/** The least frequent job runs once in this many crons (src/app/jobs.ts). */
const MINUTES = 60;
const MINUTE_MS = 60_000;
const MINUTES_A_MONTH = 30 * 24 * 60;
/** The first minutes are not counted, because jobs have more to do right after the set-up. */
const WARM_UP_MINUTES = 5;
const PAGE = join(resolve(import.meta.dirname, "../.."), "docs/operations/deploy.md");

/** The paid plan's monthly allowances; developers.cloudflare.com/workers/platform/pricing, November 2026. */
const INCLUDED: Used = {
  requests: 10_000_000,
  objects: 1_000_000,
  rowsRead: 25_000_000_000,
  rowsWritten: 50_000_000,
  queue: 1_000_000,
  cpuMs: 30_000_000,
  objectGbS: 400_000,
};

interface Idle {
  /** Usage in an hour of crons. */
  readonly hour: Used;
  /** Usage in the silence after it. */
  readonly silence: Used;
  readonly silenceSeconds: number;
}

/** `startMs` is the minute of the first cron; the deployment's own clock is unchanged. */
export async function playIdle(
  twin: Twin,
  { startMs, silenceSeconds }: { readonly startMs: number; readonly silenceSeconds: number },
): Promise<Idle> {
  const play = async (fromMinute: number, minutes: number) => {
    for (let minute = fromMinute; minute < fromMinute + minutes; minute++) {
      await twin.cron(startMs + minute * MINUTE_MS);
      while (twin.queues.open > 0) await sleep(10);
    }
    await quiet(twin);
  };
  await play(0, WARM_UP_MINUTES);
  const before = usedBy(twin);
  await play(WARM_UP_MINUTES, MINUTES);
  const after = usedBy(twin);
  await sleep(silenceSeconds * 1_000);
  return { hour: minus(after, before), silence: minus(usedBy(twin), after), silenceSeconds };
}

/** A message takes a moment to reach its queue. */
const QUIET_MS = 3_000;

/** Waits until no message has arrived and none has been in progress for a while. */
async function quiet({ calls, queues }: Twin): Promise<void> {
  for (let [seen, sinceMs] = [calls.messages, Date.now()]; Date.now() - sinceMs < QUIET_MS; await sleep(50))
    if (queues.open > 0 || calls.messages !== seen) [seen, sinceMs] = [calls.messages, Date.now()];
}

const NAMES = keysOf(PRICES);
const each = (of: (name: keyof typeof PRICES) => number): Used => ({
  requests: of("requests"),
  objects: of("objects"),
  rowsRead: of("rowsRead"),
  rowsWritten: of("rowsWritten"),
  queue: of("queue"),
  cpuMs: of("cpuMs"),
  objectGbS: of("objectGbS"),
});
const minus = (after: Used, before: Used) => each((name) => after[name] - before[name]);

export function monthOf({ hour, silence, silenceSeconds }: Idle): Used {
  return each(
    (name) => hour[name] * (MINUTES_A_MONTH / MINUTES) + (silence[name] / silenceSeconds) * 60 * MINUTES_A_MONTH,
  );
}

/** The monthly queue operations of an idle deployment's jobs, as stated on the page of costs; undefined if the page does not state them. */
export function operationsInPage(page = readFileSync(PAGE, "utf8")): number | undefined {
  const said = /idle, the jobs take ([\d,]+)[, ]/.exec(page)?.[1];
  return said === undefined ? undefined : Number(said.replaceAll(",", ""));
}

/** Not checked in silence, because the runtime itself takes some CPU time, and both measures arrive in batches. */
const ESTIMATED: readonly (keyof typeof PRICES)[] = ["cpuMs", "objectGbS"];

/** If the page's number differs from the measured one by more than this, the page is wrong. */
const NEAR_ENOUGH = 0.05;

export function idleReport(
  idle: Idle,
  said = operationsInPage(),
): { readonly text: string; readonly wrong: readonly string[] } {
  const month = monthOf(idle);
  const dollars = (name: keyof typeof PRICES, count: number) => (count * PRICES[name]) / 1_000_000;
  const whole = (count: number) => Math.round(count).toLocaleString("en-US");
  const rows = NAMES.map((name) => {
    const beyond = Math.max(0, month[name] - INCLUDED[name]);
    const cells = [
      whole(month[name]),
      dollars(name, month[name]).toFixed(3),
      whole(INCLUDED[name]),
      dollars(name, beyond).toFixed(3),
    ];
    return `  ${name.padEnd(12)} ${cells.map((cell) => cell.padStart(16)).join(" ")}`;
  });
  const sum = (of: (name: keyof typeof PRICES) => number) => NAMES.reduce((all, name) => all + of(name), 0);
  const listed = sum((name) => dollars(name, month[name]));
  const beyond = sum((name) => dollars(name, Math.max(0, month[name] - INCLUDED[name])));
  const stirred = NAMES.filter((name) => !ESTIMATED.includes(name) && idle.silence[name] > 0);
  const isOff = said === undefined || Math.abs(month.queue - said) > NEAR_ENOUGH * said;
  const wrong = [
    ...stirred.map((name) => `in ${idle.silenceSeconds} s of silence: ${idle.silence[name]} of ${name}`),
    ...(isOff
      ? [`docs/operations/deploy.md says ${said} operations of the queue, and there are ${whole(month.queue)}`]
      : []),
  ];
  const text = [
    "",
    "An idle month, from an hour of crons and a silence",
    ...ESTIMATES,
    "",
    `  ${"".padEnd(12)} ${["a month", "by list, $", "a plan includes", "beyond it, $"].map((head) => head.padStart(16)).join(" ")}`,
    ...rows,
    `  together ${listed.toFixed(2)} $ by list; ${beyond.toFixed(2)} $ beyond what the paid plan (5 $) includes`,
    `  docs/operations/deploy.md: ${said === undefined ? "says nothing" : `${whole(said)} operations of the queue`}`,
    "",
    ...wrong.map((line) => `WRONG: ${line}`),
  ].join("\n");
  return { text, wrong };
}
