// The timers of a merchant's object while its database is as slow as in production. A pending timer keeps an object in memory and billed, and above
// 10,000 timers every further one throws.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { MerchantObject } from "../../../src/app/merchant-object.ts";
import { makeId } from "../../../src/lib/ids.ts";
import type { HandedOver } from "../../../src/platform/http/handed-over.ts";
import { seedKey, seedMerchant } from "../../support/access.ts";
import { freshUlid } from "../../support/idempotency.ts";
import { randomFrom } from "../../support/random.ts";
import { type Latency, slowDatabase } from "../../support/slow-database.ts";

const CLIENTS = 16;
const CREATES = 480;
/** How many timers the background work of other files may leave in this isolate. With one timer leaked per storage call there were 126. */
const OF_OTHERS = 2;

afterEach(() => {
  vi.restoreAllMocks();
});

/** The number of active timers, and the highest number so far. */
function watchTimers() {
  const active = new Set<unknown>();
  const seen = { most: 0 };
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((ring: () => void, ms?: number) => {
    const timer = set(() => {
      active.delete(timer);
      ring();
    }, ms);
    active.add(timer);
    seen.most = Math.max(seen.most, active.size);
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation(((timer: ReturnType<typeof setTimeout>) => {
    active.delete(timer);
    clear(timer);
  }) as typeof clearTimeout);
  return { active, seen };
}

function create(merchantId: string, key: string): HandedOver {
  return {
    requestId: makeId("req", freshUlid()),
    ip: null,
    query: {},
    bytes: 60,
    operationId: "createInvoice",
    isPublic: false,
    path: `/api/v1/merchants/merchant/${merchantId}/invoices`,
    params: { merchantId },
    headers: { "x-api-key": key, "idempotency-key": crypto.randomUUID() },
    json: { name: "Order", rawAmount: 5 },
  };
}

interface Distance {
  readonly read: Latency;
  readonly write: Latency;
}

it.each<Distance>([
  { read: { p50Ms: 8, p99Ms: 40 }, write: { p50Ms: 15, p99Ms: 90 } },
  { read: { p50Ms: 12, p99Ms: 60 }, write: { p50Ms: 22, p99Ms: 90 } },
])(
  `${CREATES} invoices are created for ${CLIENTS} clients with one timer at a time, and no timer is left at the end (D1 reads: $read.p50Ms ms)`,
  async (distance) => {
    const merchantId = await seedMerchant();
    // The key was used just now, so no last use is recorded with the requests.
    const key = await seedKey(merchantId, { lastUsedAtMs: Date.now() });
    const DB = slowDatabase(env.DB, {
      ...distance,
      random: randomFrom(20_261_126),
      wait: (ms) => scheduler.wait(ms),
    });
    const timers = watchTimers();
    await runInDurableObject(env.MERCHANT_OBJECT.getByName(merchantId), async (_, state) => {
      const object = new MerchantObject(state, { ...env, DB, RATE_LIMIT_PER_MINUTE: "1000000" });
      let left = CREATES;
      const outcomes = new Map<string, number>();
      const client = async () => {
        while (left-- > 0) {
          const { result } = await object.answer(create(merchantId, key));
          const outcome = result.ok ? String(result.value.status) : result.error.code;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      expect(Object.fromEntries(outcomes)).toEqual({ 201: CREATES });
      expect(timers.seen.most).toBeLessThanOrEqual(1 + OF_OTHERS);
      expect(timers.active.size).toBeLessThanOrEqual(OF_OTHERS);
    });
  },
);
