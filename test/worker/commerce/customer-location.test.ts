// Where a customer last opened a checkout page (decisions 10): shown with the customer, stored nowhere else, and deleted with the customer.
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/app/app.ts";
import { locatedCustomerBody } from "../../../src/commerce/customers/contract.ts";
import { CHANGE_EVERY_MS } from "../../../src/commerce/customers/location.ts";
import { keepLocation } from "../../../src/commerce/customers/store.ts";
import type { GeoLocation } from "../../../src/lib/geo-location.ts";
import type { CustomerId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { customerLocations } from "../../../src/platform/db/schema/customers.ts";
import { requestOf } from "../../support/access.ts";
import { tablesHolding } from "../../support/api-keys.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { api, everyAnswer, orderOf, page } from "../../support/checkouts.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { expectDocumented } from "../../support/documented.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const HISTORIES = 25;
const BERLIN = { country: "DE", city: "Berlin" };

const rowsOf = ({ merchantId }: TestMerchant) =>
  testDb.select().from(customerLocations).where(eq(customerLocations.merchantId, merchantId));

async function recorded(shop: TestMerchant, body: object): Promise<CustomerId> {
  const answer = await shop.post("/customers", body);
  expect([200, 201], answer.text).toContain(answer.status);
  return answer.body.id;
}

const seedLocation = (shop: TestMerchant, customerId: CustomerId, location: GeoLocation) =>
  testDb
    .insert(customerLocations)
    .values({ ...location, customerId, merchantId: shop.merchantId, visitedAtMs: 1, allowanceFullAtMs: 1 });

const locationOf = async (shop: TestMerchant, id: string) => (await shop.get(`/customers/${id}`)).body.location;

describe("a customer's location", () => {
  it("is shown only when that customer alone is read", async () => {
    const shop = await freshMerchant();
    const id = await recorded(shop, { email: "ada@shop.example" });
    await seedLocation(shop, id, BERLIN);
    const read = await shop.get(`/customers/${id}`);
    expectDocumented(locatedCustomerBody, read.body);
    expect(read.body.location).toEqual(BERLIN);
    for (const { text } of [
      await shop.get("/customers"),
      await shop.get(`/customers/${id}/resume`),
      await shop.patch(`/customers/${id}`, { name: "Ada" }),
      await shop.post("/customers", { email: "ada@shop.example", name: "Ada L." }),
      await shop.post("/invoices", { name: "Order", rawAmount: 10, customerEmail: "ada@shop.example" }),
    ])
      expect(text).not.toMatch(/location|Berlin/);
    expect(await locationOf(shop, id)).toEqual(BERLIN);
  });

  it("is null when none is known, and has a null city when only the country is known", async () => {
    const shop = await freshMerchant();
    const [ada, bob] = [await recorded(shop, { name: "Ada" }), await recorded(shop, { name: "Bob" })];
    await seedLocation(shop, bob, { country: "DE", city: null });
    const read = [await shop.get(`/customers/${ada}`), await shop.get(`/customers/${bob}`)];
    expect(read.map(({ body }) => body.location)).toEqual([null, { country: "DE", city: null }]);
    for (const { body } of read) expectDocumented(locatedCustomerBody, body);
  });

  it("is not shown to another merchant", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const id = await recorded(other, { name: "Ada" });
    await seedLocation(other, id, BERLIN);
    const answer = await shop.get(`/customers/${id}`);
    expect([answer.status, answer.text.includes("Berlin")]).toEqual([404, false]);
  });

  it("is deleted with the customer", async () => {
    const shop = await freshMerchant();
    const [ada, bob] = [await recorded(shop, { name: "Ada" }), await recorded(shop, { name: "Bob" })];
    for (const id of [ada, bob]) await seedLocation(shop, id, BERLIN);
    expect((await shop.delete(`/customers/${ada}`)).status).toBe(200);
    expect(await rowsOf(shop)).toMatchObject([{ customerId: bob }]);
  });
});

const ROME = { country: "IT", city: "Rome" };
const LYON = { country: "FR", city: "Lyon" };
const EMAIL = "ada@shop.example";
const FOR_ADA = { customerEmail: EMAIL };

/** Visits an invoice's page; resolves once the location is written. */
async function visit(order: { readonly id: string }, cf: unknown, changes: Partial<Env> = {}): Promise<void> {
  const { status, text } = await page(order, "", { cf }, changes);
  expect(status, text).toBe(200);
}

async function adasOrder() {
  const shop = await freshMerchant();
  const order = await orderOf(shop, FOR_ADA);
  const customerId: CustomerId = (await shop.get(`/invoices/${order.id}`)).body.customerId;
  return { shop, order, customerId };
}

const byId = (customerId: CustomerId) => eq(customerLocations.customerId, customerId);

/** A database that delays every write of a location until `release`, or fails it with the given error. */
function heldDb() {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  const held = new WeakSet<D1PreparedStatement>();
  const statement = (text: string): D1PreparedStatement => marked(env.DB.prepare(text), text);
  const marked = (one: D1PreparedStatement, text: string): D1PreparedStatement => {
    if (!text.includes('insert into "customer_locations"')) return one;
    const bind = one.bind.bind(one);
    one.bind = (...values) => marked(bind(...values), text);
    held.add(one);
    return one;
  };
  const batch = async (statements: D1PreparedStatement[]) => {
    const failure = statements.some((one) => held.has(one)) ? await promise : undefined;
    if (failure !== undefined) throw failure;
    return env.DB.batch(statements);
  };
  const DB = new Proxy(env.DB, {
    get(target, name) {
      if (name === "prepare") return statement;
      return name === "batch" ? batch : Reflect.get(target, name);
    },
  });
  return { DB, release: (failure?: Error) => resolve(failure) };
}

/** Locations that the edge may report, and what is stored for each. */
const REPORTED: readonly (readonly [unknown, GeoLocation | undefined])[] = [
  [BERLIN, BERLIN],
  [{ ...ROME, postalCode: "00100", latitude: "41.9" }, ROME],
  [LYON, LYON],
  [{ country: "DE" }, { country: "DE", city: null }],
  [
    { country: "IT", city: "Ro\u0000me" },
    { country: "IT", city: null },
  ],
  [{ country: "T1", city: "Rome" }, undefined],
  [{ country: "XX" }, undefined],
  [{ city: "Rome" }, undefined],
  [{}, undefined],
  [undefined, undefined],
];

type Step =
  | { readonly kind: "visit"; readonly nth: number; readonly reported: number }
  | { readonly kind: "delete" | "order" | "upsert" | "patch" };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 7,
    arbitrary: fc.record({ kind: fc.constant("visit"), nth: fc.nat(5), reported: fc.nat(REPORTED.length - 1) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete") }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("order", "upsert", "patch") }) },
);

/** A shop with an invoice for Ada, and the expected locations of its customers; undefined for deleted customers. */
async function freshHistory() {
  const shop = await freshMerchant();
  const known = new Map<string, GeoLocation | null | undefined>();
  const orders: { readonly id: string; readonly customerId: string }[] = [];
  const current = () => orders.at(-1)?.customerId ?? "";
  const made = async () => {
    const { id } = await orderOf(shop, FOR_ADA);
    const { customerId } = (await shop.get(`/invoices/${id}`)).body;
    orders.push({ id, customerId });
    if (!known.has(customerId)) known.set(customerId, null);
  };
  await made();
  const take = async (each: Step) => {
    if (each.kind === "order") return made();
    if (each.kind === "delete") {
      const isLive = known.get(current()) !== undefined;
      expect((await shop.delete(`/customers/${current()}`)).status).toBe(isLive ? 200 : 404);
      known.set(current(), undefined);
    } else if (each.kind === "visit") {
      const [cf, location] = REPORTED[each.reported] ?? [];
      const order = orders[each.nth % orders.length];
      if (order === undefined) return;
      await visit(order, cf);
      if (location !== undefined && known.get(order.customerId) !== undefined) known.set(order.customerId, location);
    } else if (known.get(current()) !== undefined) {
      const body = { email: EMAIL, name: `Ada ${each.kind}` };
      const path = each.kind === "patch" ? `/customers/${current()}` : "/customers";
      const answer = await (each.kind === "patch" ? shop.patch(path, body) : shop.post(path, body));
      expect([answer.status, answer.body.id], answer.text).toEqual([200, current()]);
    }
  };
  return { shop, known, take };
}

describe("a visit to a checkout page", () => {
  it("stores the last known location, whatever visits, changes and deletions came before", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        const { shop, known, take } = await freshHistory();
        for (const each of steps) await take(each);
        for (const [id, location] of known) {
          const { status, body } = await shop.get(`/customers/${id}`);
          expect([status, body.location]).toEqual(location === undefined ? [404, undefined] : [200, location]);
        }
        const rows = (await rowsOf(shop)).map(({ customerId, country, city }) => [customerId, { country, city }]);
        expect(new Map(rows.map(([id, location]) => [id, location]))).toEqual(
          new Map([...known].filter(([, location]) => location !== undefined && location !== null)),
        );
      }),
      { numRuns: HISTORIES },
    );
  });

  it("writes once, however often the page is opened from one place", async () => {
    const { order, customerId, shop } = await adasOrder();
    const { bindings, calls } = countingEnv();
    for (let nth = 0; nth < 8; nth++) await visit(order, BERLIN, bindings);
    expect(calls.filter((call) => call === "D1 write")).toHaveLength(1);
    expect(await locationOf(shop, customerId)).toEqual(BERLIN);
  });

  it("writes nothing when the location is unknown, or the invoice has no customer or a deleted one", async () => {
    const { order, customerId, shop } = await adasOrder();
    await shop.delete(`/customers/${customerId}`);
    const { bindings, calls } = countingEnv();
    await visit(order, BERLIN, bindings);
    await visit(await orderOf(shop), BERLIN, bindings);
    await visit(await orderOf(shop, FOR_ADA), { country: "T1" }, bindings);
    expect(calls).not.toContain("D1 write");
    expect(await rowsOf(shop)).toEqual([]);
  });

  it("is recorded only for the page itself, not for HEAD requests, its parts, its forms, its receipt or its JSON", async () => {
    const { order, shop } = await adasOrder();
    await page(order, "", { method: "HEAD", cf: ROME });
    for (const rest of ["/state", "/receipt", "/return"]) await page(order, rest, { cf: ROME });
    await api(order, "", { cf: ROME });
    const form = { "content-type": "application/x-www-form-urlencoded" };
    await page(order, "/methods", { method: "POST", body: "method=BTC_BTC", headers: form, cf: ROME });
    expect(await rowsOf(shop)).toEqual([]);
  });

  it("changes the location up to the limit when visits alternate between two countries, and again once time has passed", async () => {
    const { order, customerId, shop } = await adasOrder();
    const { bindings, calls } = countingEnv();
    const changes = LIMITS.locationChangesPerCustomerAndHour;
    for (let nth = 1; nth <= changes + 4; nth++) {
      await visit(order, nth % 2 === 0 ? ROME : BERLIN, bindings);
      if (nth === changes) expect(await locationOf(shop, customerId)).toEqual(ROME);
    }
    expect(calls.filter((call) => call === "D1 write")).toHaveLength(changes);
    const [row] = await rowsOf(shop);
    const allowanceFullAtMs = (row?.allowanceFullAtMs ?? 0) - CHANGE_EVERY_MS;
    await testDb.update(customerLocations).set({ allowanceFullAtMs }).where(byId(customerId));
    for (const place of [LYON, BERLIN]) await visit(order, place);
    expect(await locationOf(shop, customerId)).toEqual(LYON);
  });

  it("shows the page before the location is written, even if writing it fails", async () => {
    const { order, customerId, shop } = await adasOrder();
    const { DB, release } = heldDb();
    const context = createExecutionContext();
    const opened = await createApp().fetch(requestOf(`/pay/${order.id}`, { cf: BERLIN }), { ...env, DB }, context);
    expect([opened.status, (await opened.text()).includes("Order 1001")]).toEqual([200, true]);
    expect(await rowsOf(shop)).toEqual([]);
    release();
    await waitOnExecutionContext(context);
    expect(await locationOf(shop, customerId)).toEqual(BERLIN);
    const failing = heldDb();
    failing.release(new Error("D1_ERROR: no such table: customer_locations"));
    await visit(order, ROME, { DB: failing.DB });
    expect(await locationOf(shop, customerId)).toEqual(BERLIN);
  });

  it("shows the location in no response to the payer, and stores it in only one table, deleted with the customer", async () => {
    const { order, customerId, shop } = await adasOrder();
    const city = `Canary ${crypto.randomUUID()}`;
    await visit(order, { ...BERLIN, city, postalCode: `zip ${city}`, latitude: city });
    await shop.patch(`/invoices/${order.id}`, { customerName: "Ada" });
    await shop.patch(`/customers/${customerId}`, { name: "Ada L." });
    expect((await shop.post(`/invoices/${order.id}/cancel`)).status).toBe(200);
    expect(await tablesHolding(city)).toEqual(["customer_locations.city"]);
    for (const [name, { text }] of Object.entries(await everyAnswer(order)))
      expect([name, text.includes(city)]).toEqual([name, false]);
    expect((await shop.get(`/invoices/${order.id}`)).text).not.toContain(city);
    await shop.delete(`/customers/${customerId}`);
    expect(await tablesHolding(city)).toEqual([]);
  });

  it("leaves nothing when the customer is deleted during the visit", async () => {
    const { order, customerId, shop } = await adasOrder();
    const answer = await sendBeaten(`/pay/${order.id}`, { cf: BERLIN }, () => shop.delete(`/customers/${customerId}`));
    expect(answer.status).toBe(200);
    expect((await shop.get(`/customers/${customerId}`)).status).toBe(404);
    expect(await rowsOf(shop)).toEqual([]);
  });
});

describe("visits written out of order", () => {
  const place = fc.constantFrom<GeoLocation>(BERLIN, ROME, LYON, { country: "DE", city: null });

  it("keep the location of the latest visit", async () => {
    const { customerId, shop } = await adasOrder();
    const visits = fc.uniqueArray(fc.record({ atMs: fc.integer({ min: 1, max: 10_000 }), location: place }), {
      minLength: 1,
      maxLength: LIMITS.locationChangesPerCustomerAndHour,
      selector: ({ atMs }) => atMs,
    });
    await fc.assert(
      fc.asyncProperty(visits, async (each) => {
        await testDb.delete(customerLocations).where(byId(customerId));
        for (const { atMs, location } of each) await keepLocation(testDb, customerId, location, atMs);
        const [latest] = each.toSorted((a, b) => b.atMs - a.atMs);
        expect(await locationOf(shop, customerId)).toEqual(latest?.location);
      }),
      { numRuns: HISTORIES },
    );
  });

  it("write no more than allowed, and may write again once part of the allowance is restored", async () => {
    const { customerId } = await adasOrder();
    const gap = fc.oneof(
      { weight: 9, arbitrary: fc.nat(CHANGE_EVERY_MS / 4) },
      { weight: 1, arbitrary: fc.nat(2 * CHANGE_EVERY_MS) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(gap, { minLength: 20, maxLength: 60 }), async (gaps) => {
        await testDb.delete(customerLocations).where(byId(customerId));
        const kept: number[] = [];
        let atMs = 1;
        for (const ms of gaps) {
          atMs += ms;
          const { meta } = await keepLocation(testDb, customerId, BERLIN, atMs);
          if (meta.changes > 0) kept.push(atMs);
          else expect(atMs - (kept.at(-1) ?? 0)).toBeLessThan(CHANGE_EVERY_MS);
        }
        for (const [nth, fromMs] of kept.entries()) {
          for (const [more, untilMs] of kept.slice(nth).entries()) {
            const allowed = LIMITS.locationChangesPerCustomerAndHour + (untilMs - fromMs) / CHANGE_EVERY_MS;
            expect(more + 1).toBeLessThanOrEqual(allowed);
          }
        }
      }),
      { numRuns: HISTORIES },
    );
  });
});
