import { expect, it } from "vitest";
import { CAMPAIGN_LIMIT_MS, printReport, runCampaign, schedulesOf } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { amountsScenario } from "./amounts-scenario.ts";
import { stockShop } from "./shop.ts";

const count = schedulesOf(600);

it(
  `an amount is one invoice's to its end, then free, whatever is lost and whoever dies: ${count} schedules`,
  async () => {
    const lab = new Lab();
    await stockShop(lab);
    const tally = { reused: 0 };
    const scenario = amountsScenario(lab, tally);
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    expect(tally.reused).toBeGreaterThan(report.schedules / 2);
    for (const point of ["allocate amounts", "release amounts"])
      for (const fate of ["lost before", "answer lost", "client dies after"])
        expect([point, fate, report.hits.get(`${point}: ${fate}`)]).toSatisfy(([, , n]) => Number(n) >= 10);
  },
  CAMPAIGN_LIMIT_MS,
);
