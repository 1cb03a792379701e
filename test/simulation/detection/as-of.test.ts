// Facts count as of the payment's time (decisions 4 and 5): the same facts give the same credits, values and statuses, no matter when and in which
// order they are read. Each schedule of a history is compared with the oracle, which reads only the facts.
import { describe, expect, it } from "vitest";
import {
  CAMPAIGN_LIMIT_MS,
  campaignSeeds,
  keepSeeds,
  MOST_PROBLEMS,
  pastSeedsOf,
  printWithTest,
  seedsTo,
  tellProgress,
} from "../engine/campaign.ts";
import { AsOfTill } from "./as-of-adapter.ts";
import { byStatus, byToday, honoured, redated } from "./as-of-broken.ts";
import { printHistory } from "./as-of-facts.ts";
import { expectedOf } from "./as-of-oracle.ts";
import { problemOf } from "./as-of-problem.ts";
import { historyOf } from "./as-of-scenario.ts";
import { orderOf, printSchedule, type Schedule, scheduleOf } from "./as-of-schedule.ts";
import { Tally } from "./as-of-tally.ts";

const HISTORIES = process.env.DEEP ? 100_000 : 1_250;
const SCHEDULES = 6;
const FEWEST_HITS = 100;
const CAUGHT_WITHIN = 200;
const NAME = "facts as of their time";

interface Problem {
  readonly seed: number;
  readonly text: string;
  readonly schedule: Schedule;
}

interface Campaign {
  readonly problems: readonly Problem[];
  readonly schedules: number;
  readonly interleavings: number;
  readonly tally: Tally;
}

/** Runs the histories of these seeds until `most` of them have a schedule that fails with a problem that matches `counts`. */
async function campaign(
  till: AsOfTill,
  seeds: Iterable<number>,
  { counts = /./, most = MOST_PROBLEMS } = {},
): Promise<Campaign> {
  await till.stock();
  const problems: Problem[] = [];
  const tally = new Tally();
  let schedules = 0;
  let interleavings = 0;
  for (const seed of seeds) {
    if (problems.length === most) break;
    tellProgress(NAME, seed, HISTORIES, problems.length);
    const history = historyOf(seed);
    const expected = expectedOf(history);
    tally.history(history, expected);
    const orders = new Set<string>();
    for (let n = 0; n < SCHEDULES; n++) {
      const schedule = scheduleOf(history, n);
      tally.schedule(history, expected, schedule);
      orders.add(orderOf(schedule));
      schedules++;
      const text = await problemOf(till, history, expected, schedule);
      if (text === undefined || !counts.test(text)) continue;
      problems.push({ seed, text, schedule });
      break;
    }
    interleavings += orders.size;
  }
  return { problems, schedules, interleavings, tally };
}

it(`the same facts give the same result whenever they are read: ${HISTORIES} histories in ${SCHEDULES} schedules each`, {
  timeout: CAMPAIGN_LIMIT_MS,
}, async () => {
  const startMs = performance.now();
  const { problems, schedules, interleavings, tally } = await campaign(new AsOfTill(), [
    ...pastSeedsOf(NAME),
    ...campaignSeeds(HISTORIES),
  ]);
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  const lines = [...tally.hits].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, n]) => `  ${name}: ${n}`);
  const sums = `${schedules} schedules, ${interleavings} distinct interleavings, ${seconds} s`;
  printWithTest(`${NAME}: ${sums}\n${lines.join("\n")}`);
  for (const { seed, text, schedule } of problems) {
    printWithTest(`seed ${seed}: ${text}\n${printHistory(historyOf(seed))}\n${printSchedule(schedule)}\n`);
  }
  if (problems.length > 0) {
    keepSeeds(
      NAME,
      problems.map(({ seed }) => seed),
    );
  }
  expect(problems.map(({ seed, text }) => `seed ${seed}: ${text}`)).toEqual([]);
  expect([...tally.hits].filter(([, n]) => n < FEWEST_HITS)).toEqual([]);
});

describe(`within ${CAUGHT_WITHIN} histories the campaign catches the mistake that`, () => {
  it.each([
    { variant: redated, problem: /^inv_/ },
    { variant: byToday, problem: /^tx-/ },
    { variant: byStatus, problem: /^tx-/ },
    { variant: honoured, problem: /^inv_/ },
  ])("$variant.name", { timeout: CAMPAIGN_LIMIT_MS }, async ({ variant, problem }) => {
    const { problems } = await campaign(new AsOfTill(variant), seedsTo(CAUGHT_WITHIN), { counts: problem, most: 1 });
    const [first] = problems;
    printWithTest(`${variant.name}: caught at seed ${first?.seed}: ${first?.text}`);
    expect(first).toBeDefined();
  });
});
