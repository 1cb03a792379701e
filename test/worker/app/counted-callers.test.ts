// If the merchant's object already knows the caller, a request takes one call fewer, because it is counted while the read that authenticates it runs.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { deploymentWith, seedKey, seedMerchant } from "../../support/access.ts";
import { countingEnv } from "../../support/counting-env.ts";

describe("a merchant's object", () => {
  it("counts a known caller's request while the storage call that authenticates it is still running", async () => {
    const merchantId = await seedMerchant();
    const key = await seedKey(merchantId, { lastUsedAtMs: Date.now() });
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const reads: ("counted" | "not counted")[] = [];
    /** Delays the read's result until the request has been counted, or for 1,000 turns of the event loop. */
    const slowly = async (statements: D1PreparedStatement[]) => {
      const results = await env.DB.batch(statements);
      const isCounted = () => calls.includes("RATE_LIMITER.takeEach");
      for (let turn = 0; turn < 1_000 && !isCounted(); turn++) await scheduler.wait(0);
      reads.push(isCounted() ? "counted" : "not counted");
      return results;
    };
    const DB = new Proxy(env.DB, {
      get: (db, name) => (name === "batch" ? slowly : (sql: string) => db.prepare(sql)),
    });
    const { bindings, calls } = countingEnv({ DB });
    const send = deploymentWith(bindings);
    const createOnce = async () => {
      calls.length = 0;
      const headers = { "idempotency-key": crypto.randomUUID() };
      return send(path, { method: "POST", key, headers, body: { name: "Order", rawAmount: 25 } });
    };
    expect((await createOnce()).status).toBe(201);
    reads.length = 0;
    const second = await createOnce();
    expect([second.status, second.headers.has("ratelimit")]).toEqual([201, true]);
    expect(reads[0]).toBe("counted");
    expect(calls).toEqual(["D1 read", "RATE_LIMITER.takeEach", "MERCHANT_OBJECT.reserve", "D1 write"]);
    // After a refusal the object forgets the caller, so its next requests are refused without being counted.
    await env.DB.prepare("update api_keys set permissions = '[]' where merchant_id = ?").bind(merchantId).run();
    expect((await createOnce()).status).toBe(403);
    expect((await createOnce()).status).toBe(403);
    expect(calls).toEqual(["D1 read"]);
  });
});
