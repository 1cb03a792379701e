// Coins that contracts pay must count once, no matter what sources show of them and in which order (growth-scenario.ts).
import { expect, it } from "vitest";
import { CAMPAIGN_LIMIT_MS, missingKinds, printReport, runCampaign, schedulesOf } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { ETHER_ORDERS } from "./growth-review.ts";
import { growthScenario } from "./growth-scenario.ts";
import { stockTill } from "./payments-till.ts";

const count = schedulesOf(120);

it(
  `native coins that a contract sends count once, no matter when the transactions that explain the balance are read: ${count} schedules`,
  async () => {
    const lab = new Lab();
    await stockTill(lab, ETHER_ORDERS);
    const scenario = growthScenario(lab);
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems.map(({ seed, problem }) => `seed ${seed}: ${problem}`)).toEqual([]);
    expect(missingKinds(report)).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);
