import { describe, expect, it } from "vitest";
import {
  CAMPAIGN_LIMIT_MS,
  FEWEST_HITS,
  printReport,
  printWithTest,
  runCampaign,
  type Scenario,
  schedulesOf,
} from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { seatTeam } from "./team.ts";
import { acceptScenario, acceptUnasserted, transferScenario, transferUnasserted } from "./teams-scenario.ts";

const count = schedulesOf(1_200);
const totalHits = new Map<string, number>();

async function seatedLab(): Promise<Lab> {
  const lab = new Lab();
  await seatTeam(lab);
  return lab;
}

it.each([
  [
    "an invitation adds one member, whose response reports success, and only while the inviter may still invite",
    acceptScenario,
  ],
  [
    "a merchant always has exactly one OWNER, ownership is transferred once, and every response states what happened",
    transferScenario,
  ],
] as const)(
  `%s: ${count} schedules`,
  async (_, scenarioOf) => {
    const scenario = scenarioOf(await seatedLab());
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    for (const [name, n] of report.hits) totalHits.set(name, (totalHits.get(name) ?? 0) + n);
    expect(report.problems).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);

it("every fault is injected often enough at every point of the team operations", () => {
  expect([...totalHits].filter(([, n]) => n < FEWEST_HITS)).toEqual([]);
  expect(totalHits.size).toBeGreaterThan(35);
});

describe("within 1,000 schedules the simulator catches a check followed by an unguarded write", () => {
  const caughtBy = async (scenario: Scenario, problem: RegExp) => {
    const report = await runCampaign(scenario, { count: 1_000, stopAt: problem });
    const caught = report.problems.at(-1);
    printWithTest(`${scenario.name}: caught at seed ${caught?.seed}: ${caught?.problem}`);
    expect(caught?.problem).toMatch(problem);
  };

  it("in accepting an invitation: the guest joins although the inviter was demoted or removed", async () =>
    caughtBy(
      acceptScenario(await seatedLab(), "broken: accept without assertion", acceptUnasserted),
      /could not invite/,
    ));

  it("in transferring ownership: two OWNERs remain, or none", async () =>
    caughtBy(
      transferScenario(await seatedLab(), "broken: transfer without assertion", transferUnasserted),
      /\d owners|transfers by one owner/,
    ));
});
