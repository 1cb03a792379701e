// An invoice flooded with tiny payments must stay readable and its sums correct: payments beyond its limit are UNMATCHED.
import { eq, sql } from "drizzle-orm";
import { expect, it } from "vitest";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { selectInvoiceRow } from "../../../src/commerce/invoice-records/store.ts";
import { MOST_EVER_BY_RULES } from "../../../src/commerce/payments/payment.ts";
import { printQuote, type Quote } from "../../../src/commerce/quotes/quotes.ts";
import type { SeenPayment } from "../../../src/detection/matching/apply-transfers.ts";
import { selectUnmatchedCounts } from "../../../src/detection/matching/unmatched/store.ts";
import { utf8ToBytes } from "../../../src/lib/bytes.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { eventData } from "../../../src/platform/events/store.ts";
import { seedPayment } from "../../support/payments.ts";
import { planOf } from "../../support/query-plan.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt, look, transferTo } from "./transfers-harness.ts";

const BTC = { cryptocurrency: "BTC", network: "BTC" };
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
/** 0.001 BTC. */
const UNITS = 100_000n;
const LONG_QUOTE: Quote = {
  amountUnits: 10n ** 15n,
  rate: "123456.78901234567890",
  forMicros: 10n ** 15n,
  askedFromMs: 1_700_000_000_000,
  lockedUntilMs: 1_700_000_000_000,
  isRemainder: true as const,
};
const creditedTo = async (merchant: TestMerchant, id: string) => {
  const { payments: paid, amountReceived } = (await merchant.get(`/invoices/${id}`)).body;
  const sum = paid.reduce((total: number, { fiatAmount }: { fiatAmount: string }) => total + Number(fiatAmount), 0);
  return { sum: sum.toFixed(6), amountReceived, count: paid.length };
};

async function openInvoice(merchant: TestMerchant) {
  const wallet = {
    walletType: "XPUB_WALLET",
    ...BTC,
    xpub: ZPUB,
    derivationPath: "m/84'/0'/0'",
    requiredConfirmations: 1,
  };
  expect((await merchant.post("/wallets", wallet)).status).toBe(201);
  const made = await merchant.post("/invoices", { name: "Donations", rawAmount: 0, paymentMethods: [BTC] });
  expect([made.status, made.body.paymentMethods[0].status]).toEqual([201, "ACTIVE"]);
  return { id: String(made.body.id), address: String(made.body.paymentMethods[0].address) };
}

/** A BTC transfer with evidence of the maximum length. */
const paymentTo = (address: string) =>
  transferTo(address, UNITS, { cryptocurrency: "BTC", fromAddress: null, raw: "x".repeat(4_000) });
const lookBtc = (transfers: readonly Transfer[], seen: readonly SeenPayment[] = []) =>
  look(transfers, { network: "BTC", seen });

it("a flooded invoice is credited with 200 payments by the rules; the rest are UNMATCHED and can be assigned; each counts once", {
  timeout: 120_000,
}, async () => {
  const merchant = await freshMerchant();
  const { id, address } = await openInvoice(merchant);
  const flood = Array.from({ length: 250 }, () => paymentTo(address));
  expect((await lookBtc(flood.slice(0, 200))).ok).toBe(true);
  expect((await merchant.get(`/invoices/${id}`)).body).toMatchObject({ needsReview: false });
  expect((await lookBtc(flood)).ok).toBe(true);
  const after = (await merchant.get(`/invoices/${id}`)).body;
  expect([after.payments.length, after.needsReview]).toEqual([200, true]);
  const { sum, amountReceived } = await creditedTo(merchant, id);
  expect(amountReceived).toBe(sum);
  const rows = await testDb.select().from(payments).where(eq(payments.merchantId, merchant.merchantId));
  expect(Object.groupBy(rows, ({ status }) => status).UNMATCHED).toHaveLength(50);
  const beyond = rows.find(({ status }) => status === "UNMATCHED");
  const shown = (await merchant.get(`/payments/${beyond?.id}`)).body;
  expect(shown.evidence.candidates).toMatchObject([{ invoiceId: id, reason: "TOO_MANY_PAYMENTS" }]);
  expect(await longestEventOf(id)).toBeLessThan(20_000);
  // Reading the same transfers again changes nothing, and the merchant can still assign payments.
  const before = (await merchant.get(`/invoices/${id}`)).text;
  expect((await lookBtc(flood)).ok).toBe(true);
  expect((await merchant.get(`/invoices/${id}`)).text).toBe(before);
  const assign = { action: "ASSIGN", invoiceId: id, reason: "ours" };
  expect((await merchant.post(`/payments/${beyond?.id}/resolve`, assign)).status).toBe(200);
  expect(await creditedTo(merchant, id)).toMatchObject({ count: 201 });
});

it("a flooded invoice is credited with its payments' current amounts, although it can take no further payments", {
  timeout: 120_000,
}, async () => {
  const merchant = await freshMerchant();
  const { id, address } = await openInvoice(merchant);
  const flood = Array.from({ length: 200 }, () => paymentTo(address));
  expect((await lookBtc(flood)).ok).toBe(true);
  const [first, second] = flood.map((transfer) => ({ ...transfer, amountUnits: UNITS + 1n, block: blockAt(101) }));
  if (first === undefined || second === undefined) throw new Error("no flood");
  expect(await lookBtc([paymentTo(address), first, second])).toMatchObject({ ok: true });
  const rows = await testDb.select().from(payments).where(eq(payments.merchantId, merchant.merchantId));
  const changed = rows.filter(({ amountUnits }) => amountUnits === UNITS + 1n);
  expect(changed).toMatchObject([{ invoiceId: id }, { invoiceId: id }]);
  const counts = Map.groupBy(rows, ({ status, invoiceId }) => `${status} ${invoiceId === id}`);
  expect([...counts].map(([key, of]) => [key, of.length]).toSorted()).toEqual([
    ["CONFIRMED true", 198],
    ["DETECTED true", 2],
    ["DROPPED true", 2],
    ["UNMATCHED false", 1],
  ]);
});

it("a flooded invoice can have at most 400 payments, assigned ones included, so that they fit into a D1 value of 2 MB", {
  timeout: 120_000,
}, async () => {
  const merchant = await freshMerchant();
  const { id, address } = await openInvoice(merchant);
  const of = { ...BTC, chainId: null, toAddress: address, amountUnits: UNITS, blockTimeMs: Date.now() };
  const { merchantId } = merchant;
  const credited = {
    invoiceId: id as `inv_${string}`,
    status: "CONFIRMED",
    fiatMicros: 1n,
    matchedBy: "MANUAL",
  } as const;
  const resolution = JSON.stringify({ action: "ASSIGN", reason: "\u0001".repeat(500), actor: "key_", at: "" });
  for (let n = 0; n < 399; n++) await seedPayment(merchantId, { ...of, ...credited, resolution });
  const [last, none] = [await seedPayment(merchantId, of), await seedPayment(merchantId, of)];
  const assign = { action: "ASSIGN", invoiceId: id, reason: "ours" };
  expect((await merchant.post(`/payments/${last.id}/resolve`, assign)).status).toBe(200);
  const refused = await merchant.post(`/payments/${none.id}/resolve`, assign);
  expect([refused.status, refused.body.code]).toEqual([422, "TOO_MANY_PAYMENTS"]);
  const shown = await merchant.get(`/invoices/${id}`);
  expect([shown.status, shown.body.payments.length]).toEqual([200, 400]);
  const [row] = await selectInvoiceRow(testDb, merchantId, id);
  const json = JSON.stringify(row?.payments, (_, value) => (typeof value === "bigint" ? value.toString() : value));
  expect(new TextEncoder().encode(json).length).toBeLessThan(1_900_000);
});

it("a flooded invoice is credited with a real payment after two floods of 200 outputs were replaced", {
  timeout: 60_000,
}, async () => {
  const merchant = await freshMerchant();
  const { id, address } = await openInvoice(merchant);
  for (let round = 0; round < 2; round++) {
    const first = paymentTo(address);
    const flood = Array.from({ length: 200 }, (_, n) => ({ ...first, outputIndex: String(n), block: null }));
    expect((await lookBtc(flood)).ok).toBe(true);
    const rows = await testDb.select().from(payments).where(sql`invoice_id = ${id} and status = 'DETECTED'`);
    expect(rows).toHaveLength(200);
    expect(
      (
        await lookBtc(
          [],
          rows.map((payment) => ({ payment, observation: { kind: "replaced" } as const })),
        )
      ).ok,
    ).toBe(true);
  }
  const paid = paymentTo(address);
  expect((await lookBtc([paid])).ok).toBe(true);
  const [row] = await testDb.select().from(payments).where(eq(payments.txHash, paid.txHash));
  expect(row).toMatchObject({ status: "CONFIRMED", invoiceId: id });
});

it("a flooded invoice is marked for review when unmatched payments are stored for it, but not when they exceed the storage limit", {
  timeout: 120_000,
}, async () => {
  const merchant = await freshMerchant();
  const { id, address } = await openInvoice(merchant);
  const flood = Array.from({ length: 320 }, () => paymentTo(address));
  const needsReview = async () => (await merchant.get(`/invoices/${id}`)).body.needsReview;
  const dismiss = async () =>
    expect((await merchant.post(`/invoices/${id}/resolve`, { action: "DISMISS", reason: "seen" })).status).toBe(200);
  for (const [first, last, isMarked] of [
    [0, 200, false],
    [0, 210, true],
    // Payments that are already stored request no second review.
    [0, 210, false],
    [0, 320, true],
    [0, 320, false],
    [0, 320, false],
  ] as const) {
    expect((await lookBtc(flood.slice(first, last))).ok).toBe(true);
    expect(await needsReview()).toBe(isMarked);
    if (isMarked) await dismiss();
  }
  const rows = await testDb.select().from(payments).where(eq(payments.merchantId, merchant.merchantId));
  expect(rows).toHaveLength(300);
});

it("a flooded invoice has less than 2 MB of payments even with the most that the rules ever credit and the longest reasons", {
  timeout: 120_000,
}, async () => {
  const merchant = await freshMerchant();
  const { id, address } = await openInvoice(merchant);
  const { merchantId } = merchant;
  const of = { ...BTC, chainId: null, toAddress: address, amountUnits: UNITS, invoiceId: id as `inv_${string}` };
  const weighed = { weighedBy: "EXACT_UNITS", fiatMicros: 10n ** 15n, weighedQuote: printQuote(LONG_QUOTE) } as const;
  const dropped = { ...of, ...weighed, status: "DROPPED", matchedBy: "EXACT_AMOUNT" } as const;
  const resolution = JSON.stringify({ action: "ASSIGN", reason: "\u0001".repeat(500), actor: "key_", at: "" });
  const byHand = { ...of, ...weighed, status: "CONFIRMED", matchedBy: "MANUAL", resolution } as const;
  for (let n = 0; n < MOST_EVER_BY_RULES; n++) await seedPayment(merchantId, dropped);
  for (let n = 0; n < 249; n++) await seedPayment(merchantId, byHand);
  const [last, none] = [
    { ...of, invoiceId: null },
    { ...of, invoiceId: null },
  ];
  const assign = { action: "ASSIGN", invoiceId: id, reason: "\u0001".repeat(500) };
  const statuses: number[] = [];
  for (const each of [last, none]) {
    const { id: paymentId } = await seedPayment(merchantId, each);
    statuses.push((await merchant.post(`/payments/${paymentId}/resolve`, assign)).status);
  }
  expect(statuses).toEqual([200, 422]);
  const [row] = await selectInvoiceRow(testDb, merchantId, id);
  const json = JSON.stringify(row?.payments, (_, value) => (typeof value === "bigint" ? value.toString() : value));
  expect(new TextEncoder().encode(json).length).toBeLessThan(1_900_000);
});

it("an address's unmatched payments and dust are counted with covering indexes", async () => {
  const plan = await planOf(selectUnmatchedCounts(testDb, { network: "BTC", addresses: ["bc1q"], sinceMs: 0 }));
  expect(plan).toContain(
    "USING COVERING INDEX payments_loose_unmatched (network=? AND to_address=? AND created_at_ms>?)",
  );
  expect(plan).toContain(
    "USING COVERING INDEX payments_loose_ignored (network=? AND to_address=? AND created_at_ms>?)",
  );
});

async function longestEventOf(id: string): Promise<number> {
  const rows = await testDb
    .select({ data: eventData("events").as("whole_data") })
    .from(events)
    .where(sql`${events.invoiceId} = ${id}`);
  return rows.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...rows.map(({ data }) => utf8ToBytes(data).length));
}
