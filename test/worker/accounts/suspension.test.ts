// A suspended merchant cannot create invoices, but its existing invoices can still be paid. Tested through the Worker's own entry.
import { env } from "cloudflare:workers";
import { and, eq, isNotNull } from "drizzle-orm";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal, seedKey, send } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { seedMember, seedSession, seedUser, type TestUser } from "../../support/people.ts";
import { triesOf } from "../../support/property-runs.ts";
import { openShop } from "../../support/public-shop.ts";
import { BTC, USDT } from "../../support/wallet-bodies.ts";
import type { TestMerchant } from "../../support/worker-merchant.ts";
import { look, transferTo, unitsOf } from "../detection/transfers-harness.ts";

const db = openDb(env.DB);
const ORDER = { name: "Order", rawAmount: 10 };

const seedOperator = () => seedUser({ operatorSinceMs: Date.now() });
const pathOf = ({ merchantId }: Pick<TestMerchant, "merchantId">) =>
  `/api/v1/operator/merchants/${merchantId}/suspension`;
const suspend = ({ headers }: Pick<TestUser, "headers">, of: Pick<TestMerchant, "merchantId">) =>
  send(pathOf(of), { method: "POST", headers });
const resume = ({ headers }: Pick<TestUser, "headers">, of: Pick<TestMerchant, "merchantId">) =>
  send(pathOf(of), { method: "DELETE", headers });

afterEach(async () => {
  await db.update(users).set({ operatorSinceMs: null }).where(isNotNull(users.operatorSinceMs));
});

/** Deletes the payments, because a payment that is not final keeps its network from becoming idle, even in other files' tests. */
afterAll(async () => {
  await db.delete(payments);
});

let visitors = 0;
/** A new IP address for each browser, because browsers are limited per address. */
const newIp = () => `2001:db8:${(++visitors).toString(16)}::1`;

async function opened() {
  const open = await openShop();
  const operator = await seedOperator();
  const create = (key?: string) =>
    open.shop.post("/invoices", ORDER, key === undefined ? {} : { "idempotency-key": key });
  return { ...open, operator, create };
}

describe("a suspended merchant", () => {
  it("cannot create invoices: not from its server, with a public key, or on a product's page", async () => {
    const { shop, operator, create, browse, buy, product } = await opened();
    const done = await suspend(operator, shop);
    expect([done.status, done.json]).toEqual([
      200,
      { id: shop.merchantId, suspendedAt: expect.stringMatching(/^20.*Z$/) },
    ]);
    expect((await create()).body).toMatchObject({ statusCode: 403, code: "MERCHANT_SUSPENDED" });
    expectRefusal(await browse(newIp()), 403, "MERCHANT_SUSPENDED");
    expect([await buy(newIp()), (await send(`/buy/${product.id}`)).status]).toEqual([403, 410]);
    expect(await db.$count(invoices, eq(invoices.merchantId, shop.merchantId))).toBe(0);
    expect((await resume(operator, shop)).json).toEqual({ id: shop.merchantId, suspendedAt: null });
    expect([(await create()).status, (await browse(newIp())).status, await buy(newIp())]).toEqual([201, 201, 303]);
  });

  it("cannot create invoices through its members, or through an assistant with its key", async () => {
    const { shop, operator } = await opened();
    const { userId, headers } = await seedUser();
    await seedMember(shop.merchantId, userId, "OWNER");
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices`;
    const params = { name: "create_invoice", arguments: ORDER };
    const ask = { key: await seedKey(shop.merchantId), headers: { accept: "application/json, text/event-stream" } };
    const assist = () =>
      send("/mcp", { method: "POST", ...ask, body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
    await suspend(operator, shop);
    expectRefusal(await send(path, { method: "POST", headers, body: ORDER }), 403, "MERCHANT_SUSPENDED");
    expect((await assist()).text).toContain("MERCHANT_SUSPENDED");
    const made = () => db.$count(invoices, eq(invoices.merchantId, shop.merchantId));
    expect(await made()).toBe(0);
    expect((await send(path, { headers })).status).toBe(200);
    await resume(operator, shop);
    expect((await assist()).text).not.toContain("MERCHANT_SUSPENDED");
    expect(await made()).toBe(1);
  });

  it("offers payers no other payment method, but shows the one that they have picked", async () => {
    const { shop, operator, browse, pick } = await opened();
    const { json } = await browse(newIp());
    const ip = newIp();
    expect((await pick(ip, json?.id, USDT)).status).toBe(201);
    await suspend(operator, shop);
    expect((await pick(ip, json?.id, USDT)).status).toBe(200);
    expectRefusal(await pick(ip, json?.id, BTC), 403, "MERCHANT_SUSPENDED");
    const checkout = `/api/v1/checkout/${json?.id}`;
    expect((await send(checkout)).json).toMatchObject({ status: "AWAITING_PAYMENT" });
    const picked = await send(`${checkout}/payment-methods`, { method: "POST", body: BTC });
    expectRefusal(picked, 403, "MERCHANT_SUSPENDED");
    expect((await send(`/pay/${json?.id}`)).status).toBe(200);
    await resume(operator, shop);
    expect((await pick(ip, json?.id, BTC)).status).toBe(201);
  });

  it("gets the stored response again for an invoice created before, and can repeat a refused creation once it is resumed", async () => {
    const { shop, operator, create } = await opened();
    const first = await create("before");
    await suspend(operator, shop);
    const again = await create("before");
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await create("during")).status).toBe(403);
    await resume(operator, shop);
    expect((await create("during")).status).toBe(201);
  });

  it.each(["server", "public key", "pick"] as const)(
    "can no longer write changes that were decided before the suspension: %s",
    async (by) => {
      const { shop, operator, key, browse } = await opened();
      const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices`;
      const { json } = await browse(newIp());
      const asks = {
        server: [path, { key: await seedKey(shop.merchantId), body: ORDER }],
        "public key": [path, { key, body: ORDER, headers: { "cf-connecting-ip": newIp() } }],
        pick: [`/api/v1/checkout/${json?.id}/payment-methods`, { body: USDT }],
      } as const;
      const [url, ask] = asks[by];
      const before = await db.$count(invoices, eq(invoices.merchantId, shop.merchantId));
      const beaten = await sendBeaten(url, { method: "POST", ...ask }, () => suspend(operator, shop), {
        RATE_LIMIT_PER_MINUTE: "0",
      } as Partial<Env>);
      expectRefusal(beaten, 403, "MERCHANT_SUSPENDED");
      expect(await db.$count(invoices, eq(invoices.merchantId, shop.merchantId))).toBe(before);
    },
  );

  it("has two audit entries for each change: one with the actor for operators, and one without it for the merchant", async () => {
    const { shop, operator } = await opened();
    for (const change of [suspend, suspend, resume, resume]) expect((await change(operator, shop)).status).toBe(200);
    const entries = await db
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.target, shop.merchantId)));
    const told = entries.map(({ action, merchantId, actorId }) => [action, merchantId, actorId]);
    expect(told).toHaveLength(4);
    for (const action of ["merchant.suspended", "merchant.resumed"]) {
      expect(told).toContainEqual([action, null, operator.userId]);
      expect(told).toContainEqual([action, shop.merchantId, null]);
    }
  });

  it("is suspended and resumed only by an operator with a recent factor; an unknown merchant is not found", async () => {
    const { shop, operator } = await opened();
    expectRefusal(await suspend(await seedUser(), shop), 403, "OPERATOR_REQUIRED");
    const stale = await seedSession(operator.userId, { factorAtMs: Date.now() - 300_001 });
    expectRefusal(await suspend({ headers: stale }, shop), 403, "STEP_UP_REQUIRED");
    expectRefusal(await resume({ headers: stale }, shop), 403, "STEP_UP_REQUIRED");
    const nobody = { merchantId: "mer_00000000000000000000000000" } as const;
    expectRefusal(await suspend(operator, nobody), 404, "MERCHANT_NOT_FOUND");
  });
});

describe("in any history of suspending, resuming, creating and paying", () => {
  type Made = { readonly id: string; readonly address: string; readonly units: bigint; isPaid: boolean };
  const STEPS = ["suspend", "resume", "create", "repeat", "browse", "buy", "pay"] as const;

  it("invoices are created if and only if the merchant is not suspended, and every payment is credited", async () => {
    const steps = fc.array(fc.constantFrom(...STEPS), { minLength: 4, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const { shop, operator, browse, buy } = await opened();
        let isSuspended = false;
        const made: Made[] = [];
        const keyed = new Map<string, string>();
        for (const [n, step] of history.entries()) {
          const expected = isSuspended ? 403 : 201;
          switch (step) {
            case "suspend":
            case "resume":
              expect((await (step === "suspend" ? suspend : resume)(operator, shop)).status).toBe(200);
              isSuspended = step === "suspend";
              break;
            case "create": {
              const body = { ...ORDER, paymentMethods: [USDT] };
              const answer = await shop.post("/invoices", body, { "idempotency-key": `k${n}` });
              expect(answer.status).toBe(expected);
              if (isSuspended) break;
              keyed.set(`k${n}`, answer.text);
              const [{ address, amount }] = answer.body.paymentMethods;
              made.push({ id: answer.body.id, address, units: unitsOf(amount), isPaid: false });
              break;
            }
            case "repeat":
              for (const [key, text] of keyed) {
                const body = { ...ORDER, paymentMethods: [USDT] };
                expect((await shop.post("/invoices", body, { "idempotency-key": key })).text).toBe(text);
              }
              break;
            case "browse":
              expect((await browse(newIp())).status).toBe(expected);
              break;
            case "buy":
              expect(await buy(newIp())).toBe(isSuspended ? 403 : 303);
              break;
            case "pay": {
              const next = made.find(({ isPaid }) => !isPaid);
              if (next === undefined) break;
              const transfer = transferTo(next.address, next.units);
              for (const tip of [100, 200]) expect((await look([transfer], { tip })).ok).toBe(true);
              next.isPaid = true;
              break;
            }
          }
        }
        for (const { id, isPaid } of made)
          expect((await shop.get(`/invoices/${id}`)).body.status).toBe(isPaid ? "PAID" : "AWAITING_PAYMENT");
      }),
      { numRuns: triesOf({ usual: 12, deep: 200 }) },
    );
  });
});

describe("the list of merchants", () => {
  const list = async (operator: TestUser, query = "") => {
    const answer = await send(`/api/v1/operator/merchants${query}`, { headers: operator.headers });
    expect(answer.status, answer.text).toBe(200);
    return answer.json as { readonly data: readonly Record<string, unknown>[]; readonly nextCursor: string | null };
  };

  it("is paginated, newest first, and shows names and workload but no amounts or customers", async () => {
    const operator = await seedOperator();
    const open = [await openShop(), await openShop(), await openShop()];
    const [first, , last] = open;
    if (first === undefined || last === undefined) throw new Error("three shops");
    for (let n = 0; n < 3; n++) await first.shop.post("/invoices", ORDER);
    await suspend(operator, last.shop);
    const page = await list(operator, "?limit=2");
    const next = await list(operator, `?limit=1&cursor=${page.nextCursor}`);
    expect([...page.data, ...next.data].map(({ id }) => id)).toEqual(
      open.map(({ shop }) => shop.merchantId).toReversed(),
    );
    expect(page.data[0]).toEqual({
      id: last.shop.merchantId,
      name: "Shop",
      createdAt: expect.any(String),
      suspendedAt: expect.any(String),
      invoices: 0,
      dueDeliveries: 0,
    });
    expect(next.data[0]).toMatchObject({ suspendedAt: null, invoices: 3 });
  });

  it("is searched by a name's prefix in upper or lower case, and by a complete id", async () => {
    const operator = await seedOperator();
    const { shop } = await openShop();
    const bySearch = async (search: string) =>
      (await list(operator, `?search=${encodeURIComponent(search)}&limit=1`)).data.map(({ id }) => id);
    expect(await bySearch(shop.merchantId)).toEqual([shop.merchantId]);
    expect(await bySearch("sHO")).toEqual([shop.merchantId]);
    expect(await bySearch("hop")).toEqual([]);
    expect(await bySearch("%")).toEqual([]);
  });

  it("is for operators only, and refuses an invalid cursor", async () => {
    const operator = await seedOperator();
    const ask = (headers: TestUser["headers"], query = "") => send(`/api/v1/operator/merchants${query}`, { headers });
    expectRefusal(await ask((await seedUser()).headers), 403, "OPERATOR_REQUIRED");
    expectRefusal(await ask(operator.headers, "?cursor=x"), 400, "VALIDATION_FAILED");
  });
});
