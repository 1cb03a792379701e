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
    "an invitation makes one member, by an inviter who could still invite, and whoever is in was told so",
    acceptScenario,
  ],
  ["a merchant has one OWNER, handed over once, and every answer is true", transferScenario],
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

it("every fault befell every point of the team's operations often", () => {
  expect([...totalHits].filter(([, n]) => n < FEWEST_HITS)).toEqual([]);
  expect(totalHits.size).toBeGreaterThan(35);
});

describe("the simulator catches, within 1,000 schedules, a check then an act", () => {
  const caughtBy = async (scenario: Scenario, problem: RegExp) => {
    const report = await runCampaign(scenario, { count: 1_000, stopAt: problem });
    const caught = report.problems.at(-1);
    printWithTest(`${scenario.name}: caught at seed ${caught?.seed}: ${caught?.problem}`);
    expect(caught?.problem).toMatch(problem);
  };

  it("in an acceptance: the inviter's rank is gone when the guest comes in", async () =>
    caughtBy(
      acceptScenario(await seatedLab(), "broken: accept without assertion", acceptUnasserted),
      /could not invite/,
    ));

  it("in a transfer: two members were each made the OWNER, or none was left", async () =>
    caughtBy(
      transferScenario(await seatedLab(), "broken: transfer without assertion", transferUnasserted),
      /\d owners|transfers by one owner/,
    ));
});
