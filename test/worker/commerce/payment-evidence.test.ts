// Evidence takes up to 4 KB per payment, and an invoice is read with all its payments as one value, which D1 limits to two megabytes.
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { pairOf } from "../../../src/chains/registry/pair.ts";
import { selectInvoicePage, selectInvoiceRow } from "../../../src/commerce/invoice-records/store.ts";
import { paymentAfter } from "../../../src/commerce/payments/chain-observation.ts";
import { putPayment } from "../../../src/commerce/payments/store.ts";
import type { InvoiceId, MerchantId } from "../../../src/lib/ids.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { openPayment } from "../../support/watched.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const RAW = "x".repeat(4_096);
const evidence = JSON.stringify({ raw: RAW, spends: [], candidates: [] });

interface Created {
  readonly id: InvoiceId;
  readonly merchantId: MerchantId;
}

it("evidence is not read with an invoice: an invoice with 600 payments of 4 KB evidence stays below 1 MB, alone and in a list", async () => {
  const merchant = await freshMerchant();
  const { id, merchantId } = (await merchant.post("/invoices", { name: "popular", rawAmount: 0 })).body as Created;
  for (let n = 0; n < 600; n++) await open({ id, merchantId }, n);
  const page = { filter: {}, after: undefined, limit: 10, offset: 0 };
  for (const [row] of [
    await selectInvoiceRow(testDb, merchantId, id),
    await selectInvoicePage(testDb, merchantId, page),
  ]) {
    expect(row?.payments).toHaveLength(600);
    expect(bytesOf(row?.payments ?? [])).toBeLessThan(1_000_000);
  }
  const shown = await merchant.get(`/invoices/${id}`);
  expect([shown.status, shown.body.payments.length]).toEqual([200, 600]);
});

function bytesOf(value: unknown): number {
  const json = JSON.stringify(value, (_, member) => (typeof member === "bigint" ? member.toString() : member));
  return new TextEncoder().encode(json).length;
}

it("evidence stays unchanged when a payment is written again by code that has not read the evidence", async () => {
  const merchant = await freshMerchant();
  const invoice = (await merchant.post("/invoices", { name: "one", rawAmount: 0 })).body as Created;
  const { id } = await open(invoice, 0);
  const [read] = await selectInvoiceRow(testDb, invoice.merchantId, invoice.id);
  const [known] = read?.payments ?? [];
  if (known === undefined) throw new Error("no payment");
  expect(known).not.toHaveProperty("evidence");
  const { network } = pairOf(known);
  const block = { height: 100, hash: "0x1", timeMs: known.createdAtMs };
  const heights = { tipHeight: 200, finalizedHeight: 200 };
  await putPayment(
    testDb,
    paymentAfter(known, { kind: "mined", block }, { network, heights, nowMs: known.createdAtMs + 1 }),
  );
  const [stored] = await testDb.select().from(payments).where(eq(payments.id, id));
  expect(stored).toMatchObject({ status: "CONFIRMED", blockHeight: 100, evidence });
  const shown = await merchant.get(`/payments/${id}`);
  expect(shown.body.evidence).toMatchObject({ raw: RAW, block: { height: 100 } });
});

async function open({ id: invoiceId, merchantId }: Created, n: number) {
  const of = { network: "ETH", cryptocurrency: "USDT", toAddress: `0x${"a".repeat(40)}`, createdAtMs: Date.now() + n };
  return openPayment(testDb, { ...of, txHash: `0x${invoiceId}${n}`, merchantId, invoiceId, evidence });
}
