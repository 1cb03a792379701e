// The options of `npm run twin`, read from its flags.
import { parseArgs } from "node:util";
import { keysOf } from "../../scripts/keys-of.ts";
import type { Strategy } from "./account-kept.ts";
import { DEFECT_NAMES, type DefectName, isDefect } from "./defects.ts";
import { RECOVERY_MS } from "./measured.ts";
import { delayIn, FAR, NEAR, QUIET_WEATHER, USUAL, type Weather } from "./weather.ts";

export const HELP = `npm run twin -- [flags]     plays a day of some shops on the deployment as it will live

  --minutes <n>         how long invoices are made (2)
  --shops <n>           how many shops (3)
  --rate <n>            invoices a second, over all shops, however long each takes (5; with --clients 0)
  --clients <n>         so many create, wait for the answer, and create again (0)
  --most-open <n>       creates of --rate that may be unanswered at once, at most 10000; while so many are, none is started (no limit)
  --paid <share>        of all invoices; the rest is cancelled, expires or waits (0.4)
  --weather <name>      how far the database is: calm, near, usual, far (usual)
  --read <p50/p99>      milliseconds of its reads, instead of the weather's, as 12/60
  --write <p50/p99>     of its writes
  --stalls <n>          how often it answers nothing (1), or for how many seconds each time: 25,80
  --stall-seconds <n>   how long each time, where --stalls is a count (25)
  --faults <share>      the share of its calls that fail (0.002)
  --object-faults <share>  the share of calls of objects that are refused or lose their answer (0.002)
  --clocks <ms>         how far the clock of the objects is before the edge's (100)
  --resets <share>      the share of calls during which an object restarts, without what it had in memory (0)
  --recycle <seconds>   between two times that the edge, the objects or both restart (0, none)
  --cron-gap <seconds>  once in the middle, for this long no cron runs (0)
  --p99 <ms>            what 99 of 100 creates outside stalls must take at most, or the day is wrong (0, no limit)
  --rotate              MASTER_KEY is rotated after the upgrade, as docs/operations/deploy.md says; the day lasts until that is done
  --no-upgrade          without an upgrade in the middle
  --strategy <name>     how objects switch to its code: immediate or deferred, by a fifth of the day, at most 300 s (as deployed)
  --seed <n>            of what is drawn (1)

npm run twin -- --from-before    a deployment of the release before, made by hand as its documents say; it is upgraded, brought back and upgraded again,
                      while people of the shops take rights away. Each of the seven parts lasts until every act was done in it, and sales as long

npm run twin -- --put-back <names>|all    a defect that the service had, or could have, is put back into a copy of the sources and deployed, and the twin must
                      say within a minute of play what is wrong; with "nothing", the sources as they are, it must say nothing. Their names:
                      ${DEFECT_NAMES.join(", ")}

npm run twin -- --table     1, 16 and 64 clients, each with a near, a usual and a far database

  --seconds <n>         for each of the nine (20)

npm run twin -- --idle      an hour of crons of which nobody asks anything, and what such a month costs

  --seconds <n>         of silence behind it, in which nothing may run (20)`;

const WEATHERS: Readonly<Record<string, Weather>> = { calm: QUIET_WEATHER, near: NEAR, usual: USUAL, far: FAR };

export interface Flags {
  readonly mode: "day" | "table" | "idle" | "put-back";
  /** The defects to reintroduce, one after another. */
  readonly putBack: readonly DefectName[];
  readonly seconds: number;
  /** Seconds for each cell of the table, and for the silent period of an idle deployment. */
  readonly spanSeconds: number;
  readonly shops: number;
  readonly rate: number;
  readonly clients: number;
  /** The most unanswered creates of `rate`; undefined for no limit. */
  readonly mostOpen?: number;
  readonly paid: number;
  readonly cancelled: number;
  readonly expired: number;
  readonly weather: Weather;
  /** The length of each stall in seconds, in order. */
  readonly stalls: readonly number[];
  readonly objectFaults: number;
  readonly clockMs: number;
  readonly resets: number;
  /** Average time between restarts of all isolates; 0 for never. */
  readonly recycleEveryMs: number;
  /** How long no cron runs, once in the middle of the day; 0 for never. */
  readonly cronGapMs: number;
  /** The limit for the latency of creates outside stalls; 0 for none. */
  readonly p99LimitMs: number;
  readonly isUpgraded: boolean;
  readonly isRotated: boolean;
  /** How objects switch to the code of the upgrade; undefined for the strategy of the deploy. */
  readonly strategy: Strategy | undefined;
  readonly isFromBefore: boolean;
  readonly seed: number;
}

const text = (value: string) => ({ type: "string", default: value }) as const;
const [open, yes] = [{ type: "string" } as const, { type: "boolean", default: false } as const];
const OPTIONS = {
  minutes: text("2"),
  shops: text("3"),
  clients: text("0"),
  paid: text("0.4"),
  weather: text("usual"),
  stalls: text("1"),
  "stall-seconds": text("25"),
  faults: text("0.002"),
  seed: text("1"),
  seconds: text("20"),
  "object-faults": text("0.002"),
  clocks: text("100"),
  resets: text("0"),
  recycle: text("0"),
  "cron-gap": text("0"),
  p99: text("0"),
  rate: open,
  "most-open": open,
  read: open,
  write: open,
  "put-back": open,
  strategy: open,
  "no-upgrade": yes,
  rotate: yes,
  "from-before": yes,
  table: yes,
  idle: yes,
  help: yes,
};
const valuesOf = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS }).values;
type Values = ReturnType<typeof valuesOf>;

const LEAST = {
  minutes: 0.1,
  shops: 1,
  rate: 0,
  clients: 0,
  "most-open": 1,
  paid: 0,
  "stall-seconds": 1,
  faults: 0,
  seed: 0,
  seconds: 1,
  "object-faults": 0,
  clocks: Number.NEGATIVE_INFINITY,
  resets: 0,
  recycle: 0,
  "cron-gap": 0,
  p99: 0,
} as const;

const STRATEGIES: readonly Strategy[] = ["immediate", "deferred"];

/** Shares of unpaid invoices. */
const CANCELLED = 1 / 3;
const EXPIRED = 1 / 6;

/** The flags, or a sentence that says what is wrong with them; undefined if help is requested. */
export function flagsIn(args: readonly string[]): Flags | string | undefined {
  let values: Values;
  try {
    values = valuesOf(args);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (values.help) return undefined;
  for (const flag of keysOf(LEAST))
    if (values[flag] !== undefined && !(Number(values[flag]) >= LEAST[flag]))
      return `--${flag} takes a number of at least ${LEAST[flag]}.`;
  const number = (flag: keyof typeof LEAST) => Number(values[flag]);
  const weather = weatherOf(values);
  if (typeof weather === "string") return weather;
  const stalls = stallsIn(values.stalls, number("stall-seconds"));
  if (stalls === undefined) return "--stalls takes a count, or seconds with commas between them.";
  const putBack = defectsIn(values["put-back"]);
  if (putBack === undefined)
    return `--put-back takes all, or with commas between them some of ${DEFECT_NAMES.join(", ")}.`;
  const mostOpen = mostOpenIn(values);
  if (typeof mostOpen === "string") return mostOpen;
  if (number("paid") > 1) return "--paid takes a share, at most 1.";
  const strategy = STRATEGIES.find((each) => each === values.strategy);
  if (strategy === undefined && values.strategy !== undefined) return `--strategy takes ${STRATEGIES.join(" or ")}.`;
  const clients = number("clients");
  const flags: Flags = {
    mode: modeOf(values),
    putBack,
    stalls,
    weather,
    clients,
    paid: number("paid"),
    cancelled: (1 - number("paid")) * CANCELLED,
    expired: (1 - number("paid")) * EXPIRED,
    seconds: number("minutes") * 60,
    spanSeconds: number("seconds"),
    shops: number("shops"),
    ...mostOpen,
    rate: Number(values.rate ?? (clients > 0 ? 0 : 5)),
    objectFaults: number("object-faults"),
    clockMs: number("clocks"),
    resets: number("resets"),
    recycleEveryMs: number("recycle") * 1_000,
    cronGapMs: number("cron-gap") * 1_000,
    p99LimitMs: number("p99"),
    isUpgraded: !values["no-upgrade"],
    isRotated: values.rotate,
    strategy,
    isFromBefore: values["from-before"],
    seed: number("seed"),
  };
  if (flags.rate === 0 && clients === 0) return "Nobody creates an invoice: give --rate or --clients.";
  if (flags.isFromBefore && flags.mode !== "day")
    return "--from-before plays a day of its own: give it without --table, --idle and --put-back.";
  const needed = stalls.reduce((sum, stall) => sum + stall + RECOVERY_MS / 1_000, 0);
  if (flags.mode === "day" && needed >= flags.seconds)
    return `The stalls and their recovery take ${needed} s, and the day has ${flags.seconds}: give more --minutes.`;
  return flags;
}

/** This process has no more connections than this. */
const MOST_OPEN = 10_000;

function mostOpenIn({ rate, clients, "most-open": given }: Values): Pick<Flags, "mostOpen"> | string {
  if (given === undefined) return {};
  const mostOpen = Number(given);
  if (!Number.isInteger(mostOpen) || mostOpen > MOST_OPEN)
    return `--most-open takes a whole number, at most ${MOST_OPEN}.`;
  // A limit makes no sense for --clients alone, because each client waits for its answers.
  const hasRate = rate === undefined ? Number(clients) === 0 : Number(rate) > 0;
  return hasRate ? { mostOpen } : "--most-open limits the creates of --rate: give both, or neither.";
}

/** Undefined if a name is unknown. */
function defectsIn(given: string | undefined): readonly DefectName[] | undefined {
  if (given === undefined) return [];
  if (given === "all") return DEFECT_NAMES;
  const names = given.split(",");
  const defects = names.filter(isDefect);
  return defects.length === names.length ? defects : undefined;
}

function modeOf({ table, idle, "put-back": defect }: Values): Flags["mode"] {
  if (defect !== undefined) return "put-back";
  if (table) return "table";
  return idle ? "idle" : "day";
}

function weatherOf(values: Values): Weather | string {
  const weather = WEATHERS[values.weather];
  if (weather === undefined) return `--weather takes one of ${Object.keys(WEATHERS).join(", ")}.`;
  const delays = { read: weather.read, write: weather.write };
  for (const way of ["read", "write"] as const) {
    const { [way]: given } = values;
    if (given === undefined) continue;
    const delay = delayIn(given);
    if (delay === undefined) return `--${way} takes two numbers of milliseconds, the smaller one first, as 12/60.`;
    delays[way] = delay;
  }
  return { ...weather, ...delays, faults: Number(values.faults) };
}

/** The seconds of each stall, from a list with commas; a single number is the count of stalls. */
function stallsIn(given: string, stallSeconds: number): readonly number[] | undefined {
  const numbers = given.split(",").map(Number);
  if (numbers.some((each) => !(each >= 0))) return undefined;
  const [count = 0] = numbers;
  if (numbers.length === 1)
    return Number.isInteger(count) ? Array.from({ length: count }, () => stallSeconds) : undefined;
  return numbers;
}

/**
 * When each stall starts and when the upgrade follows, in seconds from the start of the day. The pauses are equal: each lasts from the end of one
 * stall, including its recovery, to the start of the next.
 */
export function planOf({ seconds, stalls }: Pick<Flags, "seconds" | "stalls">): {
  readonly stallsAt: readonly number[];
  readonly upgradeAt: number;
} {
  const taken = stalls.map((stall) => stall + RECOVERY_MS / 1_000);
  const until = (nth: number) => taken.slice(0, nth).reduce((sum, each) => sum + each, 0);
  const pause = (seconds - until(stalls.length)) / (stalls.length + 2);
  const at = (nth: number) => pause * (nth + 1) + until(nth);
  return { stallsAt: stalls.map((_, nth) => at(nth)), upgradeAt: at(stalls.length) };
}
