import { describe, expect, it } from "vitest";
import { runOnce } from "../../../src/platform/idempotency/run-once.ts";
import { runOnceScenario } from "../platform/run-once-scenario.ts";
import { checkThenAct, forgottenOnRefusal, forgottenReservation, untiedEffects } from "./broken-protocols.ts";
import {
  CAMPAIGN_LIMIT_MS,
  printReport,
  printWithTest,
  rareHits,
  runCampaign,
  runSchedule,
  type Scenario,
  schedulesOf,
} from "./campaign.ts";
import { Lab } from "./lab.ts";
import { nudged, recomputed, transfersScenario } from "./transfers-scenario.ts";

/** A broken protocol must be caught within this many schedules. */
const CAUGHT_WITHIN = 1_000;

async function expectCaught(scenario: Scenario, problem: RegExp): Promise<void> {
  const report = await runCampaign(scenario, { count: CAUGHT_WITHIN, stopAt: problem });
  const caught = report.problems.at(-1);
  printWithTest(`${scenario.name}: caught at seed ${caught?.seed}: ${caught?.problem}`);
  expect(caught?.problem).toMatch(problem);
}

describe("within 1,000 schedules the simulator catches", () => {
  it("effects that are not committed together with the idempotency key", () =>
    expectCaught(runOnceScenario(new Lab(), "broken: untied effects", untiedEffects), /invoices for 2 keys/));

  it("a check followed by an unguarded write", () =>
    expectCaught(runOnceScenario(new Lab(), "broken: check then act", checkThenAct), /invoices for 2 keys/));

  it("a sum that is incremented instead of recomputed", () =>
    expectCaught(transfersScenario(new Lab(), "broken: nudged", nudged), /events for 3 transfers/));

  it("a reservation that is dropped after a fault", () =>
    expectCaught(
      runOnceScenario(new Lab(), "broken: reservation forgotten on a fault", forgottenReservation),
      /invoices for 2 keys/,
    ));

  it("a reservation that is dropped after a refusal", () =>
    expectCaught(
      runOnceScenario(new Lab(), "broken: reservation forgotten on a refusal", forgottenOnRefusal),
      /invoices for 2 keys/,
    ));
});

describe("the simulator", () => {
  it("replays the same history for the same seed, and a different one for another seed", async () => {
    const scenario = runOnceScenario(new Lab(), "run once", runOnce);
    const history = async (seed: number) => (await runSchedule(scenario, seed, true)).world.trace;
    const first = await history(7);
    await history(8);
    expect(await history(7)).toEqual(first);
    expect(await history(8)).not.toEqual(first);
    expect(first.length).toBeGreaterThan(10);
  });

  it(
    "finds no problem in a sum that is recomputed",
    async () => {
      const scenario = transfersScenario(new Lab(), "transfers", recomputed);
      const report = await runCampaign(scenario, { count: schedulesOf(3_000), keepsSeeds: true });
      printReport(scenario, report);
      expect(report.problems).toEqual([]);
      expect(rareHits(report)).toEqual([]);
    },
    CAMPAIGN_LIMIT_MS,
  );
});
