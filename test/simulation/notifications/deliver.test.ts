import { describe, expect, it } from "vitest";
import { deliverTo } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import {
  CAMPAIGN_LIMIT_MS,
  FEWEST_HITS,
  printReport,
  printWithTest,
  runCampaign,
  schedulesOf,
} from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { recordsFirst, withoutLease, withoutToken } from "./deliver-broken.ts";
import { deliverScenario } from "./deliver-scenario.ts";
import { stockHooks } from "./webhook-stock.ts";

// A broken delivery must be caught within as many schedules as `npm run test:all` runs of the real one; otherwise that number would be too small.
const SCHEDULES = 1_000;
const count = schedulesOf(SCHEDULES);

it(
  `every event is delivered to every active endpoint or fails after its attempts, despite crashes: ${count} schedules`,
  async () => {
    const lab = new Lab();
    await stockHooks(lab);
    const scenario = deliverScenario(lab, "deliver", deliverTo);
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    expect([...report.hits].filter(([, n]) => n < FEWEST_HITS)).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);

describe(`within ${SCHEDULES} schedules the simulator catches deliveries that`, () => {
  it.each([
    ["are recorded as succeeded before they are sent", recordsFirst, /succeeded and nobody accepted it/],
    ["are leased without an expiry", withoutLease, /is stuck, claimed/],
    ["record a failure without holding the lease", withoutToken, /succeeded and then did not/],
  ] as const)("%s", async (what, deliver, problem) => {
    const lab = new Lab();
    await stockHooks(lab);
    const scenario = deliverScenario(lab, `deliveries that ${what}`, deliver);
    const report = await runCampaign(scenario, { count: SCHEDULES, stopAt: problem });
    const caught = report.problems.at(-1);
    printWithTest(`${scenario.name}: caught at seed ${caught?.seed}: ${caught?.problem}`);
    expect(caught?.problem).toMatch(problem);
  });
});
