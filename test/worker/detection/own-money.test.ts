// A payment from an address to itself counts for no invoice: change returns to a reused Bitcoin address, and on account chains anyone can send to
// themselves.
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { BTC, randomHex, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt, invoiceOf, look, rowsOf, shopAt, shown, transferTo } from "./transfers-harness.ts";

const toItself = (address: string, units: bigint, changes: Partial<Transfer> = {}) =>
  transferTo(address, units, { fromAddress: address, ...changes });

const unmatchedEvents = async ({ merchantId }: TestMerchant) =>
  testDb
    .select({ type: events.type })
    .from(events)
    .where(sql`merchant_id = ${merchantId} and type = 'payment.unmatched'`);

describe("a transfer from an address to itself", () => {
  it.each([
    ["of exactly what an invoice asks for", 0n],
    ["within an invoice's tolerance", 10_000n],
    ["of half of what the only invoice asks for", 50_000_000n],
  ])("%s credits nothing, and is stored as IGNORED without an event", async (_, less) => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 100);
    const own = toItself(address, units - less);
    await look([{ ...own, block: null }]);
    for (let passes = 0; passes < 2; passes++) expect(await look([own])).toMatchObject({ ok: true });
    expect(await shown(merchant, id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [], needsReview: false });
    expect(await rowsOf(own.txHash)).toMatchObject([
      { merchantId: merchant.merchantId, invoiceId: null, status: "IGNORED", fromAddress: address },
    ]);
    expect(await unmatchedEvents(merchant)).toEqual([]);
  });

  it("does not use up the amount: a customer's payment of that amount is credited", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 101);
    await look([toItself(address, units), transferTo(address, units)]);
    expect(await shown(merchant, id)).toMatchObject({ status: "PAID", amountReceived: "101.000000" });
  });

  it("is stored for each merchant with a wallet at the address", async () => {
    const first = await shopAt();
    const second = await shopAt(first.address);
    const own = toItself(first.address, 7_000_000n);
    await look([own]);
    const rows = await rowsOf(own.txHash);
    const holders = [first, second].map(({ merchant }) => merchant.merchantId).toSorted();
    expect(rows.map(({ merchantId, status }) => [merchantId, status]).toSorted()).toEqual(
      holders.map((merchantId) => [merchantId, "IGNORED"]),
    );
  });

  it("can be assigned by a user, and stays assigned", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 102);
    const own = toItself(address, units);
    await look([own]);
    const [row] = await rowsOf(own.txHash);
    const body = { action: "ASSIGN", invoiceId: id, reason: "The payer's wallet joined our transaction" };
    expect((await merchant.post(`/payments/${row?.id}/resolve`, body)).status).toBe(200);
    await look([{ ...own, block: blockAt(101, Date.now(), "b") }], { tip: 101 });
    expect(await shown(merchant, id)).toMatchObject({ status: "PAID", amountReceived: "102.000000" });
    expect(await rowsOf(own.txHash)).toHaveLength(1);
  });
});

describe("a change output to an invoice's own address", () => {
  it("credits nothing, and is IGNORED for the invoice's merchant", async () => {
    const merchant = await freshMerchant();
    expect((await merchant.post("/wallets", xpubWallet())).status).toBe(201);
    const { body } = await merchant.post("/invoices", { name: "Order", rawAmount: 68, paymentMethods: [BTC] });
    const address = String(body.paymentMethods[0].address);
    const own = toItself(address, 100_000n, { cryptocurrency: "BTC", txHash: randomHex(32) });
    expect(await look([own], { network: "BTC" })).toMatchObject({ ok: true });
    expect(await shown(merchant, body.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    expect(await rowsOf(own.txHash)).toMatchObject([{ merchantId: merchant.merchantId, status: "IGNORED" }]);
  });
});

describe("a payment whose sender a source did not report", () => {
  it("leaves its invoice once a source reports that the address paid itself, and does not return", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 103);
    const own = toItself(address, units);
    await look([{ ...own, fromAddress: null, block: null }]);
    expect(await shown(merchant, id)).toMatchObject({ amountReceived: "103.000000" });
    await look([own]);
    expect(await shown(merchant, id)).toMatchObject({
      status: "AWAITING_PAYMENT",
      amountReceived: "0.000000",
      needsReview: true,
    });
    for (const fromAddress of [null, address]) await look([{ ...own, fromAddress }]);
    const rows = (await rowsOf(own.txHash)).map(({ status, invoiceId }) => [status, invoiceId]);
    expect(rows.toSorted()).toEqual([
      ["DROPPED", id],
      ["IGNORED", null],
    ]);
  });

  it("stays where a user has assigned it", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 104);
    const own = toItself(address, units * 3n);
    await look([{ ...own, fromAddress: null }]);
    const [row] = await rowsOf(own.txHash);
    expect(row?.status).toBe("UNMATCHED");
    const body = { action: "ASSIGN", invoiceId: id, reason: "The payer wrote to us" };
    expect((await merchant.post(`/payments/${row?.id}/resolve`, body)).status).toBe(200);
    await look([own]);
    expect(await rowsOf(own.txHash)).toMatchObject([{ invoiceId: id, status: "CONFIRMED" }]);
  });
});
