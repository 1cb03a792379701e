import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import type { ChainSourceKind } from "../../../src/chains/sources/chain-sources.ts";
import { type Outage, type OutageKind, outage } from "../../../src/lib/fetch-text.ts";
import { err, ok, type Result } from "../../../src/lib/result.ts";
import { RUNS } from "../../support/property-runs.ts";

/** A source whose answers the test sets, and which counts its requests. */
class Fake {
  verifies = 0;
  asks = 0;
  /** Whether the source was verified after its last failure. */
  isProven = false;
  chain: Result<true, Outage> = ok(true);
  answer: Result<string, Outage> = ok("answer");
  readonly client: ChainClient;

  constructor(kind: ChainSourceKind) {
    const never = () => Promise.reject(new Error("not asked in these tests"));
    this.client = {
      kind,
      costsBy: "blocks",
      verify: async () => {
        this.verifies++;
        this.isProven = this.chain.ok;
        return this.chain;
      },
      tip: never,
      finalizedHeight: never,
      block: never,
      scan: never,
      mempool: never,
      lookup: never,
    };
  }
}

function poolOf(kinds: readonly ChainSourceKind[] = ["tron-rpc", "trongrid"], random = () => 0.5) {
  const fakes = kinds.map((kind) => new Fake(kind));
  const reports: string[] = [];
  const report = (line: string) => void reports.push(line);
  const pool = new ChainPool({ network: "TRX", clients: fakes.map(({ client }) => client), random, report });
  const fake = (place: number) => {
    const found = fakes[place];
    if (found === undefined) throw new Error(`${fakes.length} sources`);
    return found;
  };
  const fakeOf = (client: ChainClient) => {
    const fake = fakes.find((each) => each.client === client);
    if (fake === undefined) throw new Error("not one of the pool");
    return fake;
  };
  const work = async (client: ChainClient) => {
    fakeOf(client).asks++;
    return fakeOf(client).answer;
  };
  const placeOf = (client: ChainClient | undefined) => fakes.findIndex((each) => each.client === client);
  const attempt = async (nowMs: number) => {
    const answer = await pool.attempt(nowMs, work);
    return answer.ok ? placeOf(answer.value.client) : answer.error.kind;
  };
  return { fakes, fake, reports, pool, work, placeOf, attempt, fakeOf };
}

const down = (kind: OutageKind, retryAfterMs: number | null = null) =>
  err(outage(kind, "https://hunter2", retryAfterMs));

describe("among the sources of a network,", () => {
  it("only the first source is asked, and it is verified once", async () => {
    const { fakes, attempt } = poolOf();
    expect([await attempt(0), await attempt(1), await attempt(2)]).toEqual([0, 0, 0]);
    expect(fakes.map(({ verifies, asks }) => [verifies, asks])).toEqual([
      [1, 3],
      [0, 0],
    ]);
  });

  it("after an outage the next source takes over, and the first is verified again before reuse", async () => {
    const { fake, attempt, pool } = poolOf();
    fake(0).answer = down("TIMEOUT");
    expect(await attempt(0)).toBe(1);
    expect(pool.states()).toEqual([
      { kind: "tron-rpc", failures: 1, openUntilMs: 1_000, lastOutage: "TIMEOUT" },
      { kind: "trongrid", failures: 0, openUntilMs: 0, lastOutage: null },
    ]);
    fake(0).answer = ok("well again");
    expect([await attempt(999), await attempt(1_000)]).toEqual([1, 0]);
    expect(fake(0).verifies).toBe(2);
    expect(pool.states()[0]).toEqual({ kind: "tron-rpc", failures: 0, openUntilMs: 0, lastOutage: null });
  });

  it("the pause of a source that hung starts when the request fails, not when it was sent", async () => {
    const { fakes, fake, work } = poolOf();
    let nowMs = 0;
    const clients = fakes.map(({ client }) => client);
    const parts = { network: "TRX", clients, random: () => 0.5, report: () => {} } as const;
    const pool = new ChainPool({ ...parts, nowMs: () => nowMs });
    fake(0).answer = down("TIMEOUT");
    await pool.attempt(0, async (client) => {
      nowMs = 8_000;
      return work(client);
    });
    expect(pool.states()[0]).toMatchObject({ lastOutage: "TIMEOUT", openUntilMs: 9_000 });
    expect(pool.available(8_500)).toEqual([fake(1).client]);
  });

  it("the result names the source that it came from", async () => {
    const { fake, pool, work } = poolOf();
    fake(0).answer = down("BEHIND");
    fake(1).answer = ok("from the second");
    expect(await pool.attempt(0, work)).toEqual({
      ok: true,
      value: { value: "from the second", client: fake(1).client },
    });
  });

  it("when all sources fail, the result is the last outage; the next attempt is UNREACHABLE, with the time until the first pause ends", async () => {
    const { fakes, fake, pool, work } = poolOf();
    fake(0).answer = down("TIMEOUT");
    fake(1).answer = down("RATE_LIMITED", 30_000);
    expect(await pool.attempt(0, work)).toMatchObject({
      ok: false,
      error: { kind: "RATE_LIMITED", retryAfterMs: 30_000 },
    });
    expect(pool.available(1)).toEqual([]);
    expect(await pool.attempt(400, work)).toMatchObject({
      ok: false,
      error: { kind: "UNREACHABLE", retryAfterMs: 600 },
    });
    expect(fakes.map(({ asks }) => asks)).toEqual([1, 1]);
  });

  it("a pool without sources reports an outage", async () => {
    expect(await poolOf([]).attempt(0)).toBe("UNREACHABLE");
  });

  it("a source that serves a different chain is never used, and is paused for ten minutes", async () => {
    const { fake, attempt, reports } = poolOf();
    fake(0).chain = down("WRONG_CHAIN");
    expect([await attempt(0), await attempt(599_999)]).toEqual([1, 1]);
    expect([fake(0).verifies, fake(0).asks]).toEqual([1, 0]);
    expect(reports).toEqual([
      "chains: TRX source 1 (tron-rpc) SERVES ANOTHER CHAIN than the configured one; paused for 600000 ms",
    ]);
    await attempt(600_000);
    expect(fake(0).verifies).toBe(2);
  });

  it("a source that cannot be verified because it is unreachable is skipped", async () => {
    const { fake, attempt } = poolOf();
    fake(0).chain = down("UNREACHABLE");
    expect([await attempt(0), fake(0).asks]).toEqual([1, 0]);
  });

  it("no report contains an outage's message, which may show a secret", async () => {
    const { fake, attempt, reports } = poolOf();
    for (const kind of ["TIMEOUT", "BAD_STATUS", "WRONG_CHAIN"] as const) {
      fake(0).answer = down(kind);
      await attempt(reports.length * 1e9);
    }
    expect(reports).toHaveLength(3);
    expect(reports.join()).not.toContain("hunter2");
  });

  it.each<[string, Outage, number, number]>([
    ["twice as long after each failure in a row", outage("TIMEOUT", ""), 3, 0.5 * 2_000 * 2 ** 2],
    ["for at most four minutes", outage("TIMEOUT", ""), 30, 0.5 * 240_000],
    ["for as long as its Retry-After requires", outage("BAD_STATUS", "", 45_000), 1, 45_000],
    ["for at most ten minutes, even with a longer Retry-After", outage("RATE_LIMITED", "", 86_400_000), 1, 600_000],
    ["never for less than its backoff", outage("TIMEOUT", "", 1), 3, 4_000],
    ["for at least two seconds when it throttles", outage("RATE_LIMITED", ""), 1, 2_000],
    ["for half a minute when it bans without stating a time", outage("BANNED", ""), 1, 30_000],
    ["for as long as its ban lasts, if it says so", outage("BANNED", "", 5_000), 1, 5_000],
    ["twice as long with each ban in a row", outage("BANNED", "", 5_000), 3, 20_000],
    ["for at most ten minutes after many bans in a row", outage("BANNED", ""), 9, 600_000],
    ["for five seconds when it is unavailable", outage("UNAVAILABLE", ""), 1, 5_000],
    ["for at least a minute when it stays unavailable", outage("UNAVAILABLE", ""), 5, 60_000],
  ])("a source that fails is paused %s", async (_, failure, times, pauseMs) => {
    const { fake, attempt, pool } = poolOf(["tron-rpc"]);
    fake(0).answer = err(failure);
    let nowMs = 0;
    for (let time = 1; time <= times; time++) {
      nowMs = pool.states()[0]?.openUntilMs ?? Number.NaN;
      await attempt(nowMs);
    }
    expect(pool.states()[0]).toMatchObject({ failures: times, openUntilMs: nowMs + pauseMs });
  });

  it("calls that fail at the same time count as one failure, and do not prolong a ban", async () => {
    const { pool } = poolOf(["tron-rpc"]);
    const answers: (() => void)[] = [];
    const banned = () =>
      pool.attempt(0, async () => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return err(outage("BANNED", "", 30_000));
      });
    const all = Promise.all(Array.from({ length: 6 }, banned));
    while (answers.length < 6) await undefined;
    for (const answer of answers) answer();
    await all;
    expect(pool.states()[0]).toMatchObject({ failures: 1, openUntilMs: 30_000 });
  });

  it("a source has a finite pause even after 1,100 bans without a stated time", async () => {
    const { fake, attempt, pool } = poolOf(["tron-rpc"]);
    fake(0).answer = err(outage("BANNED", "", 0));
    for (let time = 0; time < 1_100; time++) await attempt(pool.states()[0]?.openUntilMs ?? Number.NaN);
    const { failures = 0, openUntilMs = Number.NaN } = pool.states()[0] ?? {};
    expect([failures, openUntilMs > 0]).toEqual([1_100, true]);
  });

  it("a failure counts even if a call that began earlier succeeds after it", async () => {
    const { fake, pool, work } = poolOf(["tron-rpc"]);
    let finish = () => {};
    const slow = pool.attempt(0, async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return ok("late");
    });
    fake(0).answer = down("RATE_LIMITED");
    await pool.attempt(0, work);
    finish();
    expect((await slow).ok).toBe(true);
    expect(pool.states()[0]).toMatchObject({ failures: 1, openUntilMs: 2_000 });
  });
});

describe("a second opinion", () => {
  it.each<[readonly ChainSourceKind[], number]>([
    [["esplora", "esplora", "core-rpc"], 2],
    [["evm-rpc", "evm-rpc"], 1],
    [["evm-rpc"], -1],
  ])("from one of the sources %j comes from another kind of source if there is one", (kinds, place) => {
    const { pool, fake, placeOf } = poolOf(kinds);
    expect(placeOf(pool.second(fake(0).client, 0))).toBe(place);
    expect(pool.hasSecond()).toBe(kinds.length > 1);
  });

  it("never comes from the same source or from a paused one", async () => {
    const { pool, fake, attempt, work } = poolOf();
    fake(0).answer = down("TIMEOUT");
    await attempt(0);
    expect(pool.second(fake(1).client, 999)).toBeUndefined();
    expect((await pool.attemptWithout(fake(1).client, 999, work)).ok).toBe(false);
    expect(fake(0).asks).toBe(1);
    fake(0).answer = ok("well again");
    const opinion = await pool.attemptWithout(fake(1).client, 1_000, work);
    expect(opinion).toMatchObject({ ok: true, value: { value: "well again" } });
  });

  it("comes from the next source when one fails", async () => {
    const { pool, fake, work, placeOf } = poolOf(["esplora", "esplora", "core-rpc"]);
    fake(2).answer = down("TIMEOUT");
    const opinion = await pool.attemptWithout(fake(0).client, 0, work);
    expect(opinion.ok && placeOf(opinion.value.client)).toBe(1);
  });
});

describe("after any sequence of failures", () => {
  const KINDS: readonly OutageKind[] = [
    "TIMEOUT",
    "RATE_LIMITED",
    "BANNED",
    "UNAVAILABLE",
    "BAD_STATUS",
    "WRONG_CHAIN",
    "BEHIND",
  ];
  const failure = fc.record({
    kind: fc.constantFrom(...KINDS),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 1_000_000 })),
  });
  const step = fc.record({
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 700_000 })),
    /** The index of the source that changes in this step, and whether its verification fails too. */
    place: fc.nat(2),
    failsVerify: fc.boolean(),
    failure: fc.option(failure),
  });

  it("no source is asked while paused or unverified, and a healthy source that is not paused always answers", async () => {
    const runs = fc.asyncProperty(
      fc.array(step, { maxLength: 25 }),
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      async (steps, dice) => {
        const { pool, fakes, fake, fakeOf } = poolOf(["esplora", "core-rpc", "blockbook"], () => dice.next().value);
        let nowMs = 0;
        for (const { waitMs, place, failsVerify, failure } of steps) {
          nowMs += waitMs;
          const changed = fake(place);
          changed.chain = failure !== null && failsVerify ? err({ ...failure, message: "" }) : ok(true);
          changed.answer = failure !== null ? err({ ...failure, message: "" }) : ok("answer");
          const open = new Set(fakes.filter((_, index) => (pool.states()[index]?.openUntilMs ?? 0) > nowMs));
          const healthy = fakes.filter((each) => (each.isProven || each.chain.ok) && each.answer.ok && !open.has(each));
          const asksOf = () => [...open].map(({ verifies, asks }) => [verifies, asks]);
          const before = asksOf();
          const answer = await pool.attempt(nowMs, async (client) => {
            const asked = fakeOf(client);
            asked.asks++;
            expect(asked.isProven).toBe(true);
            asked.isProven = asked.answer.ok;
            return asked.answer;
          });
          expect(asksOf()).toEqual(before);
          expect(answer.ok).toBe(healthy.length > 0);
          if (answer.ok) expect(fakeOf(answer.value.client)).toBe(healthy[0]);
          expect(pool.states().every(({ openUntilMs }) => openUntilMs <= nowMs + 600_000)).toBe(true);
        }
      },
    );
    await fc.assert(runs, { numRuns: RUNS });
  });
});
