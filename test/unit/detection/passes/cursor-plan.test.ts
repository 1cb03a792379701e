import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import {
  type Checkpoint,
  checkpointsAfter,
  chunkBlocks,
  chunkEnd,
  isTickStale,
  isTipOld,
  parseCheckpoints,
  pauseMs,
  printCheckpoints,
  secondOpinionBlocks,
  walkBackBlocks,
} from "../../../../src/detection/passes/cursor-plan.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { networkOf } from "../../../support/watcher.ts";

const positive = fc.integer({ min: 1, max: 1_000 });

describe("checkpoints", () => {
  /** The checkpoints after the cursor has moved from height 0 by each of `strides` in turn. */
  function walked(strides: readonly number[], windowBlocks: number) {
    let height = 0;
    let checkpoints: readonly Checkpoint[] = [];
    const left: number[] = [];
    for (const stride of strides) {
      left.push(height);
      const to = { height: height + stride, windowBlocks };
      checkpoints = checkpointsAfter(checkpoints, { height, hash: `h${height}` }, to);
      height += stride;
    }
    return { height, checkpoints, left };
  }

  it("are at most 18 past positions of the cursor, in ascending order, and end with the last one", () => {
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1, maxLength: 200 }), positive, (strides, windowBlocks) => {
        const { checkpoints, left } = walked(strides, windowBlocks);
        const heights = checkpoints.map(({ height }) => height);
        expect(heights).toEqual([...new Set(heights)].toSorted((a, b) => a - b));
        expect(heights.length).toBeLessThanOrEqual(18);
        expect(left).toEqual(expect.arrayContaining(heights));
        expect(heights.at(-1)).toBe(left.at(-1));
        for (const { height, hash } of checkpoints) expect(hash).toBe(`h${height}`);
      }),
      { numRuns: RUNS },
    );
  });

  it("leave gaps of at most two sixteenths of the window", () => {
    fc.assert(
      fc.property(positive, fc.integer({ min: 1, max: 4 }), (windowBlocks, stride) => {
        const strides = Array.from({ length: Math.ceil(windowBlocks / stride) + 1 }, () => stride);
        const { checkpoints, height } = walked(strides, windowBlocks);
        const width = Math.ceil(windowBlocks / 16);
        const heights = [Math.max(0, height - windowBlocks), ...checkpoints.map((each) => each.height)];
        for (const [n, each] of heights.entries()) {
          const next = heights[n + 1] ?? each;
          expect(next - each).toBeLessThanOrEqual(2 * Math.max(width, stride));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("are unchanged after printing and parsing", () => {
    const some = [
      { height: 5, hash: "0xab" },
      { height: 9, hash: "0xcd" },
    ];
    expect(printCheckpoints(some)).toBe('[[5,"0xab"],[9,"0xcd"]]');
    expect(parseCheckpoints(printCheckpoints(some))).toEqual(some);
    expect(parseCheckpoints("[]")).toEqual([]);
  });
});

describe("a chunk", () => {
  it("starts at the cursor, never exceeds the tip or its size, and reaches the tip in the end", () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(1_000), positive, (cursorHeight, above, blocks) => {
        const tipHeight = cursorHeight + above;
        let at = cursorHeight;
        for (let chunks = 0; at < tipHeight; chunks++) {
          const end = chunkEnd({ cursorHeight: at, tipHeight, blocks });
          expect(end).toBeGreaterThan(at);
          expect(end - at).toBeLessThanOrEqual(blocks);
          expect(chunks).toBeLessThan(1_001);
          at = end;
        }
        expect(at).toBe(tipHeight);
      }),
      { numRuns: RUNS },
    );
  });

  it("is small if whole blocks are read, and large if logs are read", () => {
    expect(chunkBlocks(networkOf("BTC"), true)).toBe(6);
    expect(chunkBlocks(networkOf("ETH"), true)).toBe(25);
    expect(chunkBlocks(networkOf("ETH"), false)).toBe(500);
    expect(chunkBlocks(networkOf("POL"), true)).toBe(500);
  });
});

describe("the range in which a fork is searched for", () => {
  it("is larger than the reorg window and the overlap of every network", () => {
    for (const network of NETWORKS) {
      expect(walkBackBlocks(network)).toBeGreaterThan(network.reorgWindowBlocks);
      expect(walkBackBlocks(network)).toBeGreaterThan(network.overlapBlocks);
    }
  });
});

describe("the blocks that are requested from a second source", () => {
  it("reach at least two hours back on every network, even if its block time is short", () => {
    for (const network of NETWORKS)
      expect(secondOpinionBlocks(network) * network.blockSeconds).toBeGreaterThanOrEqual(7_200);
    expect(secondOpinionBlocks(networkOf("ETH"))).toBe(5_000);
    expect(secondOpinionBlocks(networkOf("ARBITRUM"))).toBe(28_800);
  });
});

describe("the polling interval", () => {
  it.each([
    ["its own by default", "BTC", null, false, 30_000],
    ["what POLL_SECONDS says", "BTC", 0.05, false, 50],
    ["a second while it is behind", "BTC", null, true, 1_000],
    ["what POLL_SECONDS says, if that is less than a second, while it is behind", "ETH", 0.05, true, 50],
  ] as const)("of a network is %s", (_, name, pollSeconds, isBehind, expected) => {
    expect(pauseMs(networkOf(name), pollSeconds, isBehind)).toBe(expected);
  });

  it.each([
    ["never ticked", null, true],
    ["ticked a minute ago", 60_000, false],
    ["ticked three intervals ago", 90_001, true],
  ])("makes a watcher that %s (%s ms) stale: %s", (_, agoMs, expected) => {
    const tickedAtMs = agoMs === null ? null : 1_000_000 - agoMs;
    expect(isTickStale({ tickedAtMs }, 30_000, 1_000_000)).toBe(expected);
  });
});

describe("a tip", () => {
  it.each([
    ["ETH", 300_000, false],
    ["ETH", 300_001, true],
    ["BTC", 6_000_000, false],
    ["BTC", 6_000_001, true],
    ["BTC_REGTEST", 1e12, false],
  ] as const)("of %s that is %s ms old is out of date: %s", (name, ageMs, expected) => {
    expect(isTipOld(networkOf(name), 0, ageMs)).toBe(expected);
  });
});
