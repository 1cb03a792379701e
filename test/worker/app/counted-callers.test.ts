// A request of a caller the merchant's object already knows takes one call less: it is counted during the read that authenticates it.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { deploymentWith, seedKey, seedMerchant } from "../../support/access.ts";
import { countingEnv } from "../../support/counting-env.ts";

describe("the object of a merchant", () => {
  it("counts a known caller during the storage call that authenticates them", async () => {
    const merchantId = await seedMerchant();
    const key = await seedKey(merchantId, { lastUsedAtMs: Date.now() });
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const reads: ("counted" | "not counted")[] = [];
    /** Answers only once the request is counted, or much later. */
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
    // A refused one is forgotten: its next requests are refused without being counted, as usual.
    await env.DB.prepare("update api_keys set permissions = '[]' where merchant_id = ?").bind(merchantId).run();
    expect((await createOnce()).status).toBe(403);
    expect((await createOnce()).status).toBe(403);
    expect(calls).toEqual(["D1 read"]);
  });
});
