// Requests with the same keys from many clients at once, on workerd's own objects and D1, with a fault at any call.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { type Sleep, sleep } from "../../../src/lib/sleep.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { ATTEMPT_LIMIT_MS, TimeLimitError } from "../../../src/platform/db/retry.ts";
import { LEASE_MS } from "../../../src/platform/idempotency/key-reservations.ts";
import { type OnceAnswer, type Prepared, runOnce } from "../../../src/platform/idempotency/run-once.ts";
import { dependencies, freshMerchant, keyOf, keysOf, rowsOf, workOf } from "../../support/idempotency.ts";
import { randomFrom } from "../../support/random.ts";

/**
 * The clock of one key's clients. It advances only when one of them waits, by the requested time, so that leases and limits are the same on a slow
 * machine as on a fast one. An attempt's time limit never passes on it: exceeding the limit is one of the faults.
 */
function clockOf(startMs: number) {
  const clock = { nowMs: startMs };
  const pause: Sleep = async (ms, cancellation) => {
    if (ms === ATTEMPT_LIMIT_MS) return new Promise((resolve) => cancellation?.onCancel(resolve));
    clock.nowMs += ms;
    await sleep(0);
  };
  return { nowMs: () => clock.nowMs, sleep: pause };
}

interface Client {
  readonly merchantId: MerchantId;
  readonly key: string;
  readonly clock: ReturnType<typeof clockOf>;
}

describe("with 1,500 keys, three clients for each key, and faults everywhere,", () => {
  it("every key ends with one operation, and all its responses have the same bytes", async () => {
    const random = randomFrom(20_261_121);
    const startMs = Date.now();
    const merchants = Array.from({ length: 5 }, freshMerchant);
    const faults = { lostBefore: 0, lostAfter: 0, twice: 0, late: 0, crashed: 0 };
    /** Work that continues after its caller's time limit. */
    const stillRunning: Promise<unknown>[] = [];
    const lost = () => new Error("D1_ERROR: Network connection lost.");

    /** One client's attempt at one key. Its clock is ahead by `skewMs`, so that leases end while they are held. */
    async function attempt({ merchantId, key, clock }: Client, skewMs: number): Promise<OnceAnswer | "crashed"> {
      let crash: (reason: "crashed") => void = () => {};
      const crashed = new Promise<"crashed">((resolve) => {
        crash = resolve;
      });
      const isDead = { now: false };
      const die = () => {
        faults.crashed++;
        isDead.now = true;
        crash("crashed");
        return new Promise<never>(() => {});
      };
      async function faulty<T>(work: () => Promise<T>): Promise<T> {
        if (isDead.now) return new Promise<never>(() => {});
        const fate = random();
        if (fate < 0.03) {
          faults.lostBefore++;
          throw lost();
        }
        if (fate < 0.04) return die();
        if (fate < 0.06) {
          faults.twice++;
          await Promise.allSettled([work(), work()]);
          throw lost();
        }
        if (fate < 0.075) {
          faults.late++;
          stillRunning.push(work().catch(() => {}));
          throw new TimeLimitError("no answer in time");
        }
        const result = await work();
        if (fate < 0.085) return die();
        if (fate < 0.115) {
          faults.lostAfter++;
          throw lost();
        }
        return result;
      }
      const real = keysOf(env.MERCHANT_OBJECT, merchantId);
      const db = openDb(faultyD1(faulty));
      const deps = dependencies(merchantId, {
        db,
        keys: {
          reserve: (...args) => faulty(() => real.reserve(...args)),
          takeOver: (...args) => faulty(() => real.takeOver(...args)),
          endLease: (...args) => faulty(() => real.endLease(...args)),
        },
        nowMs: () => clock.nowMs() + skewMs,
        sleep: clock.sleep,
      });
      const isRefused = random() < 0.1;
      const work = async (operationId: string): Promise<Prepared> =>
        isRefused ? { kind: "refused", failure: { code: "AMOUNTS_EXHAUSTED" } } : workOf(db, merchantId)(operationId);
      return Promise.race([runOnce(deps, { merchantId, key: keyOf(merchantId, key) }, work), crashed]);
    }

    async function client(of: Client): Promise<string> {
      let skewMs = 0;
      for (let tries = 0; tries < 60; tries++) {
        const answer = await attempt(of, skewMs);
        if (answer !== "crashed" && answer.kind === "answer") return answer.body;
        if (random() < 0.5) skewMs += LEASE_MS;
      }
      throw new Error(`no answer for ${of.key}`);
    }

    const keys = Array.from({ length: 1_500 }, (_, i) => ({
      merchantId: merchants[i % 5] ?? freshMerchant(),
      key: `k${i}`,
    }));
    let differing = 0;
    const next = keys.values();
    const lane = async () => {
      for (const { merchantId, key } of next) {
        const clock = clockOf(startMs);
        const bodies = await Promise.all([0, 1, 2].map(() => client({ merchantId, key, clock })));
        if (new Set(bodies).size !== 1) differing++;
      }
    };
    await Promise.all(Array.from({ length: 50 }, lane));
    await Promise.all(stillRunning);

    expect(differing).toBe(0);
    const counts = await Promise.all(merchants.map(rowsOf));
    expect(counts).toEqual(merchants.map(() => ({ events: 300, operations: 300 })));
    for (const count of Object.values(faults)) expect(count).toBeGreaterThan(100);
  }, 600_000);
});

/** The real database, with a fault at any of its calls. */
function faultyD1(faulty: <T>(work: () => Promise<T>) => Promise<T>): D1Database {
  const patched = (statement: D1PreparedStatement): D1PreparedStatement => {
    const { bind, all, raw, run } = {
      bind: statement.bind.bind(statement),
      all: statement.all.bind(statement),
      raw: statement.raw.bind(statement),
      run: statement.run.bind(statement),
    };
    return Object.assign(statement, {
      bind: (...values: unknown[]) => patched(bind(...values)),
      all: () => faulty(() => all()),
      raw: () => faulty(() => raw()),
      run: () => faulty(() => run()),
    });
  };
  return {
    prepare: (sql: string) => patched(env.DB.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) => faulty(() => env.DB.batch(statements)),
  } as unknown as D1Database;
}
