// Many clients create invoices for one merchant at once, through the Worker and the merchant's real object, which is aborted repeatedly.
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { chunksOf } from "../../../src/lib/chunks.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { faultKind } from "../../../src/platform/db/retry.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { answerInMerchantObject, type HandedOver, throttled } from "../../../src/platform/http/handed-over.ts";
import { deploymentWith, seedKey, seedMerchant, send, sendWith } from "../../support/access.ts";
import { randomFrom } from "../../support/random.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { BTC, directBody, freshKey, xpubBody } from "../commerce/wallets-harness.ts";

const CLIENTS = 64;
const CREATES = 1_500;
const ABORTS = 12;
const PAIRS = [[BTC], [{ cryptocurrency: "USDT", network: "ETH" }], undefined];
const EMAILS = 100;

interface Order {
  readonly key: string;
  readonly isPoison: boolean;
  readonly body: object;
}

/** About one order in twenty has a row that the database refuses, ten orders share each customer, and a third of the requests repeat an order. */
function ordersOf(random: () => number): readonly Order[] {
  const distinct = Array.from({ length: (CREATES * 2) / 3 }, (_, n): Order => {
    const isPoison = random() < 0.05;
    return {
      key: `key ${n}`,
      isPoison,
      body: {
        name: isPoison ? "poison" : "Order",
        rawAmount: 25,
        customerEmail: `payer-${n % EMAILS}@shop.example`,
        externalId: `order ${n}`,
        paymentMethods: PAIRS[n % 3],
      },
    };
  });
  const repeated = Array.from({ length: CREATES / 3 }, () => distinct[Math.floor(random() * distinct.length)]);
  return [...distinct, ...repeated].flatMap((order) => order ?? []).sort(() => random() - 0.5);
}

/** Repeats a create until its answer is final. */
async function insist(path: string, key: string, { key: idempotencyKey, body, isPoison }: Order): Promise<string> {
  for (let tries = 0; tries < 40; tries++) {
    const headers = { "idempotency-key": idempotencyKey };
    const answer = await send(path, { method: "POST", key, headers, body }).catch(() => undefined);
    if (answer?.status === 201) return answer.text;
    if (isPoison && answer?.status === 500) return "refused as poison";
    // Retried if the object was aborted, or the request waited too long.
    if (answer !== undefined && answer.status !== 503 && answer.status !== 500) throw new Error(answer.text);
    await sleep(20 * (tries + 1));
  }
  throw new Error(`no answer for ${idempotencyKey}`);
}

it(`${CREATES} requests from ${CLIENTS} clients create one invoice for each idempotency key, even while the merchant's object is aborted`, async () => {
  const random = randomFrom(20_261_122);
  const merchantId = await seedMerchant();
  const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
  const keys = await Promise.all(Array.from({ length: CLIENTS }, () => seedKey(merchantId)));
  for (const body of [xpubBody(freshKey()), directBody()])
    expect((await send(path.replace("invoices", "wallets"), { method: "POST", key: keys[0], body })).status).toBe(201);
  await testDb.run(
    sql`create trigger poison before insert on invoices when new.name = 'poison' begin select raise(abort, 'poisoned'); end`,
  );
  const orders = ordersOf(random);
  const answers = new Map<Order, Set<string>>();
  const next = orders.values();
  let done = 0;
  await Promise.all(
    keys.map(async (key) => {
      for (const order of next) {
        const answer = await insist(path, key, order);
        answers.set(order, (answers.get(order) ?? new Set()).add(answer));
        done += 1;
        if (done % Math.floor(orders.length / ABORTS) === 0) await abortAllDurableObjects();
      }
    }),
  );
  expect([...answers.values()].filter(({ size }) => size !== 1)).toEqual([]);
  const healthy = [...answers].filter(([{ isPoison }]) => !isPoison).flatMap(([, texts]) => [...texts]);
  const stored = await testDb.select({ id: invoices.id }).from(invoices).where(eq(invoices.merchantId, merchantId));
  expect(new Set(stored.map(({ id }) => id))).toEqual(new Set(healthy.map((text) => JSON.parse(text).id)));
  const places = await testDb
    .select({ address: paymentMethods.address, units: paymentMethods.amountUnits, index: paymentMethods.addressIndex })
    .from(paymentMethods)
    .where(eq(paymentMethods.merchantId, merchantId));
  const asked = places.map(({ address, units, index }) => `${address} ${index === null ? units : ""}`);
  expect(new Set(asked).size).toBe(healthy.flatMap((text) => JSON.parse(text).paymentMethods).length);
  const known = await testDb.select({ id: customers.id }).from(customers).where(eq(customers.merchantId, merchantId));
  expect(known).toHaveLength(EMAILS);
  const [shop] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
  expect(shop?.activeInvoices).toBe(stored.length);
}, 600_000);

describe("a merchant's object", () => {
  const ORDER = { name: "Order", rawAmount: 25 };

  /** Bindings that count how often the object is opened. */
  function counting() {
    const opened = { count: 0 };
    const getByName = (...named: Parameters<typeof env.MERCHANT_OBJECT.getByName>) => {
      opened.count += 1;
      return env.MERCHANT_OBJECT.getByName(...named);
    };
    return { opened, bindings: { MERCHANT_OBJECT: { getByName } } as unknown as Partial<Env> };
  }

  it("counts as unavailable if it runs the previous release and lacks a method", async () => {
    const object = env.MERCHANT_OBJECT.getByName("mer_lacking") as unknown as { notYet(): Promise<void> };
    const error = await object.notYet().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(faultKind(error)).toBe("transient");
  });

  it("is not opened by strangers or invalid requests", async () => {
    const merchantId = await seedMerchant();
    const key = await seedKey(merchantId);
    const [foreign, poor] = [await seedKey(await seedMerchant()), await seedKey(merchantId, { permissions: [] })];
    const { opened, bindings } = counting();
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const ask = async (as: string | undefined, body: object) =>
      (await sendWith(bindings, path, { method: "POST", key: as, body })).status;
    expect(await ask(undefined, ORDER)).toBe(401);
    expect(await ask(`sk_${"0".repeat(38)}`, ORDER)).toBe(401);
    expect(await ask(foreign, ORDER)).toBe(403);
    expect(await ask(key, { name: 1 })).toBe(400);
    expect(opened.count).toBe(0);
    // The key's MAC is valid, so the object is opened and decides what the key may do.
    expect(await ask(poor, ORDER)).toBe(403);
    expect(opened.count).toBe(1);
  });

  it("is opened by a product's form only if the product is for sale and the form is valid", async () => {
    const merchantId = await seedMerchant();
    const key = await seedKey(merchantId);
    const made = async (fields: object) => {
      const ask = { method: "POST", key, body: { name: "Coffee", price: 5, ...fields } };
      return (await send(`/api/v1/merchants/merchant/${merchantId}/products`, ask)).json?.id;
    };
    const [product, off] = [await made({ askForName: true }), await made({ isActive: false })];
    const { opened, bindings } = counting();
    const post = async (id: unknown, body: string, ip = "203.0.113.50") => {
      const headers = { "content-type": "application/x-www-form-urlencoded", "cf-connecting-ip": ip };
      return (await sendWith(bindings, `/buy/${id}`, { method: "POST", headers, body })).status;
    };
    expect(await post(product, "name=Jane")).toBe(303);
    expect(opened.count).toBe(1);
    expect(await post("prd_01ARZ3NDEKTSV4RRFFQ69G5FAV", "name=Jane")).toBe(404);
    expect(await post(off, "name=Jane")).toBe(410);
    expect(await post(product, "name=")).toBe(400);
    expect(await post(product, "name=Jane&email=no")).toBe(400);
    expect(await post(product, "name=5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ")).toBe(400);
    // The last request exceeds the limit of ten forms a minute. The form that was refused for its private key does not count.
    for (const status of [303, 303, 303, 303, 303, 429]) expect(await post(product, "name=Jane")).toBe(status);
    await testDb.update(merchants).set({ deletedAtMs: Date.now() }).where(eq(merchants.id, merchantId));
    expect(await post(product, "name=Jane", "203.0.113.51")).toBe(404);
    expect(opened.count).toBe(6);
  });

  it("counts each request against the limit of the key that sent it", async () => {
    const merchantId = await seedMerchant();
    const key = await seedKey(merchantId);
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const limit = Number(env.RATE_LIMIT_PER_MINUTE);
    // Sends no more requests at once than a slow machine can answer before they time out.
    const waves = chunksOf(Array.from({ length: limit + 20 }), 64);
    const answers: Awaited<ReturnType<typeof send>>[] = [];
    for (const wave of waves)
      answers.push(...(await Promise.all(wave.map(() => send(path, { method: "POST", key, body: ORDER })))));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(limit);
    expect(refused).toHaveLength(20);
    const left = answers.flatMap(({ headers }) => /r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1] ?? []);
    expect(new Set(left).size).toBe(limit);
  });

  it("is called less often while it refuses requests, and as usual once it accepts one; each refusal says when to retry", async () => {
    const merchantId = await seedMerchant();
    const key = await seedKey(merchantId, { lastUsedAtMs: Date.now() });
    let isBroken = true;
    let calls = 0;
    const DB = new Proxy(env.DB, {
      get: (db, name) => {
        if (name !== "batch") return Reflect.get(db, name).bind(db);
        return async (statements: D1PreparedStatement[]) => {
          calls += 1;
          if (isBroken) throw new Error("D1_ERROR: D1 DB is overloaded. Too many requests queued.");
          return db.batch(statements);
        };
      },
    });
    const deployed = deploymentWith({ DB });
    const ask = () =>
      deployed(`/api/v1/merchants/merchant/${merchantId}/invoices`, { method: "POST", key, body: ORDER });
    const refused = [];
    for (let nth = 0; nth < 60; nth++) refused.push(await ask());
    expect(refused.every(({ status, json }) => status === 503 && json?.code === "STORAGE_UNAVAILABLE")).toBe(true);
    expect(new Set(refused.slice(0, 10).map(({ headers }) => headers.get("retry-after")))).toEqual(new Set(["1"]));
    expect(refused.filter(({ headers }) => headers.get("retry-after") === "10").length).toBeGreaterThan(20);
    expect(calls).toBeLessThan(40);
    // Another shop has a different object, so it is not affected.
    const other = await seedMerchant();
    const [theirs, theirKey] = [`/api/v1/merchants/merchant/${other}/invoices`, await seedKey(other)];
    expect((await send(theirs, { method: "POST", key: theirKey, body: ORDER })).status).toBe(201);
    isBroken = false;
    await expect.poll(async () => (await ask()).status, { timeout: 10_000, interval: 100 }).toBe(201);
    const taken = [];
    for (let nth = 0; nth < 20; nth++) taken.push((await ask()).status);
    expect(new Set(taken)).toEqual(new Set([201]));
  });

  it("does not refuse a shop's server just because it refuses browsers", async () => {
    const merchantId = await seedMerchant();
    const refusal = { result: { ok: false, error: { code: "STORAGE_UNAVAILABLE" } }, headers: {} };
    const answer = async () => refusal;
    const handed = { isPublic: true } as unknown as HandedOver;
    const world = { MERCHANT_OBJECT: { getByName: () => ({ answer }) }, LOCATION_HINT: "" } as unknown as Env;
    for (let nth = 0; nth < 50; nth++) await answerInMerchantObject(world, merchantId, { handed, isRepeatable: true });
    expect(throttled(merchantId)).toBeUndefined();
  });
});
