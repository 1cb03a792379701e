// The reorg simulator (reliability.md 6), and a check that it catches deliberately broken watchers.
import { beforeAll, describe, expect, it } from "vitest";
import {
  CAMPAIGN_LIMIT_MS,
  campaignSeeds,
  keepSeeds,
  MOST_PROBLEMS,
  pastSeedsOf,
  printWithTest,
  seedsTo,
  tellProgress,
} from "../engine/campaign.ts";
import { LIES } from "./forging.ts";
import { creditsImmature, keepsChild, keepsCoinbase } from "./kin-broken.ts";
import {
  byLogIndex,
  keepsAmount,
  keepsAsset,
  keepsRecipient,
  nudged,
  timedByBlock,
  trustsMempool,
  withoutWalkingBack,
} from "./reorg-broken.ts";
import { ReorgShop } from "./reorg-shop.ts";
import { type Tally, type Variant, watchTree } from "./reorgs.ts";

const TREES = process.env.DEEP ? 1_000_000 : 2_000;
const CAUGHT_WITHIN = 1_000;
const NAME = "forks";

const shop = new ReorgShop();
beforeAll(() => shop.stock());

interface Campaign {
  readonly problems: readonly { readonly seed: number; readonly problem: string }[];
  readonly trees: number;
  readonly tally: Tally;
}

/** Runs the trees of these seeds until this many have failed; with `stopAt`, only problems that match it count. */
async function watchTrees(
  variant: Variant,
  of: { readonly seeds: Iterable<number>; readonly mostProblems: number; readonly stopAt?: RegExp },
): Promise<Campaign> {
  const problems: { seed: number; problem: string }[] = [];
  const tally: Tally = new Map();
  let trees = 0;
  for (const seed of of.seeds) {
    if (problems.length === of.mostProblems) break;
    trees++;
    if (of.stopAt === undefined) tellProgress(NAME, seed, TREES, problems.length);
    const problem = await watchTree(shop, seed, variant, tally).catch((error: unknown) => String(error));
    if (problem !== undefined && of.stopAt?.test(problem) !== false) problems.push({ seed, problem });
  }
  return { problems, trees, tally };
}

const REAL: Variant = { name: "the real pass" };

it(`the final stored state matches the final chain, with no payment lost or credited twice: ${TREES} trees`, {
  timeout: CAMPAIGN_LIMIT_MS,
}, async () => {
  const startMs = performance.now();
  const seeds = [...pastSeedsOf(NAME), ...campaignSeeds(TREES)];
  const { problems, trees, tally } = await watchTrees(REAL, { seeds, mostProblems: MOST_PROBLEMS });
  const seconds = (performance.now() - startMs) / 1_000;
  const hits = [...tally].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, n]) => `  ${name}: ${n}`);
  const speed = `${seconds.toFixed(1)} s, ${Math.round(trees / seconds)} trees/s`;
  printWithTest(`reorgs: ${trees} trees in ${speed}\n${hits.join("\n")}`);
  const [first] = problems;
  if (first !== undefined) {
    keepSeeds(
      NAME,
      problems.map(({ seed }) => seed),
    );
    const history: string[] = [];
    await watchTree(shop, first.seed, { ...REAL, trace: (line) => history.push(line) }, new Map()).catch(
      () => undefined,
    );
    printWithTest(`history of seed ${first.seed}:\n${history.join("\n")}`);
  }
  expect(problems.map(({ seed, problem }) => `seed ${seed}: ${problem}`)).toEqual([]);
  // Each of these situations must have occurred; otherwise it was not tested.
  expect(tally.get("deepest fork")).toBeGreaterThan(60);
  for (const happening of ["late", "balanced", "unindexed", "forgetful", "failing", "died", "pass failed"]) {
    expect(tally.get(happening), happening).toBeGreaterThan(trees / 20);
  }
  for (const happening of ADVERSITIES) {
    expect(tally.get(happening) ?? 0, happening).toBeGreaterThan(trees / 500);
  }
  for (const status of ["PAID", "OVERPAID", "UNDERPAID", "EXPIRED"]) {
    expect(tally.get(`invoice ${status}`), status).toBeGreaterThan(trees / 50);
  }
  for (const status of ["CONFIRMED", "UNMATCHED", "IGNORED", "gone"]) {
    expect(tally.get(`payment ${status}`), status).toBeGreaterThan(trees / 50);
  }
});

/** What miners, payers, contracts and lying sources did. */
const ADVERSITIES = [
  "clock: ahead, UTXO",
  "clock: behind, UTXO",
  "clock: ahead, accounts",
  "clock: behind, accounts",
  "clock: ahead by an hour or more",
  "clock: behind by more than two blocks",
  "shown again: another amount",
  "shown again: another recipient",
  "shown again: another asset",
  ...LIES.map((kind) => `lie: ${kind} in blocks`),
  ...LIES.filter((kind) => kind !== "branch").map((kind) => `lie: ${kind} in a mempool`),
  "two sources must agree",
  "coinbase mined",
  "coinbase gone",
  "child in its parent's block",
  "child in a later block than its parent",
  "child with its parent here, later there",
  "mined child gone with its parent",
  "replaced in a mempool",
  "replaced in a mempool with its child",
  "limit: statements",
  "limit: worker",
  "limit: database",
  "pass ended",
];

describe(`within ${CAUGHT_WITHIN} trees the simulator catches a watcher that`, () => {
  it.each([
    // A transfer is counted once for each time it was mined.
    { variant: byLogIndex, stopAt: /^inv_\S+ is (OVERPAID|PAID)/ },
    { variant: nudged, stopAt: /^inv_\S+ is / },
    { variant: withoutWalkingBack, stopAt: /not on the chain|was never seen|^inv_\S+ is / },
    { variant: keepsAmount, stopAt: /^inv_\S+ is (OVERPAID|PAID|UNDERPAID|EXPIRED)/ },
    { variant: keepsRecipient, stopAt: /^inv_\S+ is (OVERPAID|PAID|UNDERPAID|EXPIRED)/ },
    { variant: keepsAsset, stopAt: /^(inv_|tx-|rival-)\S+ is / },
    { variant: trustsMempool, stopAt: /^(inv_|tx-|rival-)\S+ (is|counts) / },
    { variant: timedByBlock, stopAt: /after it was seen$/ },
    { variant: keepsCoinbase, stopAt: /^inv_\S+ is / },
    { variant: keepsChild, stopAt: /^(inv_|child-)\S+ is / },
    { variant: creditsImmature, stopAt: /^coinbase-\S+ is CONFIRMED, and nobody may spend it/ },
  ])("$variant.name", { timeout: CAMPAIGN_LIMIT_MS }, async ({ variant, stopAt }) => {
    const { problems } = await watchTrees(variant, { seeds: seedsTo(CAUGHT_WITHIN), mostProblems: 1, stopAt });
    printWithTest(`${variant.name}: caught at seed ${problems[0]?.seed}: ${problems[0]?.problem}`);
    expect(problems).toHaveLength(1);
  });
});
