// TronGrid counts every request during a ban and restarts the ban. A pool that kept sending requests would be banned forever.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChainPool } from "../../../../src/chains/sources/chain-pool-client.ts";
import { trongridClient } from "../../../../src/chains/tron/trongrid-client.ts";
import { MINUTE_MS, SECOND_MS } from "../../../../src/lib/time.ts";
import { FakeTronGrid } from "../../../support/fake-trongrid.ts";
import { RUNS } from "../../../support/property-runs.ts";

/** TronGrid's documented rules: a limit on requests per window, and a ban once it is exceeded. */
interface Terms {
  readonly most: number;
  readonly banMs: number;
  readonly answer: (banMs: number) => Response;
}

const SAYS = {
  "a 403 with the time in its body": (banMs: number) =>
    Response.json(
      { Error: `The key exceeds the frequency limit(15), and the query server is suspended for ${banMs / SECOND_MS}s` },
      { status: 403 },
    ),
  "a 503 with Retry-After": (banMs: number) =>
    new Response("", { status: 503, headers: { "retry-after": String(banMs / SECOND_MS) } }),
  "a 403 without a time": () => new Response("", { status: 403 }),
} as const;

function banningGrid({ most, banMs, answer }: Terms) {
  const grid = new FakeTronGrid(0);
  let nowMs = 0;
  let bannedUntilMs = 0;
  let asked: number[] = [];
  let duringBan = 0;
  const fetch: typeof grid.settings.fetch = async (url, init) => {
    asked = [...asked.filter((atMs) => atMs > nowMs - MINUTE_MS), nowMs];
    if (nowMs < bannedUntilMs) duringBan++;
    if (nowMs < bannedUntilMs || asked.length > most) {
      bannedUntilMs = nowMs + banMs;
      return answer(banMs);
    }
    return grid.settings.fetch(url, init);
  };
  const client = trongridClient({ ...grid.settings, fetch, nowMs: () => nowMs });
  const parts = { network: "TRX", clients: [client], nowMs: () => nowMs, report: () => {} } as const;
  return {
    poolWith: (random: () => number) => new ChainPool({ ...parts, random }),
    /** Runs a pass at `atMs`. Returns whether its request was answered, or null if it sent none. */
    async pass(pool: ChainPool, atMs: number): Promise<boolean | null> {
      nowMs = atMs;
      if (pool.available(nowMs).length === 0) return null;
      return (await pool.attempt(nowMs, (each) => each.tip())).ok;
    },
    duringBan: () => duringBan,
  };
}

describe.each(Object.entries(SAYS))("a source that bans with %s", (_, answer) => {
  it("gets no request during the ban, and is read again after the ban", async () => {
    const grid = banningGrid({ most: 8, banMs: 30 * SECOND_MS, answer });
    const pool = grid.poolWith(() => 0);
    const passes: (boolean | null)[] = [];
    for (let atMs = 0; atMs <= 3 * MINUTE_MS; atMs += 3 * SECOND_MS) passes.push(await grid.pass(pool, atMs));
    expect(passes).toContain(false);
    expect(grid.duringBan()).toBe(0);
    // The source banned the pool, got no requests for a while, and then answered again.
    expect(passes.slice(passes.indexOf(null))).toContain(true);
  });
});

it("a source gets no request during a ban of at most 30 seconds, for any rate limit and any interval between passes", async () => {
  const terms = fc.record({
    most: fc.integer({ min: 1, max: 40 }),
    banMs: fc.integer({ min: 1, max: 30 }).map((seconds) => seconds * SECOND_MS),
    answer: fc.constantFrom(...Object.values(SAYS)),
  });
  const property = fc.asyncProperty(
    terms,
    fc.integer({ min: 1_000, max: 30_000 }),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    async (of, everyMs, random) => {
      const grid = banningGrid(of);
      const pool = grid.poolWith(() => random);
      for (let atMs = 0; atMs < 10 * MINUTE_MS; atMs += everyMs) await grid.pass(pool, atMs);
      expect(grid.duringBan()).toBe(0);
    },
  );
  await fc.assert(property, { numRuns: Math.ceil(RUNS / 10) });
});
