import { expect, it } from "vitest";
import { CAMPAIGN_LIMIT_MS, FEWEST_HITS, printReport, runCampaign, schedulesOf } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { awaited, promised, watcherScenario } from "./watcher-scenario.ts";

const count = schedulesOf(1_000, 50);

it(
  `a watcher that crashes between any two awaits loses no payment and keeps none that left the chain: ${count} schedules`,
  async () => {
    const lab = new Lab();
    const scenario = watcherScenario(lab, awaited);
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    expect([...report.hits].filter(([, n]) => n < FEWEST_HITS)).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);

it("a cursor that moves before its results are committed is caught within 1,000 schedules", async () => {
  const lab = new Lab();
  const scenario = watcherScenario(lab, promised);
  const report = await runCampaign(scenario, { count: 1_000, stopAt: /was lost|is nowhere|stored in/ });
  printReport(scenario, report);
  expect(report.problems.length).toBeGreaterThan(0);
});
