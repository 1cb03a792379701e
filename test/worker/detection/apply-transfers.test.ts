// What a look at the chain makes of invoices, on D1: who is credited, who is not, what is told, and that nothing is told or counted twice.
import { env } from "cloudflare:workers";
import { and, eq, sql } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";
import { networkNamed } from "../../../src/chains/networks.ts";
import type { BlockRef, Transfer } from "../../../src/chains/transfer.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { applyTransfers, type SeenPayment } from "../../../src/detection/matching/apply-transfers.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { amountReservations, invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const HOUR_MS = 3_600_000;
const USDT = { cryptocurrency: "USDT", network: "ETH" };
const BTC = { cryptocurrency: "BTC", network: "BTC" };
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

const hex = (bytes: number) =>
  [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A merchant with a direct USDT wallet, on an address of its own unless another's is given. */
async function shopAt(address = `0x${hex(20)}`, requiredConfirmations = 1) {
  const merchant = await freshMerchant();
  const wallet = await merchant.post("/wallets", {
    walletType: "DIRECT_WALLET",
    ...USDT,
    address,
    requiredConfirmations,
  });
  expect(wallet.status).toBe(201);
  return { merchant, address: String(wallet.body.address), walletId: String(wallet.body.id) };
}

async function invoiceOf(merchant: TestMerchant, rawAmount: number, more: object = {}) {
  const made = await merchant.post("/invoices", { name: "Order", rawAmount, paymentMethods: [USDT], ...more });
  expect(made.status).toBe(201);
  return {
    id: String(made.body.id),
    units: unitsOf(made.body.paymentMethods[0].amount),
    expiresAt: made.body.expiresAt,
  };
}

const unitsOf = (amount: string) => BigInt(Math.round(Number(amount) * 1e6));
const blockAt = (height: number, timeMs = Date.now(), fork = ""): BlockRef => ({
  height,
  hash: `h${height}${fork}`,
  timeMs,
});

function transferTo(toAddress: string, amountUnits: bigint, changes: Partial<Transfer> = {}): Transfer {
  return {
    cryptocurrency: "USDT",
    txHash: `0x${hex(32)}`,
    outputIndex: "0",
    fromAddress: `0x${hex(20)}`,
    toAddress,
    amountUnits,
    block: blockAt(100),
    spends: [],
    raw: '{"log":1}',
    ...changes,
  };
}

interface LookOptions {
  readonly tip?: number;
  readonly network?: string;
  readonly seen?: readonly SeenPayment[];
  readonly nowMs?: number;
  readonly hasSecond?: boolean;
}

async function look(
  transfers: readonly Transfer[],
  { tip = 100, network = "ETH", seen = [], ...more }: LookOptions = {},
) {
  const { nowMs = Date.now(), hasSecond = false } = more;
  const of = networkNamed(network);
  if (of === undefined) throw new Error(network);
  const deps = invoiceDependencies(env, { db: testDb, nowMs, sleep });
  return applyTransfers(deps, {
    network: of,
    heights: { tipHeight: tip, finalizedHeight: null },
    transfers,
    seen,
    hasSecond,
  });
}

const shown = async (merchant: TestMerchant, id: string) => (await merchant.get(`/invoices/${id}`)).body;
const rowsOf = (txHash: string) => testDb.select().from(payments).where(eq(payments.txHash, txHash));
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

describe("a transfer of exactly what is asked", () => {
  it("makes the invoice PAID, step by step in the timeline, with every event once", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 25);
    const transfer = transferTo(address, units);
    expect(await look([transfer])).toEqual({ ok: true, value: { invoices: [id], unmatched: 0 } });
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

  it("is credited once, whatever is looked at again and however many look at once", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 26);
    const transfer = transferTo(address, units);
    const looks = await Promise.all(Array.from({ length: 10 }, () => look([transfer])));
    expect(looks.some(({ ok }) => ok)).toBe(true);
    const before = await typesOf(id);
    expect(await look([transfer])).toEqual({ ok: true, value: { invoices: [], unmatched: 0 } });
    expect(await typesOf(id)).toEqual(before);
    expect(await rowsOf(transfer.txHash)).toHaveLength(1);
    expect((await shown(merchant, id)).amountReceived).toBe("26.000000");
  });

  it("waits for its confirmations, and for a second provider above the merchant's figure", async () => {
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

describe("the window of an amount", () => {
  it("is not so narrow that the whole seconds of a block's clock fall out of it, and takes nothing older", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 28);
    const old = transferTo(address, units, { block: blockAt(99, Date.now() - 60_000) });
    await look([old]);
    expect((await rowsOf(old.txHash)).map(({ status }) => status)).toEqual(["UNMATCHED"]);
    await look([transferTo(address, units, { block: blockAt(100, Math.floor(Date.now() / 1_000 - 1) * 1_000) })]);
    expect((await shown(merchant, id)).status).toBe("PAID");
  });
});

describe("a transfer that is not what was asked", () => {
  it("within the tolerance pays, and what is paid stays a candidate for what is sent before its end", async () => {
    const { merchant, address } = await shopAt();
    const near = await invoiceOf(merchant, 200);
    await look([transferTo(address, near.units - 1_000_000n)]);
    expect(await shown(merchant, near.id)).toMatchObject({ status: "PAID", amountReceived: "199.000000" });
    const other = await invoiceOf(merchant, 500);
    await look([transferTo(address, 250_000_000n)]);
    expect(await shown(merchant, other.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
  });

  it("below the tolerance leaves a rest with an amount of its own, above it is OVERPAID", async () => {
    const { merchant, address } = await shopAt();
    const part = await invoiceOf(merchant, 500);
    await look([transferTo(address, 250_000_000n)]);
    const partial = await shown(merchant, part.id);
    expect(partial).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "250.000000", needsReview: false });
    expect(partial.payments).toMatchObject([{ matchedBy: "SOLE_CANDIDATE" }]);
    const due = unitsOf(partial.paymentMethods[0].amountDue);
    expect(due).toBe(250_000_000n);
    // Another invoice that waits makes the rest findable by its amount alone.
    await invoiceOf(merchant, 252);
    await look([transferTo(address, due)]);
    const paid = await shown(merchant, part.id);
    expect(paid).toMatchObject({ status: "PAID", amountReceived: "500.000000" });
    expect(paid.payments.map((each: { matchedBy: string }) => each.matchedBy)).toEqual([
      "SOLE_CANDIDATE",
      "EXACT_AMOUNT",
    ]);
    const over = await invoiceOf(merchant, 700);
    await look([transferTo(address, over.units + 20_000_000n)]);
    expect((await shown(merchant, over.id)).status).toBe("PAID");
    const far = await invoiceOf(merchant, 900);
    await look([transferTo(address, far.units), transferTo(address, far.units)]);
    expect(await shown(merchant, far.id)).toMatchObject({ status: "OVERPAID", amountReceived: "1800.000000" });
  });

  it("is nobody's where two invoices could be meant, and names only the own ones as candidates", async () => {
    const { merchant, address } = await shopAt();
    const other = await shopAt(address);
    const own = await invoiceOf(merchant, 50);
    const theirs = await invoiceOf(other.merchant, 50.2);
    const transfer = transferTo(address, own.units + 50_000n);
    expect(await look([transfer])).toMatchObject({ ok: true, value: { invoices: [], unmatched: 2 } });
    const rows = await rowsOf(transfer.txHash);
    expect(rows.map(({ status, invoiceId }) => [status, invoiceId])).toEqual([
      ["UNMATCHED", null],
      ["UNMATCHED", null],
    ]);
    for (const row of rows) {
      const isOwn = row.merchantId === merchant.merchantId;
      const candidates = JSON.parse(row.evidence).candidates.map((each: { invoiceId: string }) => each.invoiceId);
      expect(candidates).toEqual([isOwn ? own.id : theirs.id]);
      const told = await testDb.select().from(events).where(eq(events.merchantId, row.merchantId));
      expect(told.filter(({ type }) => type === "payment.unmatched")).toHaveLength(1);
    }
  });

  it("on an address of two merchants pays the one who reserved it, and nobody else has a row", async () => {
    const { merchant, address } = await shopAt();
    const other = await shopAt(address);
    const own = await invoiceOf(merchant, 60);
    const theirs = await invoiceOf(other.merchant, 60);
    expect(theirs.units).not.toBe(own.units);
    const transfer = transferTo(address, theirs.units);
    await look([transfer]);
    expect((await shown(merchant, own.id)).status).toBe("AWAITING_PAYMENT");
    expect((await shown(other.merchant, theirs.id)).status).toBe("PAID");
    expect((await rowsOf(transfer.txHash)).map(({ merchantId }) => merchantId)).toEqual([other.merchant.merchantId]);
  });

  it("is IGNORED as dust and tells nobody, whether somebody asked for it or not", async () => {
    const { merchant, address } = await shopAt();
    const { id } = await invoiceOf(merchant, 80);
    const dust = transferTo(address, 50_000n);
    await look([dust]);
    expect((await rowsOf(dust.txHash)).map(({ status }) => status)).toEqual(["IGNORED"]);
    expect(await shown(merchant, id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    const told = await testDb.select().from(events).where(eq(events.merchantId, merchant.merchantId));
    expect(told.filter(({ type }) => type === "payment.unmatched")).toEqual([]);
  });

  it("is listed for each of many merchants on its address, however long the evidence is", async () => {
    const { address, walletId } = await shopAt();
    const [wallet] = await testDb.select().from(wallets).where(eq(wallets.address, address));
    if (wallet === undefined) throw new Error(walletId);
    const others = Array.from({ length: 40 }, () => ({ ...wallet, id: freshId("wal"), merchantId: freshId("mer") }));
    for (const other of others) await testDb.insert(wallets).values(other);
    const raw = JSON.stringify({ script: "0".repeat(4_000) });
    const unmatchedPayments = Array.from({ length: 20 }, () => transferTo(address, 5_000_000n, { raw }));
    const bind = vi.spyOn(Object.getPrototypeOf(env.DB.prepare("select 1")), "bind");
    expect(await look(unmatchedPayments)).toEqual({ ok: true, value: { invoices: [], unmatched: 820 } });
    const longest = Math.max(...bind.mock.calls.flat().map((value) => (typeof value === "string" ? value.length : 0)));
    bind.mockRestore();
    // D1 takes two megabytes as a parameter.
    expect(longest).toBeGreaterThan(50_000);
    expect(longest).toBeLessThan(1_000_000);
    for (const { txHash } of unmatchedPayments) expect(await rowsOf(txHash)).toHaveLength(41);
  });

  it("is listed 100 times a day on an address, then summed up once", async () => {
    const { merchant, address } = await shopAt();
    const spam = Array.from({ length: 103 }, () => transferTo(address, 5_000_000n));
    await look(spam.slice(0, 100));
    await look(spam.slice(100));
    await look(spam.slice(100));
    const rows = await testDb
      .select()
      .from(payments)
      .where(and(eq(payments.merchantId, merchant.merchantId), eq(payments.status, "UNMATCHED")));
    expect(rows).toHaveLength(100);
    const told = await testDb.select().from(events).where(eq(events.merchantId, merchant.merchantId));
    const unmatched = told.filter(({ type }) => type === "payment.unmatched").map(({ data }) => JSON.parse(data));
    expect(unmatched).toHaveLength(101);
    expect(unmatched.filter(({ isTruncated }) => isTruncated === true)).toHaveLength(1);
  });

  it("is listed and can be assigned whatever smaller ones the address was flooded with, and those stay bounded", async () => {
    const { merchant, address } = await shopAt();
    const flood = [200_000n, 3_000_000n].flatMap((units) =>
      Array.from({ length: 120 }, () => transferTo(address, units)),
    );
    await look(flood);
    const real = transferTo(address, 40_000_000n);
    await look([real]);
    await look([...flood, real]);
    const unmatched = await testDb.select().from(payments).where(eq(payments.merchantId, merchant.merchantId));
    expect(Map.groupBy(unmatched, ({ amountUnits }) => amountUnits)).toSatisfy((by: Map<bigint, unknown[]>) =>
      [200_000n, 3_000_000n].every((units) => by.get(units)?.length === 100),
    );
    const [row] = await rowsOf(real.txHash);
    const listed = (await merchant.get(`/payments?status=UNMATCHED&txHash=${real.txHash}`)).body.data;
    expect(listed).toMatchObject([{ id: row?.id, amount: "40" }]);
    const order = (await merchant.post("/invoices", { name: "Order", rawAmount: 40, paymentMethods: [] })).body;
    const assigned = await merchant.post(`/payments/${row?.id}/resolve`, {
      ...{ action: "ASSIGN", invoiceId: order.id, reason: "the customer wrote to us" },
    });
    expect([assigned.status, assigned.body.invoiceId]).toEqual([200, order.id]);
    const told = await testDb.select().from(events).where(eq(events.merchantId, merchant.merchantId));
    const summaries = told.map(({ data }) => JSON.parse(data)).filter(({ isTruncated }) => isTruncated === true);
    expect(summaries.map(({ worthFrom, worthBelow }) => [worthFrom, worthBelow]).sort()).toEqual([
      ["0.000000", "1.000000"],
      ["1.000000", "10.000000"],
    ]);
  });
});

describe("money that comes too late", () => {
  it.each([
    ["REVIEW", { status: "EXPIRED", isLate: true, needsReview: true, amountReceived: "0.000000" }],
    ["ACCEPT", { status: "PAID", isLate: false, needsReview: false, amountReceived: "30.000000" }],
  ])("under %s", async (latePaymentPolicy, expected) => {
    const { merchant, address } = await shopAt();
    await merchant.patch("/settings", { latePaymentPolicy });
    const { id, units, expiresAt } = await invoiceOf(merchant, 30, { expiresInSeconds: 60 });
    const expiresAtMs = Date.parse(expiresAt);
    const nowMs = expiresAtMs + 60_000;
    // The clock has come to the sweep, which no source holds up here.
    await testDb.update(invoices).set({ status: "EXPIRED", closedAtMs: nowMs, expiresAtMs }).where(sql`id = ${id}`);
    await look([transferTo(address, units, { block: blockAt(100, nowMs) })], { nowMs: nowMs + 1_000 });
    expect(await shown(merchant, id)).toMatchObject(expected);
    if (latePaymentPolicy === "REVIEW") expect(await typesOf(id)).toContain("invoice.payment_late");
  });

  it("on a cancelled invoice waits for a person", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 31);
    expect((await merchant.post(`/invoices/${id}/cancel`)).status).toBe(200);
    await look([transferTo(address, units)]);
    expect(await shown(merchant, id)).toMatchObject({ status: "CANCELLED", isLate: true, needsReview: true });
  });

  it("in time but read after an outage pays what had expired by the clock", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 32);
    await testDb.update(invoices).set({ status: "EXPIRED", closedAtMs: Date.now() }).where(sql`id = ${id}`);
    await look([transferTo(address, units)], { nowMs: Date.now() + HOUR_MS });
    expect((await shown(merchant, id)).status).toBe("PAID");
  });
});

describe("what leaves the chain", () => {
  it("takes the status back, and one row comes back when it is mined again elsewhere", async () => {
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

  it("is told of a stray as well, without an invoice", async () => {
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

describe("an address of an invoice's own", () => {
  const xpub = { walletType: "XPUB_WALLET", ...BTC, xpub: ZPUB, derivationPath: "m/84'/0'/0'" };

  it("pays its invoice whatever the amount, and the wallet's gap counts from it", async () => {
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

describe("a row that was altered in the database", () => {
  it("credits nothing: the money waits for a person", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 45);
    await testDb.update(paymentMethods).set({ mac: "forged" }).where(sql`invoice_id = ${id}`);
    const transfer = transferTo(address, units);
    await look([transfer]);
    expect((await rowsOf(transfer.txHash)).map(({ status }) => status)).toEqual(["UNMATCHED"]);
  });
});

describe("an unexplained balance", () => {
  it("is for review, even where it is exactly what somebody asked", async () => {
    const { merchant, address } = await shopAt();
    const { units } = await invoiceOf(merchant, 46);
    const transfer = transferTo(address, units, { outputIndex: "balance", isUnexplained: true });
    await look([transfer]);
    expect((await rowsOf(transfer.txHash)).map(({ status }) => status)).toEqual(["UNMATCHED"]);
  });
});

describe("reservations", () => {
  it("keep the rest's amount from every other invoice of the address", async () => {
    const { merchant, address } = await shopAt();
    const part = await invoiceOf(merchant, 100);
    await look([transferTo(address, 40_000_000n)]);
    const held = () => testDb.select().from(amountReservations).where(sql`invoice_id = ${part.id}`);
    expect((await held()).map(({ units }) => units)).toEqual([100_000_000n, 60_000_000n]);
    const rival = await invoiceOf(merchant, 60);
    expect(rival.units).toBe(59_990_000n);
    const body = await shown(merchant, part.id);
    expect(body.paymentMethods[0]).toMatchObject({ amount: "100", amountDue: "60" });
  });

  it("keep it where late money is taken, once the time is over and the first part is confirmed", async () => {
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

describe("an own address that a stranger registers as a shared one", () => {
  it("still pays its invoice, however many methods the stranger makes on it", async () => {
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
