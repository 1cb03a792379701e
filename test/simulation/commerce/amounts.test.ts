import { describe, expect, it } from "vitest";
import {
  CAMPAIGN_LIMIT_MS,
  missingKinds,
  printReport,
  printWithTest,
  runCampaign,
  schedulesOf,
} from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { type AmountsVariant, amountsScenario } from "./amounts-scenario.ts";
import { stockShop } from "./shop.ts";

const count = schedulesOf(600);

it(
  `an amount is reserved for one invoice until its reservation ends, and is available again after that, despite lost calls and crashes: ${count} schedules`,
  async () => {
    const lab = new Lab();
    await stockShop(lab);
    const tally = { reused: 0 };
    const scenario = amountsScenario(lab, tally);
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    expect(missingKinds(report)).toEqual([]);
    expect(tally.reused).toBeGreaterThan(report.schedules / 2);
    for (const point of ["allocate amounts", "release amounts"])
      for (const fate of ["lost before", "answer lost", "client dies after"])
        expect(report.hits.get(`${point}: ${fate}`) ?? 0, `${point}: ${fate}`).toBeGreaterThanOrEqual(10);
  },
  CAMPAIGN_LIMIT_MS,
);

/** Deliberately broken variants. They would work if every network lagged by one minute. */
const BROKEN: readonly AmountsVariant[] = [
  { name: "releases amounts before their network was read", passedMs: (_, __, nowMs) => nowMs },
  { name: "waits only for the network that is read furthest", passedMs: (read) => Math.max(...read.values()) },
];

describe("within 200 schedules the simulator catches a job that", () => {
  it.each(BROKEN)("$name", { timeout: CAMPAIGN_LIMIT_MS }, async (variant) => {
    const lab = new Lab();
    await stockShop(lab);
    const problem = /before their network was read/;
    const scenario = amountsScenario(lab, { reused: 0 }, variant);
    const report = await runCampaign(scenario, { count: 200, stopAt: problem });
    const caught = report.problems.at(-1);
    printWithTest(`${variant.name}: caught at seed ${caught?.seed}: ${caught?.problem}`);
    expect(caught?.problem).toMatch(problem);
  });
});
