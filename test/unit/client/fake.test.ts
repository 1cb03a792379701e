// What the fake does in addition to answering like the service: failures on demand, its clock, returns, deliveries, and refusals of what it does not
// support.
import { getTableColumns, is, SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROUTES } from "../../../client/api-types.ts";
import {
  Edgetill,
  EdgetillConnectionError,
  EdgetillPublic,
  verifyReturn,
  verifyWebhook,
} from "../../../client/edgetill.ts";
import { CODES } from "../../../client/testing/refusal.ts";
import { newMerchant } from "../../../client/testing/state.ts";
import { FakeEdgetill } from "../../../client/testing.ts";
import { NETWORKS } from "../../../src/chains/registry/networks.ts";
import { candidateUnits, plainUnits, saltCapacity } from "../../../src/commerce/amounts/direct-amount.ts";
import { dustLimitUnits } from "../../../src/commerce/payments/dust.ts";
import { formatUnits } from "../../../src/lib/money.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { quoteRate, unitsFor } from "../../../src/rates/quote.ts";
import { FIELDS } from "../../support/fake-requests.ts";
import { RUNS } from "../../support/property-runs.ts";
import { rejection } from "./scripted-api.ts";

const ORDER = { name: "Order", rawAmount: 50, redirectUrl: "https://shop.example/thanks?order=1" };
const QUICK = { baseMs: 1, capMs: 2 };

function shop(fake = new FakeEdgetill()) {
  return { fake, edgetill: new Edgetill({ ...fake.options, backoff: QUICK }) };
}

describe("a failure on demand", () => {
  it.each(["CONNECTION", "LOST_ANSWER", "RATE_LIMITED", "STORAGE_UNAVAILABLE", "INTERNAL_ERROR"] as const)(
    "is overcome by the client's retries without a second invoice: %s",
    async (how) => {
      const { fake, edgetill } = shop();
      fake.failNext(how, 2);
      const { id } = await edgetill.invoices.create(ORDER);
      expect((await edgetill.invoices.list()).data.map((each) => each.id)).toEqual([id]);
    },
  );

  it("that lasts longer than the client's retries is thrown as an error", async () => {
    const { fake, edgetill } = shop();
    fake.failNext("CONNECTION", 4);
    expect(await rejection(edgetill.invoices.list())).toBeInstanceOf(EdgetillConnectionError);
    fake.failNext("RATE_LIMITED", 4);
    expect(await rejection(edgetill.invoices.list())).toMatchObject({ status: 429, code: "RATE_LIMITED" });
    expect((await edgetill.invoices.list()).data).toEqual([]);
  });
});

describe("the fake's own clock", () => {
  it("makes invoices expire, and makes idempotency keys expire after a day", async () => {
    const { fake, edgetill } = shop();
    const { id } = await edgetill.invoices.create(ORDER, { idempotencyKey: "1" });
    fake.advance(3_600_001);
    expect((await edgetill.invoices.get(id)).status).toBe("EXPIRED");
    expect(fake.events.at(-2)).toMatchObject({ type: "invoice.expired", data: { previousStatus: "AWAITING_PAYMENT" } });
    fake.advance(24 * 3_600_000);
    expect((await edgetill.invoices.create(ORDER, { idempotencyKey: "1" })).id).not.toBe(id);
    expect(() => fake.advance(-1)).toThrow(TypeError);
  });

  it("ends a quote's lock, after which the invoice asks for the same amount with a new quote", async () => {
    const { fake, edgetill } = shop();
    const { id, paymentMethods } = await edgetill.invoices.create({ ...ORDER, expiresInSeconds: 20_000 });
    fake.advance(7_200_000);
    const [method] = (await edgetill.invoices.get(id)).paymentMethods;
    expect(method).toMatchObject({ status: "ACTIVE", amount: paymentMethods[0]?.amount });
    expect(Date.parse(method?.quotedAt ?? "")).toBeGreaterThan(Date.parse(paymentMethods[0]?.quotedAt ?? ""));
    expect(fake.events.at(-1)).toMatchObject({ type: "payment.updated", data: { invoiceId: id } });
    fake.pay(id);
    expect((await edgetill.invoices.get(id)).status).toBe("PAID");
  });

  it("starts at the given time", async () => {
    const { edgetill } = shop(new FakeEdgetill({ nowMs: Date.UTC(2030, 0, 1) }));
    expect((await edgetill.invoices.create(ORDER)).createdAt).toMatch(/^2030-01-01T00:0/);
  });
});

describe("deliveries", () => {
  it("are repeated until accepted, in order and under the same id", async () => {
    const { fake, edgetill } = shop();
    const { secret } = await edgetill.webhooks.create({ url: "https://shop.com/hook", events: ["invoice.*"] });
    const { id } = await edgetill.invoices.create(ORDER);
    fake.pay(id);
    const ids: string[] = [];
    const take = (status: number) => async (request: Request) => {
      const event = await verifyWebhook({ payload: await request.text(), headers: request.headers, secret });
      ids.push(`${event.id} ${event.type}`);
      return new Response(null, { status });
    };
    const refused = await fake.deliver(take(503));
    expect(refused.map(({ type }) => type)).toEqual([
      "invoice.created",
      "invoice.pending_confirmation",
      "invoice.paid",
    ]);
    await fake.deliver(take(204));
    expect(ids.slice(3)).toEqual(ids.slice(0, 3));
    expect(await fake.deliver(take(204))).toEqual([]);
  });
});

describe("a customer's return", () => {
  it("is accepted by verifyReturn only while it is recent", async () => {
    const { fake, edgetill } = shop();
    const { id } = await edgetill.invoices.create(ORDER);
    await expect(fake.returnUrl(id)).rejects.toThrow(/only a paid invoice/);
    fake.pay(id);
    const url = await fake.returnUrl(id);
    const at = { baseUrl: fake.options.baseUrl, fetch: fake.fetch };
    expect(url).toMatch(/^https:\/\/shop\.example\/thanks\?order=1&invoiceId=/);
    expect(await verifyReturn({ url, ...at })).toMatchObject({ invoiceId: id, status: "PAID" });
    const reason = { reason: "SIGNATURE_MISMATCH" };
    expect(await rejection(verifyReturn({ url: url.replace("PAID", "OVERPAID"), ...at }))).toMatchObject(reason);
  });
});

describe("a request", () => {
  it("with any content is answered, or refused with a code that the fake may use", async () => {
    const { fake } = shop();
    const { baseUrl, merchantId, apiKey } = fake.options;
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const routes = Object.entries(ROUTES).filter(([name, route]) => name in FIELDS && !route.startsWith("GET"));
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom("pong", 1e-9, -1, [{}], ["pong"]));
    const request = fc.constantFrom(...routes).chain(([name, route]) => {
      const fields = Object.keys(FIELDS[name] ?? {}).filter((field) => field !== "image");
      return fc.tuple(fc.constant(route), fc.dictionary(fc.constantFrom(...fields, "colour"), value));
    });
    const sent = fc.asyncProperty(request, async ([route, body]) => {
      const [method = "", path = ""] = route.replace(/\{\w+\}/g, "none").split(" ");
      const url = `${baseUrl}/api/v1/merchants/merchant/${merchantId}${path}`;
      const answer = await fake.fetch(url, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) expect(CODES).toContain(Object(await answer.json()).code);
    });
    await fc.assert(sent, { numRuns: RUNS });
  });
});

describe("what the fake does not support", () => {
  it("is refused with a clear message, and the client does not retry it", async () => {
    const { edgetill } = shop();
    const calls = [edgetill.attention(), edgetill.settings.get(), edgetill.merchant.get(), edgetill.search("a")];
    for (const call of calls) {
      const error = await rejection(call);
      expect(error).toMatchObject({ status: 501, code: "NOT_IN_FAKE", attempts: 1 });
      expect(String(error)).toMatch(/The fake does not do \w+/);
    }
  });

  it("includes invalid calls of the fake's own methods, which throw an error in the test", async () => {
    const { fake, edgetill } = shop();
    const { id } = await edgetill.invoices.create(ORDER);
    expect(() => fake.pay("inv_none")).toThrow("Invoice not found");
    expect(() => fake.pay(id, { amount: "1" })).toThrow(/use payUnmatched/);
    expect(() => fake.pay(id, { cryptocurrency: "BTC", network: "BTC" })).toThrow(/0 active methods/);
    expect(() => fake.pay(id, { amount: "0.1234567" })).toThrow(TypeError);
    const { id: paymentId } = fake.pay(id);
    expect(() => fake.confirm(paymentId)).toThrow(/is CONFIRMED/);
    expect(() => fake.pay(id)).toThrow(/too late/);
    expect(() => new FakeEdgetill({ wallets: [{ cryptocurrency: "DOGE", network: "ETH" }] })).toThrow(TypeError);
  });

  it("includes changes to the fake's state through an object that the fake returned", async () => {
    const { fake, edgetill } = shop();
    const made = await edgetill.invoices.create(ORDER);
    made.status = "PAID";
    expect((await edgetill.invoices.get(made.id)).status).toBe("AWAITING_PAYMENT");
    const payment = fake.pay(made.id, { isConfirmed: false });
    payment.status = "DROPPED";
    expect(fake.confirm(payment.id).status).toBe("CONFIRMED");
  });
});

it("a page can sell with the fake's public key", async () => {
  const { fake, edgetill } = shop();
  const { id: productId } = await edgetill.products.create({ name: "Coffee", price: 19.5 });
  const sold = await new EdgetillPublic(fake.publicOptions).invoices.create({ productId });
  fake.pay(sold.id);
  expect(await edgetill.invoices.get(sold.id)).toMatchObject({ status: "PAID", origin: "PUBLIC_KEY" });
});

describe("the fake's amounts", () => {
  const table = fixedRateTable(0);
  const currencies = ["USD", ...Object.keys(table.fiat), ...Object.keys(table.assets)];
  const pairs = NETWORKS.flatMap((network) => network.assets.map((asset) => ({ network, asset })));
  const price = fc.integer({ min: 1, max: 1_000_000_000_000 }).map((micros) => micros / 1_000_000);

  it("equal those of the service for every pair, currency and price, and differ between invoices", async () => {
    const asked = fc.asyncProperty(
      fc.constantFrom(...pairs),
      fc.constantFrom(...currencies),
      price,
      async ({ network, asset }, currency, rawAmount) => {
        const wallet = { cryptocurrency: asset.code.toLowerCase(), network: network.name.toLowerCase() };
        const { fetch, options } = new FakeEdgetill({ wallets: [wallet] });
        const { baseUrl, merchantId, apiKey } = options;
        const headers = { "x-api-key": apiKey, "content-type": "application/json" };
        const body = JSON.stringify({ name: "Order", rawAmount, currency });
        const url = `${baseUrl}/api/v1/merchants/merchant/${merchantId}/invoices`;
        const create = async () => Object(await (await fetch(url, { method: "POST", headers, body })).json());
        const quote = quoteRate({ table, assetCode: asset.rateCode, currency, nowMs: 0 });
        if (!quote.ok) throw new Error(`no price of ${asset.code} in ${currency}`);
        const { rate } = quote.value;
        const amountMicros = BigInt(Math.round(rawAmount * 1_000_000));
        const least = dustLimitUnits(network, asset.code);
        const units = plainUnits(unitsFor({ amountMicros, rate, decimals: asset.decimals }), asset, least);
        const to = Math.min(saltCapacity(units, asset), 3);
        const amounts: (string | null | undefined)[] = [];
        for (let made = 0; made < to; made += 1) {
          const { paymentMethods } = await create();
          expect(paymentMethods[0]?.rate).toBe(rate);
          amounts.push(paymentMethods[0]?.amount);
        }
        const wanted = candidateUnits(units, asset, { from: 0, to });
        expect(amounts).toEqual(wanted.map((each) => formatUnits(each, asset.decimals)));
      },
    );
    await fc.assert(asked, { numRuns: RUNS });
  });
});

it("the fake's merchant has the settings of a new merchant", () => {
  const merchant = newMerchant("mer_00000000000000000000000000", 0);
  const defaults = Object.entries(getTableColumns(merchants)).flatMap(([name, column]): [string, unknown][] => {
    const { hasDefault, notNull, default: value } = column;
    if (!hasDefault) return notNull ? [] : [[name, null]];
    return [[name, is(value, SQL) ? BigInt(new SQLiteSyncDialect().sqlToQuery(value).sql) : value]];
  });
  expect(defaults.length).toBeGreaterThan(15);
  expect(merchant).toMatchObject(Object.fromEntries(defaults));
});
