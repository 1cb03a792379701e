// One address must not block others, and no pass may depend on memory. Compares findings and closing times with and without hostile addresses, and
// checks that deliberately broken watchers are caught.
import { describe, expect, it } from "vitest";
import { CAMPAIGN_LIMIT_MS, printWithTest } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { compareHostile, type HostileTally, type HostileVariant } from "./hostile-addresses.ts";

const SEEDS = process.env.DEEP ? 2_000 : 20;

const lab = new Lab();

async function compare(variant: HostileVariant, count: number, mostProblems: number) {
  const tally: HostileTally = new Map();
  const problems: string[] = [];
  for (let seed = 1; seed <= count && problems.length < mostProblems; seed++) {
    const problem = await compareHostile(lab, seed, variant, tally).catch((error: unknown) => String(error));
    if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
  }
  return { problems, tally };
}

it(`the findings at an address and the closing time of its invoice do not depend on hostile addresses: ${SEEDS} histories`, {
  timeout: CAMPAIGN_LIMIT_MS,
}, async () => {
  const startMs = performance.now();
  const { problems, tally } = await compare({ name: "the real pass" }, SEEDS, 5);
  const seconds = (performance.now() - startMs) / 1_000;
  const distinct = [...tally.keys()].filter((name) => name.startsWith("plan ")).length;
  const misdeeds = [...tally].filter(([name]) => !name.startsWith("plan ")).map(([name, n]) => `${name} ${n}`);
  printWithTest(
    `hostile addresses: ${2 * SEEDS} runs, ${distinct} distinct histories, ${seconds.toFixed(1)} s, ${misdeeds.join(", ")}`,
  );
  expect(problems).toEqual([]);
  for (const misdeed of ["BAD_STATUS", "RATE_LIMITED", "TIMEOUT", "UNEXPECTED_SHAPE", "FLOODED", "SLOW", "LIES_EMPTY"])
    expect(tally.get(misdeed), misdeed).toBeGreaterThan(SEEDS / 20);
});

describe("within 200 histories the simulator catches a watcher that", () => {
  const forgets = (member: string) => (of: Lab) =>
    void of.rows(`update network_cursors set progress = json_remove(progress, '$.${member}') returning 1`);
  it.each<HostileVariant>([
    { name: "keeps the round over addresses in memory", beforePass: forgets("rounds") },
    { name: "keeps in memory how long the second source has been silent", beforePass: forgets("unsecondedMs") },
    { name: "fails the whole scan after one refusal", failsWhole: true },
  ])("$name", { timeout: CAMPAIGN_LIMIT_MS }, async (variant) => {
    const { problems } = await compare(variant, 200, 1);
    printWithTest(`${variant.name}: caught at ${problems[0]}`);
    expect(problems).toHaveLength(1);
  });
});
