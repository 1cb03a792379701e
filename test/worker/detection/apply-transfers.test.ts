// Applies the transfers read from a chain to invoices, on D1: who is credited, who is not, which events are written. Nothing may be counted or
// reported twice.
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { recountGap } from "../../../src/detection/matching/store.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { USDT } from "../../support/wallet-bodies.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt, invoiceOf, look, rowsOf, shopAt, shown, transferTo } from "./transfers-harness.ts";

const BTC = { cryptocurrency: "BTC", network: "BTC" };
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

const typesOf = async (invoiceId: string) =>
  (
    await testDb
      .select({ type: events.type })
      .from(events)
      .where(sql`invoice_id = ${invoiceId}`)
      .orderBy(events.sequence)
  ).map(({ type }) => type);

const timeline = (invoice: { invoiceTimeline: { paymentStatus: string }[] }) =>
  invoice.invoiceTimeline.map(({ paymentStatus }) => paymentStatus);

describe("a transfer of exactly the requested amount", () => {
  it("makes the invoice PAID, with each timeline step and each event once", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 25);
    const transfer = transferTo(address, units);
    expect(await look([transfer])).toEqual({ ok: true, value: { invoices: [id] } });
    const invoice = await shown(merchant, id);
    expect(invoice).toMatchObject({ status: "PAID", amountReceived: "25.000000", amountConfirmed: "25.000000" });
    expect(timeline(invoice)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"]);
    expect(invoice.payments).toMatchObject([
      {
        status: "CONFIRMED",
        matchedBy: "EXACT_AMOUNT",
        txHash: transfer.txHash,
        fiatAmount: "25.000000",
        amount: "25",
      },
    ]);
    expect(await typesOf(id)).toEqual([
      "invoice.created",
      "payment.created",
      "payment.detected",
      "payment.confirmed",
      "invoice.pending_confirmation",
      "invoice.paid",
      "payment.paid",
    ]);
  });

  it("is credited once, even if ten reads apply it at the same time or it is read again", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 26);
    const transfer = transferTo(address, units);
    const looks = await Promise.all(Array.from({ length: 10 }, () => look([transfer])));
    expect(looks.some(({ ok }) => ok)).toBe(true);
    const before = await typesOf(id);
    expect(await look([transfer])).toEqual({ ok: true, value: { invoices: [] } });
    expect(await typesOf(id)).toEqual(before);
    expect(await rowsOf(transfer.txHash)).toHaveLength(1);
    expect((await shown(merchant, id)).amountReceived).toBe("26.000000");
  });

  it("waits for its confirmations, and above the merchant's quorum amount for a second provider", async () => {
    const { merchant, address } = await shopAt(undefined, 3);
    expect((await merchant.patch("/settings", { quorumAboveAmount: 1_000 })).status).toBe(200);
    const small = await invoiceOf(merchant, 27);
    const large = await invoiceOf(merchant, 1_001);
    const [one, other] = [transferTo(address, small.units), transferTo(address, large.units)];
    await look([one, other], { tip: 101, hasSecond: true });
    expect((await shown(merchant, small.id)).status).toBe("PENDING_CONFIRMATION");
    await look([one], { tip: 102 });
    expect((await shown(merchant, small.id)).status).toBe("PAID");
    await look([other], { tip: 120, hasSecond: true });
    expect((await shown(merchant, large.id)).status).toBe("PENDING_CONFIRMATION");
    const [payment] = await rowsOf(other.txHash);
    if (payment === undefined || other.block === null) throw new Error("not stored");
    const observation = { kind: "mined", block: other.block } as const;
    await look([], { tip: 120, hasSecond: true, seen: [{ payment, observation, mayConfirm: true }] });
    expect((await shown(merchant, large.id)).status).toBe("PAID");
  });
});

describe("the time window of an amount", () => {
  it("accepts a block time truncated to whole seconds, but no transfer from a minute before the invoice", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 28);
    const old = transferTo(address, units, { block: blockAt(99, Date.now() - 60_000) });
    await look([old]);
    expect((await rowsOf(old.txHash)).map(({ status }) => status)).toEqual(["UNMATCHED"]);
    await look([transferTo(address, units, { block: blockAt(100, Math.floor(Date.now() / 1_000 - 1) * 1_000) })]);
    expect((await shown(merchant, id)).status).toBe("PAID");
  });
});

describe("an amount close to another merchant's amount at the same address", () => {
  const secondMs = Math.floor(Date.now() / 1_000) * 1_000;

  /** Two invoices of 50 at one address; the amount of the second is allocated at `givenAtMs`, a second after the first. */
  async function nearAmounts(givenAtMs: number) {
    const { merchant, address } = await shopAt();
    const { merchant: neighbour } = await shopAt(address);
    const others = await invoiceOf(neighbour, 50);
    const { id, units } = await invoiceOf(merchant, 50);
    expect(units).not.toBe(others.units);
    const given = (atMs: number) => testDb.update(methodAmounts).set({ createdAtMs: atMs });
    await given(givenAtMs - 1_000).where(sql`invoice_id = ${others.id}`);
    await given(givenAtMs).where(sql`invoice_id = ${id}`);
    return { merchant, neighbour, address, id, units, others };
  }

  it("is paid by a payment in a block of the second in which it was allocated", async () => {
    const { merchant, neighbour, address, id, units, others } = await nearAmounts(secondMs + 999);
    await look([transferTo(address, units, { block: blockAt(100, secondMs) })]);
    expect((await shown(merchant, id)).payments).toMatchObject([{ matchedBy: "EXACT_AMOUNT" }]);
    expect((await shown(neighbour, others.id)).payments).toEqual([]);
  });

  it.each([
    ["a payment in a block of the second before", blockAt(100, secondMs), secondMs + 1_000],
    ["an unconfirmed transfer seen before it was allocated", null, secondMs + 2],
  ])("is not paid by %s", async (_, block, givenAtMs) => {
    const { address, units } = await nearAmounts(givenAtMs);
    const transfer = transferTo(address, units, { block });
    await look([transfer], { nowMs: secondMs + 1 });
    expect(await rowsOf(transfer.txHash)).toMatchObject([{ status: "UNMATCHED" }, { status: "UNMATCHED" }]);
  });
});

describe("a payment to an invoice that has closed", () => {
  it.each([
    ["REVIEW", { status: "EXPIRED", isLate: true, needsReview: true, amountReceived: "0.000000" }],
    ["ACCEPT", { status: "PAID", isLate: false, needsReview: false, amountReceived: "30.000000" }],
  ])("is handled according to the late payment policy %s", async (latePaymentPolicy, expected) => {
    const { merchant, address } = await shopAt();
    await merchant.patch("/settings", { latePaymentPolicy });
    const { id, units, expiresAt } = await invoiceOf(merchant, 30, { expiresInSeconds: 60 });
    const expiresAtMs = Date.parse(expiresAt);
    const nowMs = expiresAtMs + 60_000;
    // The invoice as the sweep leaves it if no source delays the expiry.
    await testDb.update(invoices).set({ status: "EXPIRED", closedAtMs: nowMs, expiresAtMs }).where(sql`id = ${id}`);
    await look([transferTo(address, units, { block: blockAt(100, nowMs) })], { nowMs: nowMs + 1_000 });
    expect(await shown(merchant, id)).toMatchObject(expected);
    if (latePaymentPolicy === "REVIEW") expect(await typesOf(id)).toContain("invoice.payment_late");
  });

  it("is marked late and for review when the invoice was cancelled", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 31);
    expect((await merchant.post(`/invoices/${id}/cancel`)).status).toBe(200);
    await look([transferTo(address, units)]);
    expect(await shown(merchant, id)).toMatchObject({ status: "CANCELLED", isLate: true, needsReview: true });
  });

  it("pays an expired invoice when it was made on time and only read late", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 32);
    await testDb.update(invoices).set({ status: "EXPIRED", closedAtMs: Date.now() }).where(sql`id = ${id}`);
    await look([transferTo(address, units)], { nowMs: Date.now() + HOUR_MS });
    expect((await shown(merchant, id)).status).toBe("PAID");
  });
});

describe("a payment whose block leaves the chain", () => {
  it("reverses the invoice's status, and keeps its row when it is mined again in another block", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 40);
    const transfer = transferTo(address, units);
    await look([transfer]);
    const [payment] = await rowsOf(transfer.txHash);
    if (payment === undefined) throw new Error("not stored");
    await look([], { tip: 101, seen: [{ payment, observation: { kind: "unknown" } }] });
    const reversed = await shown(merchant, id);
    expect(reversed.status).toBe("AWAITING_PAYMENT");
    expect(reversed.payments).toMatchObject([{ status: "REORGED", blockHeight: null }]);
    await look([{ ...transfer, block: blockAt(103, Date.now(), "b") }], { tip: 103 });
    const again = await shown(merchant, id);
    expect(again).toMatchObject({ status: "PAID", amountReceived: "40.000000" });
    expect(again.payments).toMatchObject([{ status: "CONFIRMED", blockHeight: 103 }]);
    expect(await rowsOf(transfer.txHash)).toHaveLength(1);
    expect(await typesOf(id)).toEqual(expect.arrayContaining(["payment.reorged", "invoice.reversed"]));
  });

  it("keeps its only row, without an invoice, if it was unmatched", async () => {
    const { address } = await shopAt();
    const transfer = transferTo(address, 7_000_000n);
    await look([transfer]);
    const [payment] = await rowsOf(transfer.txHash);
    if (payment === undefined) throw new Error("not stored");
    expect(payment.status).toBe("UNMATCHED");
    await look([], { tip: 101, seen: [{ payment, observation: { kind: "unknown" } }] });
    await look([{ ...transfer, block: blockAt(102, Date.now(), "b") }], { tip: 102 });
    const rows = await rowsOf(transfer.txHash);
    expect(rows.map(({ status, blockHeight }) => [status, blockHeight])).toEqual([["UNMATCHED", 102]]);
  });
});

const xpubWallet = () => ({ walletType: "XPUB_WALLET", ...BTC, xpub: ZPUB, derivationPath: "m/84'/0'/0'" });

describe("an address that belongs to one invoice", () => {
  const xpub = xpubWallet();

  it("credits any amount to its invoice, and the wallet's gap is counted from that address until the payment is dropped", async () => {
    const merchant = await freshMerchant();
    const wallet = await merchant.post("/wallets", xpub);
    expect(wallet.status).toBe(201);
    const gap = async () =>
      (await testDb.select({ gap: wallets.gap }).from(wallets).where(sql`id = ${wallet.body.id}`))[0]?.gap;
    const made: { id: string; address: string }[] = [];
    for (let i = 0; i < 3; i++) {
      const { body } = await merchant.post("/invoices", { name: "Order", rawAmount: 68, paymentMethods: [BTC] });
      made.push({ id: body.id, address: body.paymentMethods[0].address });
    }
    expect(await gap()).toBe(3);
    const [, second] = made;
    if (second === undefined) throw new Error("no second");
    const paying = transferTo(second.address, 100_000n, { cryptocurrency: "BTC", fromAddress: null, block: null });
    await look([paying], { network: "BTC" });
    expect(await shown(merchant, second.id)).toMatchObject({ status: "PENDING_CONFIRMATION" });
    expect(await gap()).toBe(1);
    const [payment] = await rowsOf(paying.txHash);
    if (payment === undefined) throw new Error("not stored");
    expect(payment.matchedBy).toBe("ADDRESS");
    await look([], { network: "BTC", seen: [{ payment, observation: { kind: "replaced" } }] });
    expect(await gap()).toBe(3);
    expect(await shown(merchant, second.id)).toMatchObject({
      status: "AWAITING_PAYMENT",
      payments: [{ status: "DROPPED" }],
    });
  });
});

it("a list filtered by coin has the invoices that were paid in the coin, until their payment is dropped", async () => {
  const { merchant, address } = await shopAt();
  const [paid, other] = [await invoiceOf(merchant, 51), await invoiceOf(merchant, 52)];
  const transfer = transferTo(address, paid.units, { block: null });
  await look([transfer]);
  const found = async (query: string) => {
    const { status, body } = await merchant.get(`/invoices?${query}`);
    expect(status).toBe(200);
    return body.data.map(({ id }: { readonly id: string }) => id);
  };
  const { cryptocurrency, network } = USDT;
  const ofCoin = `cryptocurrency=${cryptocurrency}&network=${network}`;
  expect(await found(ofCoin)).toEqual([paid.id]);
  expect(await found(`${ofCoin}&amountFrom=51.5`)).toEqual([]);
  expect(await found(`cryptocurrency=${cryptocurrency}`)).toEqual([paid.id]);
  expect(await found("cryptocurrency=USDC&network=ETH")).toEqual([]);
  expect(await found("network=BASE")).toEqual([]);
  expect((await found("amountTo=60")).toSorted()).toEqual([paid.id, other.id].toSorted());
  const [payment] = await rowsOf(transfer.txHash);
  if (payment === undefined) throw new Error("not stored");
  await look([], { seen: [{ payment, observation: { kind: "replaced" } }] });
  expect(await found(ofCoin)).toEqual([]);
});

it("a wallet's gap is counted from its newest addresses, however many it has given out", async () => {
  const merchant = await freshMerchant();
  const wallet = await merchant.post("/wallets", xpubWallet());
  const made = [];
  for (let i = 0; i < 2; i++)
    made.push((await merchant.post("/invoices", { name: "Order", rawAmount: 68, paymentMethods: [BTC] })).body);
  const [first] = made;
  await look([transferTo(first.paymentMethods[0].address, 100_000n, { cryptocurrency: "BTC", block: null })], {
    network: "BTC",
  });
  await copyInvoice(first.id, 500);
  await testDb.run(
    sql`update payment_methods set address_index = -rowid, address = address || rowid where invoice_id like ${`${first.id}_%`}`,
  );
  const { meta } = await recountGap(testDb, wallet.body.id);
  expect(await testDb.select({ gap: wallets.gap }).from(wallets).where(sql`id = ${wallet.body.id}`)).toEqual([
    { gap: 1 },
  ]);
  expect(meta.rows_read).toBeLessThan(20);
});

describe("a payment method altered in the database", () => {
  it("is not credited: the transfer is UNMATCHED", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 45);
    await testDb.update(paymentMethods).set({ mac: "forged" }).where(sql`invoice_id = ${id}`);
    const transfer = transferTo(address, units);
    await look([transfer]);
    expect((await rowsOf(transfer.txHash)).map(({ status }) => status)).toEqual(["UNMATCHED"]);
  });
});

describe("unexplained balance growth", () => {
  it("is UNMATCHED, even if it is exactly what an invoice asked for", async () => {
    const { merchant, address } = await shopAt();
    const { units } = await invoiceOf(merchant, 46);
    const transfer = transferTo(address, units, { outputIndex: "balance", isUnexplained: true });
    await look([transfer]);
    expect((await rowsOf(transfer.txHash)).map(({ status }) => status)).toEqual(["UNMATCHED"]);
  });
});

describe("the reservation of the amount still due", () => {
  it("keeps other invoices at the address from asking for that amount", async () => {
    const { merchant, address } = await shopAt();
    const part = await invoiceOf(merchant, 100);
    await look([transferTo(address, 40_000_000n)]);
    const held = () => testDb.select().from(methodAmounts).where(sql`invoice_id = ${part.id}`);
    expect((await held()).map(({ units }) => units)).toEqual([100_000_000n, 60_000_000n]);
    const rival = await invoiceOf(merchant, 60);
    expect(rival.units).toBe(59_990_000n);
    const body = await shown(merchant, part.id);
    expect(body.paymentMethods[0]).toMatchObject({ amount: "100", amountDue: "60" });
  });

  it("stays after expiry under the ACCEPT policy, once the first part is confirmed", async () => {
    const { merchant, address } = await shopAt(undefined, 12);
    expect((await merchant.patch("/settings", { latePaymentPolicy: "ACCEPT" })).status).toBe(200);
    const rival = await invoiceOf(merchant, 60);
    expect((await merchant.post(`/invoices/${rival.id}/cancel`, {})).status).toBe(200);
    const part = await invoiceOf(merchant, 100);
    const transfer = transferTo(address, 40_000_000n);
    await look([transfer]);
    expect((await shown(merchant, part.id)).paymentMethods[0].amountDue).toBe("59.99");
    const expiresAtMs = transfer.block?.timeMs ?? 0;
    await testDb.update(invoices).set({ expiresAtMs }).where(sql`id = ${part.id}`);
    expect((await shown(merchant, part.id)).status).toBe("PENDING_CONFIRMATION");
    const [payment] = await rowsOf(transfer.txHash);
    if (payment === undefined || transfer.block === null) throw new Error("not stored");
    const observation = { kind: "mined", block: transfer.block } as const;
    await look([], { tip: 120, seen: [{ payment, observation, mayConfirm: true }] });
    const body = await shown(merchant, part.id);
    expect([body.status, body.paymentMethods[0].amountDue]).toEqual(["UNDERPAID", "59.99"]);
  });
});

describe("an invoice's own address that another merchant registers as a direct wallet", () => {
  it("still pays its invoice, however many payment methods the other merchant opens on it", async () => {
    const merchant = await freshMerchant();
    const xpub = { walletType: "XPUB_WALLET", ...BTC, xpub: ZPUB, derivationPath: "m/84'/0'/0'" };
    expect((await merchant.post("/wallets", xpub)).status).toBe(201);
    const own = await merchant.post("/invoices", { name: "Order", rawAmount: 680, paymentMethods: [BTC] });
    const [{ address }] = own.body.paymentMethods;
    const stranger = await freshMerchant();
    await stranger.post("/wallets", { walletType: "DIRECT_WALLET", ...BTC, address });
    const made: string[] = [];
    for (let i = 0; i < 25; i++)
      made.push((await stranger.post("/invoices", { name: "Order", rawAmount: 680, paymentMethods: [BTC] })).body.id);
    const { amountUnits = 0n } =
      (await testDb.select().from(paymentMethods).where(sql`invoice_id = ${made[24]}`))[0] ?? {};
    const paying = transferTo(address, amountUnits ?? 0n, { cryptocurrency: "BTC", fromAddress: null });
    await look([paying], { network: "BTC" });
    expect((await shown(merchant, own.body.id)).payments).toMatchObject([{ matchedBy: "ADDRESS" }]);
    expect((await rowsOf(paying.txHash)).map(({ merchantId }) => merchantId)).toEqual([merchant.merchantId]);
  });
});
