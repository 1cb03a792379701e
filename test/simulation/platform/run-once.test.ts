import { expect, it } from "vitest";
import { runOnce } from "../../../src/platform/idempotency/run-once.ts";
import { CAMPAIGN_LIMIT_MS, printReport, rareHits, runCampaign, schedulesOf } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { runOnceScenario } from "./run-once-scenario.ts";

const count = schedulesOf(5_000);

it(
  `an operation runs once per key and always gives the same answer, despite crashes, stalls and lost calls: ${count} schedules`,
  async () => {
    const scenario = runOnceScenario(new Lab(), "run once", runOnce);
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    expect(rareHits(report)).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);
