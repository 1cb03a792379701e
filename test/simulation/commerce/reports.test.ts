// The real operations generate histories of a shop. After each step the buckets must equal a recount, and in each time zone a report's days, weeks
// and months must match that zone's calendar.
import { beforeAll, expect, it } from "vitest";
import { exportPayments } from "../../../src/commerce/exports/export-rows.ts";
import {
  clockOf,
  dateOf,
  dayOf,
  PERIOD_KINDS,
  type Period,
  type PeriodKind,
  periodsOf,
} from "../../../src/commerce/reports/calendar.ts";
import { selectPeriodSums } from "../../../src/commerce/reports/store.ts";
import { totalsBodyOf } from "../../../src/commerce/reports/totals-body.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { triesOf } from "../../support/property-runs.ts";
import {
  add,
  type Counted,
  differenceOf,
  type RecountTables,
  recountOf,
  recountProblem,
  recountTables,
} from "../../support/report-recount.ts";
import { REPORT_ZONES } from "../../support/report-zones.ts";
import { instantSleep } from "../detection/reorg-shop.ts";
import { printWithTest } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { World } from "../engine/world.ts";
import { ReportedShop, stockReportedShop } from "./reported-shop.ts";
import { MERCHANT } from "./shop.ts";

const HISTORIES = triesOf({ usual: 120, deep: 10_000 });
const STEPS = 40;
const LIMIT_MS = 7_200_000;

const lab = new Lab();
const db = lab.db(async (_, work) => work());
beforeAll(() => stockReportedShop(lab));

const tally = new Map<string, number>();
const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);

async function problemOf(seed: number): Promise<string | undefined> {
  const world = new World({ seed, faultChance: 0, isTraced: false, onEviction: () => {} });
  return lab.schedule(world, async () => {
    const shop = new ReportedShop(lab, seed, count);
    for (let step = 0; step < STEPS; step++) {
      const act = await shop.act();
      const problem = recountProblem(tables());
      if (problem !== undefined) return `after step ${step}, ${act}: ${problem}`;
    }
    for (const status of shop.statuses()) count(`invoice ${status}`);
    return (await zonesProblem(shop.startMs, shop.nowMs)) ?? statementsProblem(seed, shop.startMs, shop.nowMs);
  });
}

const tables = (): RecountTables => recountTables((sql) => lab.rows(sql));

async function zonesProblem(fromMs: number, toMs: number): Promise<string | undefined> {
  for (const timezone of REPORT_ZONES) {
    for (const by of PERIOD_KINDS) {
      const { reported, received } = await reportOf(timezone, by, {
        fromMs: fromMs - STEPS * DAY_MS,
        toMs: toMs + DAY_MS,
      });
      const calendar = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short" });
      const recounted = recountOf(tables(), (ms) => firstDateOf(calendar.format(ms), by));
      const problem = differenceOf(reported, recounted);
      if (problem !== undefined) return `${timezone} by ${by}: ${problem}`;
      const wrong = differenceOf(received, receivedIn(recounted));
      if (wrong !== undefined) return `${timezone} by ${by}, received: ${wrong}`;
    }
  }
  return undefined;
}

/** The monthly statements must contain each payment that the totals count exactly once, and their sums must equal the totals. */
async function statementsProblem(seed: number, fromMs: number, toMs: number): Promise<string | undefined> {
  for (const timezone of REPORT_ZONES.slice(seed % REPORT_ZONES.length).slice(0, 1)) {
    const stated: Counted = new Map();
    const ids: string[] = [];
    for (const { startsAtMs, endsAtMs, fromDay } of wholePeriods(timezone, "month", {
      fromMs: fromMs - STEPS * DAY_MS,
      toMs: toMs + 40 * DAY_MS,
    })) {
      const range = { fromMs: startsAtMs, beforeMs: endsAtMs, asOfMs: toMs, isCounted: true };
      const pages = await exportPayments(
        { db, sleep: instantSleep, clock: () => 0, waitOf: async () => 0 },
        MERCHANT,
        range,
      );
      if (!pages.ok) return pages.error.code;
      for await (const page of pages.value) {
        for (const { id, currency, network, cryptocurrency, fiatMicros } of page) {
          ids.push(id);
          const place = [MERCHANT, dateOf(fromDay), currency, network, cryptocurrency].join(" ");
          add(stated, `${place} payments`, 1n);
          if (fiatMicros !== null) add(stated, `${place} fiat`, fiatMicros);
        }
      }
    }
    if (new Set(ids).size < ids.length) return `${timezone}: a payment is in two statements`;
    const calendar = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short" });
    const recounted = recountOf(tables(), (ms) => firstDateOf(calendar.format(ms), "month"));
    const counted = new Map([...recounted].filter(([key, value]) => /(payments|fiat)$/.test(key) && value !== 0n));
    const problem = differenceOf(new Map([...stated].filter(([, value]) => value !== 0n)), counted);
    if (problem !== undefined) return `${timezone}, statements: ${problem}`;
  }
  return undefined;
}

/** The first day of the week or month that contains a date. */
function firstDateOf(date: string, by: PeriodKind): string {
  if (by === "day") return date;
  if (by === "month") return `${date.slice(0, 7)}-01`;
  const sinceMonday = (new Date(date).getUTCDay() + 6) % 7;
  return dateOf(dayOf(date) - sinceMonday);
}

const NAMES_IN_RECOUNT: Readonly<Record<string, string>> = { secondsToPaid: "seconds_to_paid", fiatMicros: "fiat" };

/** Income by date and currency from a recount, without test networks, whose coins are worthless. */
function receivedIn(recounted: Counted): Counted {
  const received: Counted = new Map();
  for (const [key, value] of recounted) {
    const [, date, currency, network, , measure] = key.split(" ");
    if (measure === "fiat" && network !== "ETH_SEPOLIA") add(received, `${date} ${currency}`, value);
  }
  return received;
}

function wholePeriods(
  timezone: string,
  by: PeriodKind,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly Period[] {
  const clock = clockOf(timezone);
  if (clock === undefined) throw new Error(`no zone ${timezone}`);
  const from = dayOf(firstDateOf(dateOf(Math.floor(fromMs / DAY_MS)), by));
  return periodsOf(clock, { from, to: Math.floor(toMs / DAY_MS), by });
}

/** The sums of a report over whole periods, with a recount's keys, and the received sums in its response. */
async function reportOf(
  timezone: string,
  by: PeriodKind,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<{ readonly reported: Counted; readonly received: Counted }> {
  const periods = wholePeriods(timezone, by, { fromMs, toMs });
  const counted: Counted = new Map();
  const rows = await selectPeriodSums(db, MERCHANT, { periods });
  for (const { period, currency, network, cryptocurrency, sums } of rows) {
    const date = dateOf(periods[period]?.fromDay ?? 0);
    for (const [name, value] of Object.entries(sums)) {
      const place = [MERCHANT, date, currency, network, cryptocurrency].join(" ");
      add(counted, `${place} ${NAMES_IN_RECOUNT[name] ?? name}`, value);
    }
  }
  const body = totalsBodyOf({ from: "", to: "", by, timezone, periods }, rows);
  const received: Counted = new Map();
  for (const period of body.periods) {
    for (const { currency, amount } of period.received)
      add(received, `${period.from} ${currency}`, BigInt(amount.replace(".", "")));
  }
  return { reported: counted, received };
}

it(`reports equal a recount of all rows, at any time and in any zone: ${HISTORIES} histories`, {
  timeout: LIMIT_MS,
}, async () => {
  const problems: string[] = [];
  for (let seed = 1; seed <= HISTORIES && problems.length < 3; seed++) {
    const problem = await problemOf(seed);
    if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
  }
  const hits = [...tally].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, n]) => `${name} ${n}`);
  printWithTest(`reports: ${hits.join(", ")}`);
  expect(problems).toEqual([]);
  // Situations that must each have happened at least once.
  const happenings = [
    "reversed",
    "dropped",
    "mined earlier",
    "back after days",
    "late",
    "unpriced",
    "priced",
    "assigned",
    "ACCEPT",
    "RETURNED",
    "paid on a test network",
  ];
  for (const name of [...happenings, "invoice CANCELLED", "invoice EXPIRED", "invoice OVERPAID", "invoice UNDERPAID"]) {
    expect(tally.get(name) ?? 0, name).toBeGreaterThan(HISTORIES / 20 - 1);
  }
});
