// Coins that a contract sent, on D1: growth of a balance is credited where it is exactly what one invoice asked for, is for a person where it is
// anything else, and counts once whatever comes to explain it, before it or after it.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { networkNamed } from "../../src/chains/networks.ts";
import { payments } from "../../src/db/schema/payments.ts";
import { invoiceEffects } from "../../src/invoices/effects.ts";
import { parseUnits } from "../../src/lib/money.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { applyTransfers, type SeenPayment } from "../../src/payments/apply-transfers.ts";
import { type BlockRef, explainerMark, growthIdentity, type Transfer } from "../../src/payments/transfer.ts";
import { freshMerchant, type TestMerchant, testDb } from "../support/worker-merchant.ts";

const ETHER = { cryptocurrency: "ETH", network: "ETH" };

const hex = (bytes: number) =>
  [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A merchant with a direct ETH wallet, on an address of its own unless another's is given. */
async function shopAt(address = `0x${hex(20)}`) {
  const merchant = await freshMerchant();
  const wallet = await merchant.post("/wallets", { walletType: "DIRECT_WALLET", ...ETHER, address });
  expect(wallet.status).toBe(201);
  return { merchant, address: String(wallet.body.address) };
}

async function invoiceOf(merchant: TestMerchant, rawAmount: number) {
  const made = await merchant.post("/invoices", { name: "Order", rawAmount, paymentMethods: [ETHER] });
  expect(made.status).toBe(201);
  const units = parseUnits(made.body.paymentMethods[0].amount, 18);
  if (!units.ok) throw new Error("no amount");
  return { id: String(made.body.id), units: units.value };
}

const blockAt = (height: number, fork = ""): BlockRef => ({ height, hash: `h${height}${fork}`, timeMs: Date.now() });

/** Growth of an address in a block, of which these transactions were taken off before. */
function growthOf(toAddress: string, units: bigint, block: BlockRef, explained: readonly string[] = []): Transfer {
  return {
    ...growthIdentity({ height: block.height, toAddress, units }),
    cryptocurrency: "ETH",
    fromAddress: null,
    toAddress,
    amountUnits: units,
    block,
    spends: [],
    raw: '{"kind":"balance"}',
    growth: { explainedBy: explained.map(explainerMark) },
  };
}

async function look(
  transfers: readonly Transfer[],
  { tip = 100, seen = [] }: { readonly tip?: number; readonly seen?: readonly SeenPayment[] } = {},
) {
  const network = networkNamed("ETH");
  if (network === undefined) throw new Error("no ETH");
  const fx = invoiceEffects(env, { db: testDb, nowMs: Date.now(), sleep });
  return applyTransfers(fx, { network, heights: { tipHeight: tip, finalizedHeight: null }, transfers, seen });
}

const shown = async (merchant: TestMerchant, id: string) => (await merchant.get(`/invoices/${id}`)).body;
const rowsAt = (address: string) =>
  testDb.select().from(payments).where(sql`to_address = ${address}`).orderBy(sql`rowid`);
const listed = async (address: string) =>
  (await rowsAt(address)).map(({ status, amountUnits, outputIndex }) => [status, amountUnits, outputIndex]);

describe("growth of a balance", () => {
  it("that is exactly what an invoice asks is credited to it, and named by height, address and units", async () => {
    const { merchant, address } = await shopAt();
    const [invoice, other] = [await invoiceOf(merchant, 46), await invoiceOf(merchant, 46)];
    const growth = growthOf(address, invoice.units, blockAt(100));
    expect(await look([growth])).toMatchObject({ ok: true, value: { invoices: [invoice.id] } });
    expect(await shown(merchant, invoice.id)).toMatchObject({
      status: "PAID",
      payments: [{ status: "CONFIRMED", matchedBy: "EXACT_AMOUNT", txHash: "block:100" }],
    });
    expect(await shown(merchant, other.id)).toMatchObject({ status: "AWAITING_PAYMENT" });
    const [row] = await rowsAt(address);
    const details = await merchant.get(`/payments/${row?.id}`);
    expect(details.body.evidence).toMatchObject({ rule: "EXACT_AMOUNT", raw: '{"kind":"balance"}' });
    // The same look again changes nothing.
    expect(await look([growth])).toEqual({ ok: true, value: { invoices: [], unmatched: 0 } });
  });

  it.each([
    ["within a tolerance of it", 101n, 100n],
    ["a part of it, at the only candidate", 1n, 2n],
  ])("that is %s is for a person, who is told what was asked for", async (_, times, parts) => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    const units = (invoice.units * times) / parts;
    await look([growthOf(address, units, blockAt(100))]);
    expect(await listed(address)).toEqual([["UNMATCHED", units, `balance:${address}:${units}`]]);
    const [row] = await rowsAt(address);
    const { body } = await merchant.get(`/payments/${row?.id}`);
    expect(body.evidence.candidates).toEqual([{ invoiceId: invoice.id, reason: "AMOUNT_DIFFERS" }]);
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    // By hand it is credited like anything else.
    const assigned = await merchant.post(`/payments/${row?.id}/resolve`, {
      action: "ASSIGN",
      invoiceId: invoice.id,
      reason: "the customer wrote to us",
    });
    expect(assigned.status).toBe(200);
  });

  it("is confirmed like any other, and gone with its block", async () => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    await look([growthOf(address, invoice.units, blockAt(100))], { tip: 99 });
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "PENDING_CONFIRMATION" });
    const [payment] = await rowsAt(address);
    if (payment === undefined) throw new Error("no row");
    await look([], { seen: [{ payment, sight: { kind: "mined", block: blockAt(100) } }] });
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "PAID" });
    const [paid] = await rowsAt(address);
    if (paid === undefined) throw new Error("no row");
    await look([], { seen: [{ payment: paid, sight: { kind: "unknown" } }] });
    expect(await shown(merchant, invoice.id)).toMatchObject({
      status: "AWAITING_PAYMENT",
      amountReceived: "0.000000",
      payments: [{ status: "REORGED" }],
    });
  });

  it("of another sum in the block that took the place of the first is another payment", async () => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    await look([growthOf(address, invoice.units, blockAt(100))]);
    const [payment] = await rowsAt(address);
    if (payment === undefined) throw new Error("no row");
    const other = growthOf(address, invoice.units * 3n, blockAt(100, "b"));
    await look([other], { seen: [{ payment, sight: { kind: "unknown" } }] });
    expect((await listed(address)).map(([status, units]) => [status, units])).toEqual([
      ["REORGED", invoice.units],
      ["UNMATCHED", invoice.units * 3n],
    ]);
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT" });
  });
});
