// The simulator of reorgs (reliability.md 6), and a check of it: it must catch watchers that are broken on purpose.
import { beforeAll, describe, expect, it } from "vitest";
import { printWithTest } from "../engine/campaign.ts";
import { byLogIndex, nudged, withoutWalkingBack } from "./reorg-broken.ts";
import { ReorgShop } from "./reorg-shop.ts";
import { type Tally, type Variant, watchTree } from "./reorgs.ts";

const TREES = process.env.DEEP ? 100_000 : 2_000;
const CAUGHT_WITHIN = 1_000;
const MOST_PROBLEMS = 5;
const LIMIT_MS = 7_200_000;

const shop = new ReorgShop();
beforeAll(() => shop.stock());

interface Campaign {
  readonly problems: readonly { readonly seed: number; readonly problem: string }[];
  readonly tally: Tally;
}

/** Runs trees of seeds 1 to `count` until so many have failed; with `stopAt`, only problems like it count. */
async function watchTrees(
  variant: Variant,
  of: { readonly count: number; readonly mostProblems: number; readonly stopAt?: RegExp },
): Promise<Campaign> {
  const problems: { seed: number; problem: string }[] = [];
  const tally: Tally = new Map();
  for (let seed = 1; seed <= of.count && problems.length < of.mostProblems; seed++) {
    const problem = await watchTree(shop, seed, variant, tally).catch((error: unknown) => String(error));
    if (problem !== undefined && of.stopAt?.test(problem) !== false) problems.push({ seed, problem });
  }
  return { problems, tally };
}

const REAL: Variant = { name: "the real pass" };

it(`the stored state ends as the final chain says, with no payment lost or credited twice: ${TREES} trees`, {
  timeout: LIMIT_MS,
}, async () => {
  const startMs = performance.now();
  const { problems, tally } = await watchTrees(REAL, { count: TREES, mostProblems: MOST_PROBLEMS });
  const seconds = (performance.now() - startMs) / 1_000;
  const hits = [...tally].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, n]) => `${name} ${n}`);
  printWithTest(`reorgs: ${TREES} trees in ${seconds.toFixed(1)} s\n${hits.join(", ")}`);
  const [first] = problems;
  if (first !== undefined) {
    const history: string[] = [];
    await watchTree(shop, first.seed, { ...REAL, trace: (line) => history.push(line) }, new Map()).catch(
      () => undefined,
    );
    printWithTest(`history of seed ${first.seed}:\n${history.join("\n")}`);
  }
  expect(problems.map(({ seed, problem }) => `seed ${seed}: ${problem}`)).toEqual([]);
  // Each of these situations must have occurred, or it was not tested.
  expect(tally.get("deepest fork")).toBeGreaterThan(60);
  for (const happening of ["late", "balanced", "unindexed", "forgetful", "failing", "died", "pass failed"]) {
    expect(tally.get(happening), happening).toBeGreaterThan(TREES / 20);
  }
  for (const status of ["PAID", "OVERPAID", "UNDERPAID", "EXPIRED"]) {
    expect(tally.get(`invoice ${status}`), status).toBeGreaterThan(TREES / 50);
  }
  for (const status of ["CONFIRMED", "UNMATCHED", "IGNORED", "gone"]) {
    expect(tally.get(`payment ${status}`), status).toBeGreaterThan(TREES / 50);
  }
});

describe(`within ${CAUGHT_WITHIN} trees a broken watcher is caught that`, () => {
  it.each([
    // One transfer is counted as often as it was mined.
    { variant: byLogIndex, stopAt: /^inv_\S+ is (OVERPAID|PAID)/ },
    { variant: nudged, stopAt: /^inv_\S+ is / },
    { variant: withoutWalkingBack, stopAt: /not on the chain|was never seen|^inv_\S+ is / },
  ])("$variant.name", { timeout: LIMIT_MS }, async ({ variant, stopAt }) => {
    const { problems } = await watchTrees(variant, { count: CAUGHT_WITHIN, mostProblems: 1, stopAt });
    printWithTest(`${variant.name}: caught at seed ${problems[0]?.seed}: ${problems[0]?.problem}`);
    expect(problems).toHaveLength(1);
  });
});
