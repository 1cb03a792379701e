import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { EMPTY_RATE_TABLE } from "../../../src/rates/quote.ts";
import { seedKey, sendWith } from "../../support/access.ts";
import { seedCursor, seedPayment } from "../../support/payments.ts";
import { assign, auditOf, ignore, invoiceOf, pathOf, rowOf, typesOf } from "../../support/resolutions.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, testDb } from "../../support/worker-merchant.ts";

beforeAll(async () => {
  await seedCursor("ETH", { tipHeight: 104 });
});

const past = () => ({ expiresAtMs: Date.now() - HOUR_MS, closedAtMs: Date.now() - HOUR_MS });

describe("ASSIGN", () => {
  it("credits a payment and settles the invoice, with the events and audit entries of both", async () => {
    const shop = await freshMerchant();
    await shop.post("/wallets", { ...directWallet(), requiredConfirmations: 5 });
    const id = await invoiceOf(shop, { paymentMethods: [USDT] });
    const payment = await seedPayment(shop.merchantId, { requiredConfirmations: 2 });
    const { status, body, text } = await assign(shop, payment, id);
    expect([status, body], text).toMatchObject([
      200,
      {
        id: payment.id,
        invoiceId: id,
        status: "CONFIRMED",
        matchedBy: "MANUAL",
        fiatAmount: "10.000000",
        confirmations: 5,
        requiredConfirmations: 5,
        isLate: false,
        evidence: { rule: "MANUAL" },
        confirmedTxAt: body.updatedAt,
        receivedTxAt: new Date(payment.receivedAtMs).toISOString(),
      },
    ]);
    expect(body.resolution).toStrictEqual({
      action: "ASSIGN",
      reason: "The payer wrote to us",
      at: body.updatedAt,
      actor: expect.stringMatching(/^key_/),
    });
    expect((await shop.get(`/payments/${payment.id}`)).body).toEqual(body);
    const invoice = (await shop.get(`/invoices/${id}`)).body;
    expect(invoice).toMatchObject({ status: "PAID", amountConfirmed: "10.000000", payments: [{ id: payment.id }] });
    // The list of invoices counts confirmations by the same tip, although it reads the cursors of all networks at once.
    await seedCursor("ETH", { tipHeight: 111 });
    const [{ confirmations }] = (await shop.get(`/invoices/${id}`)).body.payments;
    expect(confirmations).toBe(12);
    expect((await shop.get("/invoices")).body.data[0].payments[0].confirmations).toBe(confirmations);
    await seedCursor("ETH", { tipHeight: 104 });
    expect(await typesOf(id)).toEqual([
      "payment.matched",
      "payment.detected",
      "payment.confirmed",
      "invoice.pending_confirmation",
      "invoice.paid",
      "payment.paid",
    ]);
    const [entry, ...more] = await auditOf(payment.id);
    expect([entry?.action, entry?.actorKind, more]).toEqual(["payment.resolved", "API_KEY", []]);
    expect(JSON.parse(entry?.after ?? "")).toEqual({ status: "CONFIRMED", invoiceId: id, fiatAmount: "10.000000" });
    expect((await auditOf(id)).map(({ action }) => action)).toContain("invoice.status_changed");
    expect(JSON.stringify([entry, await auditOf(id)])).not.toContain("The payer wrote");
  });

  it("leaves a payment DETECTED until it has the confirmations that the invoice's payment method requires", async () => {
    const shop = await freshMerchant();
    await shop.post("/wallets", { ...directWallet(), requiredConfirmations: 6 });
    const id = await invoiceOf(shop, { paymentMethods: [USDT] });
    const { body } = await assign(shop, await seedPayment(shop.merchantId), id);
    expect([body.status, body.confirmations, body.confirmedTxAt]).toEqual(["DETECTED", 5, null]);
    expect((await shop.get(`/invoices/${id}`)).body.status).toBe("PENDING_CONFIRMATION");
  });

  it("leaves a payment in the mempool DETECTED", async () => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop);
    const nowhere = { blockHeight: null, blockHash: null, blockTimeMs: null, confirmations: 0 };
    const { body } = await assign(shop, await seedPayment(shop.merchantId, nowhere), id);
    expect([body.status, body.blockHeight]).toEqual(["DETECTED", null]);
  });

  it.each([
    ["USD", { usdMicros: 9_950_000n }, "9.950000", "PAID"],
    ["EUR", { usdMicros: 10_000_000n }, "9.250000", "UNDERPAID"],
    ["BTC", { usdMicros: 680_000_000_000n }, "10.000000", "PAID"],
    // No rate was known when the payment was first seen.
    ["EUR", { usdMicros: null, amountUnits: 20_000_000n }, "18.500000", "OVERPAID"],
  ] as const)(
    "to an invoice in %s without a payment method for the asset values the payment by its dollar value: %o",
    async (currency, changes, fiatAmount, status) => {
      const shop = await freshMerchant();
      const id = await invoiceOf(shop, { currency }, past());
      const receivedAtMs = Date.now() - 2 * HOUR_MS;
      const payment = await seedPayment(shop.merchantId, { ...changes, receivedAtMs });
      const { body, text } = await assign(shop, payment, id);
      expect([body.fiatAmount, body.isLate], text).toEqual([fiatAmount, false]);
      const invoice = (await shop.get(`/invoices/${id}`)).body;
      expect(invoice).toMatchObject({ status, amountReceived: fiatAmount, payments: [{ confirmations: 5 }] });
    },
  );

  it("without a rate that it needs is refused as RATE_UNAVAILABLE, and changes nothing", async () => {
    const shop = await freshMerchant();
    const key = await seedKey(shop.merchantId);
    const id = await invoiceOf(shop, { currency: "EUR" });
    const payment = await seedPayment(shop.merchantId);
    const RATE_BOOK = { getByName: () => ({ table: async () => EMPTY_RATE_TABLE }) };
    const bindings = { RATE_SOURCE: "coinbase,kraken", RATE_BOOK } as unknown as Partial<Env>;
    const body = { action: "ASSIGN", invoiceId: id, reason: "x" };
    const answer = await sendWith(bindings, pathOf(shop, payment), { method: "POST", key, body });
    expect([answer.status, answer.json?.code]).toEqual([503, "RATE_UNAVAILABLE"]);
    expect(await rowOf(payment.id)).toMatchObject({ status: "UNMATCHED", invoiceId: null });
  });

  it("of a late payment keeps the invoice's status and marks the invoice for review, even if it is cancelled", async () => {
    for (const columns of [
      { ...past(), status: "EXPIRED" },
      { status: "CANCELLED", cancelledAtMs: 1 },
    ] as const) {
      const shop = await freshMerchant();
      const id = await invoiceOf(shop, {}, columns);
      const { body } = await assign(shop, await seedPayment(shop.merchantId, { receivedAtMs: Date.now() }), id);
      expect([body.status, body.isLate]).toEqual(["CONFIRMED", true]);
      const invoice = (await shop.get(`/invoices/${id}`)).body;
      expect(invoice).toMatchObject({ status: columns.status, isLate: true, needsReview: true });
      expect((await typesOf(id)).at(-1)).toBe("invoice.payment_late");
    }
  });

  it("of a partial payment to an invoice at a shared address reserves the amount still due", async () => {
    const shop = await freshMerchant();
    await shop.post("/wallets", directWallet());
    const id = await invoiceOf(shop, { paymentMethods: [USDT] });
    const { body } = await assign(shop, await seedPayment(shop.merchantId, { amountUnits: 4_000_000n }), id);
    expect(body.fiatAmount).toBe("4.000000");
    const invoice = (await shop.get(`/invoices/${id}`)).body;
    expect(invoice).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "4.000000" });
    expect(invoice.paymentMethods).toMatchObject([{ amount: "10", amountDue: "6" }]);
    const held = await testDb.select().from(methodAmounts).where(eq(methodAmounts.invoiceId, id));
    expect(held.map(({ units }) => units).sort()).toEqual([10_000_000n, 6_000_000n]);
    expect(await typesOf(id)).toContain("invoice.partially_paid");
  });

  it("of dust to the invoice that owns the address makes the wallet's gap start after that invoice", async () => {
    const shop = await freshMerchant();
    const wallet = (await shop.post("/wallets", xpubWallet())).body;
    const ids = [await invoiceOf(shop, { paymentMethods: [BTC] }), await invoiceOf(shop, { paymentMethods: [BTC] })];
    const gapOf = async () => (await shop.get(`/wallets/${wallet.id}`)).body.gap;
    expect(await gapOf()).toBe(2);
    const [first = expect.fail()] = ids;
    const toAddress = (await shop.get(`/invoices/${first}`)).body.paymentMethods[0].address;
    const dust = {
      status: "IGNORED",
      toAddress,
      amountUnits: 500n,
      usdMicros: 340_000n,
      ...BTC,
      chainId: null,
    } as const;
    const { status, text } = await assign(shop, await seedPayment(shop.merchantId, dust), first);
    expect([status, await gapOf()], text).toEqual([200, 1]);
  });

  it("accepts a payment that was ignored before", async () => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop);
    const payment = await seedPayment(shop.merchantId);
    await ignore(shop, payment);
    const { status, body } = await assign(shop, payment, id);
    expect([status, body.status, body.resolution.action]).toEqual([200, "CONFIRMED", "ASSIGN"]);
  });

  it("restarts the watch of an idle network if the payment still lacks confirmations", async () => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop);
    await seedCursor("POL", { isResting: true });
    const deep = { network: "POL", chainId: 137, finalAtMs: Date.now(), requiredConfirmations: 900 };
    const payment = await seedPayment(shop.merchantId, deep);
    const key = await seedKey(shop.merchantId);
    const CHAIN_SOURCES = JSON.stringify({ POL: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] });
    const body = { action: "ASSIGN", invoiceId: id, reason: "x" };
    const answer = await sendWith({ CHAIN_SOURCES }, pathOf(shop, payment), { method: "POST", key, body });
    expect([answer.status, answer.json?.status], answer.text).toEqual([200, "DETECTED"]);
    expect((await rowOf(payment.id))?.finalAtMs).toBeNull();
    const [cursor] = await testDb.select().from(networkCursors).where(eq(networkCursors.network, "POL"));
    expect(cursor?.isResting).toBe(false);
  });

  it("leaves a payment DETECTED when its invoice needs two providers to agree", async () => {
    const shop = await freshMerchant();
    await testDb.update(merchants).set({ quorumAboveMicros: 10_000_000n }).where(eq(merchants.id, shop.merchantId));
    const key = await seedKey(shop.merchantId);
    const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] });
    const statuses = [];
    for (const rawAmount of [9, 10]) {
      const invoiceId = await invoiceOf(shop, { rawAmount });
      const payment = await seedPayment(shop.merchantId, { usdMicros: 9_999_999n });
      const body = { action: "ASSIGN", invoiceId, reason: "x" };
      const answer = await sendWith({ CHAIN_SOURCES }, pathOf(shop, payment), { method: "POST", key, body });
      statuses.push(answer.json?.status);
    }
    expect(statuses).toEqual(["CONFIRMED", "DETECTED"]);
  });
});

describe("IGNORE", () => {
  it("takes a payment off the list, without an invoice or an event, shows it as IGNORED, and cannot be repeated", async () => {
    const shop = await freshMerchant();
    const payment = await seedPayment(shop.merchantId);
    const { status, body, text } = await ignore(shop, payment);
    expect([status, body], text).toMatchObject([
      200,
      { status: "IGNORED", invoiceId: null, matchedBy: null, resolution: { action: "IGNORE", reason: "Not ours" } },
    ]);
    expect((await shop.get("/payments?status=IGNORED")).body.data).toMatchObject([{ id: payment.id }]);
    expect(await testDb.select().from(events).where(eq(events.merchantId, shop.merchantId))).toEqual([]);
    const [entry] = await auditOf(payment.id);
    expect([entry?.action, entry?.before]).toEqual([
      "payment.resolved",
      JSON.stringify({ status: "UNMATCHED", invoiceId: null, fiatAmount: null }),
    ]);
    const again = await ignore(shop, payment);
    expect([again.status, again.body.code]).toEqual([422, "PAYMENT_NOT_RESOLVABLE"]);
  });
});

describe("a resolution is refused", () => {
  it.each(["DETECTED", "CONFIRMED", "DROPPED", "REORGED"] as const)(
    "for a payment in %s, which has an invoice or is gone",
    async (status) => {
      const shop = await freshMerchant();
      const id = await invoiceOf(shop);
      const isCredited = status === "DETECTED" || status === "CONFIRMED";
      const payment = await seedPayment(shop.merchantId, { status, invoiceId: isCredited ? id : null });
      for (const answer of [await assign(shop, payment, id), await ignore(shop, payment)])
        expect([answer.status, answer.body.code]).toEqual([422, "PAYMENT_NOT_RESOLVABLE"]);
      expect(await rowOf(payment.id)).toEqual(payment);
    },
  );

  it("for another merchant's payment, and to another merchant's invoice", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const [mine, foreign] = [await seedPayment(shop.merchantId), await seedPayment(other.merchantId)];
    const id = await invoiceOf(shop);
    for (const payment of [foreign, { id: freshId("pay") }, { id: "pay_1" }]) {
      const answer = await assign(shop, payment, id);
      expect([answer.status, answer.body.code]).toEqual([404, "PAYMENT_NOT_FOUND"]);
    }
    for (const invoiceId of [await invoiceOf(other), freshId("inv"), "inv_1"]) {
      const answer = await assign(shop, mine, invoiceId);
      expect([answer.status, answer.body.code]).toEqual([404, "INVOICE_NOT_FOUND"]);
    }
    expect([await rowOf(mine.id), await rowOf(foreign.id)]).toEqual([mine, foreign]);
  });

  it.each([
    [{ action: "ASSIGN" }, "invoiceId"],
    [{ action: "IGNORE", invoiceId: "inv_1" }, "invoiceId"],
    [{ action: "CREDIT" }, "action"],
    [{ action: "IGNORE", reason: "" }, "reason"],
  ])("for the fields %j", async (changes, path) => {
    const shop = await freshMerchant();
    const payment = await seedPayment(shop.merchantId);
    const { status, body } = await shop.post(`/payments/${payment.id}/resolve`, { reason: "x", ...changes });
    expect([status, body.details?.[0]?.path]).toEqual([400, path]);
  });
});
