// Coins sent by a contract, on D1: growth of a balance is credited if it is exactly what one invoice asked for, and is UNMATCHED otherwise. It counts
// once if a transaction explains it, no matter which is read first.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { type BlockRef, explainerMark, growthIdentity, type Transfer } from "../../../src/chains/sources/transfer.ts";
import { selectExplainers, selectStoredGrowth } from "../../../src/detection/growth/store.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { planOf } from "../../support/query-plan.ts";
import { unitsOf } from "../../support/shared-place.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt as blockOf, look, shown } from "./transfers-harness.ts";

const ETHER = { cryptocurrency: "ETH", network: "ETH" };

/** A merchant with a direct ETH wallet, at a new address unless one is given. */
async function shopAt(address = `0x${randomHex(20)}`) {
  const merchant = await freshMerchant();
  const wallet = await merchant.post("/wallets", { walletType: "DIRECT_WALLET", ...ETHER, address });
  expect(wallet.status).toBe(201);
  return { merchant, address: String(wallet.body.address) };
}

async function invoiceOf(merchant: TestMerchant, rawAmount: number) {
  const made = await merchant.post("/invoices", { name: "Order", rawAmount, paymentMethods: [ETHER] });
  expect(made.status).toBe(201);
  return { id: String(made.body.id), units: unitsOf(made.body.paymentMethods[0].amount, 18) };
}

const blockAt = (height: number, fork = "") => blockOf(height, Date.now(), fork);

/** Growth of an address's balance in a block, after subtracting the `explained` transactions. */
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

const rowsAt = (address: string) =>
  testDb.select().from(payments).where(sql`to_address = ${address}`).orderBy(sql`rowid`);
const listed = async (address: string) =>
  (await rowsAt(address)).map(({ status, amountUnits, outputIndex }) => [status, amountUnits, outputIndex]);

describe("balance growth", () => {
  it("that is exactly what an invoice asks for is credited to it, and identified by height, address and units", async () => {
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
    // Reading the same growth again changes nothing.
    expect(await look([growth])).toEqual({ ok: true, value: { invoices: [] } });
  });

  it.each([
    ["within the tolerance of an invoice's amount", 101n, 100n],
    ["part of the only candidate's amount", 1n, 2n],
  ])("that is %s is UNMATCHED with the invoice as a candidate, and can be assigned", async (_, times, parts) => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    const units = (invoice.units * times) / parts;
    await look([growthOf(address, units, blockAt(100))]);
    expect(await listed(address)).toEqual([["UNMATCHED", units, `balance:${address}:${units}`]]);
    const [row] = await rowsAt(address);
    const { body } = await merchant.get(`/payments/${row?.id}`);
    expect(body.evidence.candidates).toMatchObject([{ invoiceId: invoice.id, reason: "AMOUNT_DIFFERS" }]);
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    // The growth can be assigned like any other payment.
    const assigned = await merchant.post(`/payments/${row?.id}/resolve`, {
      action: "ASSIGN",
      invoiceId: invoice.id,
      reason: "the customer wrote to us",
    });
    expect(assigned.status).toBe(200);
  });

  it("is confirmed like any other payment, and REORGED when its block is gone", async () => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    await look([growthOf(address, invoice.units, blockAt(100))], { tip: 99 });
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "PENDING_CONFIRMATION" });
    const [payment] = await rowsAt(address);
    if (payment === undefined) throw new Error("no row");
    await look([], { seen: [{ payment, observation: { kind: "mined", block: blockAt(100) } }] });
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "PAID" });
    const [paid] = await rowsAt(address);
    if (paid === undefined) throw new Error("no row");
    await look([], { seen: [{ payment: paid, observation: { kind: "unknown" } }] });
    expect(await shown(merchant, invoice.id)).toMatchObject({
      status: "AWAITING_PAYMENT",
      amountReceived: "0.000000",
      payments: [{ status: "REORGED" }],
    });
  });

  it("of a different amount in a replacement block is a different payment", async () => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    await look([growthOf(address, invoice.units, blockAt(100))]);
    const [payment] = await rowsAt(address);
    if (payment === undefined) throw new Error("no row");
    const other = growthOf(address, invoice.units * 3n, blockAt(100, "b"));
    await look([other], { seen: [{ payment, observation: { kind: "unknown" } }] });
    expect((await listed(address)).map(([status, units]) => [status, units])).toEqual([
      ["REORGED", invoice.units],
      ["UNMATCHED", invoice.units * 3n],
    ]);
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT" });
  });
});

describe("a transaction that explains balance growth", () => {
  const paymentBy = (address: string, units: bigint, block: BlockRef): Transfer => ({
    cryptocurrency: "ETH",
    txHash: `0x${randomHex(32)}`,
    outputIndex: "native",
    fromAddress: `0x${randomHex(20)}`,
    toAddress: address,
    amountUnits: units,
    block,
    spends: [],
    raw: '{"value":1}',
  });
  const counted = new Set(["DETECTED", "CONFIRMED", "UNMATCHED"]);
  /** The sum of one merchant's counted payments at the address, in units. */
  const sumAt = async (address: string, merchant: TestMerchant) =>
    (await rowsAt(address))
      .filter(({ status, merchantId }) => counted.has(status) && merchantId === merchant.merchantId)
      .reduce((sum, { amountUnits }) => sum + amountUnits, 0n);

  it("replaces the growth on the invoice if the transaction is read second, and the invoice stays PAID", async () => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    const block = blockAt(100);
    await look([growthOf(address, invoice.units, block)]);
    const payment = paymentBy(address, invoice.units, block);
    expect(await look([payment])).toMatchObject({ ok: true, value: { invoices: [invoice.id] } });
    const after = await shown(merchant, invoice.id);
    expect(after).toMatchObject({ status: "PAID", amountConfirmed: "46.000000" });
    const listedPayments = after.payments.map(({ txHash, status }: Record<string, string>) => [txHash, status]);
    expect(listedPayments.toSorted()).toEqual([
      [payment.txHash, "CONFIRMED"],
      ["block:100", "DROPPED"],
    ]);
    // Reading the growth again adds nothing.
    await look([growthOf(address, invoice.units, block)]);
    expect(await sumAt(address, merchant)).toBe(invoice.units);
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "PAID", amountConfirmed: "46.000000" });
  });

  it("leaves no growth to store if the transaction is read first", async () => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    await look([paymentBy(address, invoice.units, blockAt(100))]);
    expect(await look([growthOf(address, invoice.units, blockAt(100))])).toEqual({
      ok: true,
      value: { invoices: [] },
    });
    expect(await rowsAt(address)).toHaveLength(1);
    // In a replacement block the growth is a separate payment.
    await look([growthOf(address, invoice.units * 3n, blockAt(100, "b"))]);
    expect(await rowsAt(address)).toHaveLength(2);
  });

  it("replaces the growth for each merchant at the address", async () => {
    const { merchant, address } = await shopAt();
    const other = await shopAt(address);
    await invoiceOf(merchant, 46);
    await look([growthOf(address, 10n ** 18n, blockAt(100))]);
    expect((await listed(address)).map(([status]) => status)).toEqual(["UNMATCHED", "UNMATCHED"]);
    await look([paymentBy(address, 10n ** 18n, blockAt(100))]);
    expect((await listed(address)).map(([status, , place]) => [status, place])).toEqual([
      ["DROPPED", `balance:${address}:${10n ** 18n}`],
      ["DROPPED", `balance:${address}:${10n ** 18n}`],
      ["UNMATCHED", "native"],
      ["UNMATCHED", "native"],
    ]);
    for (const each of [merchant, other.merchant]) expect(await sumAt(address, each)).toBe(10n ** 18n);
  });

  it("but covers only part of it leaves the rest as growth", async () => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    const block = blockAt(100);
    await look([growthOf(address, invoice.units * 3n, block)]);
    await look([paymentBy(address, invoice.units, block)]);
    expect((await listed(address)).map(([status, units]) => [status, units])).toEqual([
      ["DROPPED", invoice.units * 3n],
      ["CONFIRMED", invoice.units],
      ["UNMATCHED", invoice.units * 2n],
    ]);
    await look([growthOf(address, invoice.units * 3n, block)]);
    expect(await sumAt(address, merchant)).toBe(invoice.units * 3n);
  });

  it("takes the credit from the invoice that the growth matched by chance, and credits the transaction's own invoice", async () => {
    const { merchant, address } = await shopAt();
    const [first, second] = [await invoiceOf(merchant, 46), await invoiceOf(merchant, 900)];
    const block = blockAt(100);
    await look([growthOf(address, second.units, block)]);
    expect(await shown(merchant, second.id)).toMatchObject({ status: "PAID" });
    await look([paymentBy(address, first.units, block)]);
    expect(await shown(merchant, first.id)).toMatchObject({ status: "PAID" });
    expect(await shown(merchant, second.id)).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "0.000000" });
    expect(await sumAt(address, merchant)).toBe(second.units);
  });

  /** Growth that a user assigned to the first of two invoices. */
  async function assignedGrowth(units: bigint) {
    const { merchant, address } = await shopAt();
    const [invoice, other] = [await invoiceOf(merchant, 46), await invoiceOf(merchant, 46)];
    const block = blockAt(100);
    await look([growthOf(address, units, block)]);
    const [row] = await rowsAt(address);
    const assign = { action: "ASSIGN", invoiceId: invoice.id, reason: "the buyer wrote to us" };
    expect((await merchant.post(`/payments/${row?.id}/resolve`, assign)).status).toBe(200);
    expect(await shown(merchant, invoice.id)).toMatchObject({
      needsReview: false,
      payments: [{ status: "CONFIRMED" }],
    });
    return { merchant, address, invoice, other, block };
  }

  it.each([
    ["credited to nobody", true],
    ["credited to another invoice", false],
  ])("marks the invoice for review, once, when it undoes a manual assignment and is %s", async (_, isNobodys) => {
    const units = 4_000_000_000_000_000n;
    const { merchant, address, invoice, other, block } = await assignedGrowth(units);
    const payment = paymentBy(address, isNobodys ? units : other.units, block);
    await look([payment]);
    expect(await shown(merchant, invoice.id)).toMatchObject({ needsReview: true, amountReceived: "0.000000" });
    expect(await shown(merchant, other.id)).toMatchObject({ needsReview: false });
    expect((await rowsAt(address)).find(({ txHash }) => txHash === payment.txHash)?.invoiceId).toBe(
      isNobodys ? null : other.id,
    );
    // Review is requested only once: a dismissed review is not requested again.
    const dismiss = { action: "DISMISS", reason: "seen" };
    expect((await merchant.post(`/invoices/${invoice.id}/resolve`, dismiss)).status).toBe(200);
    await look([payment, growthOf(address, units, block)]);
    expect(await shown(merchant, invoice.id)).toMatchObject({ needsReview: false });
  });

  it.each([
    ["the whole amount (without a review)", 0n, false],
    ["a part of the amount (and marks the invoice for review)", 1n, true],
  ])("credits %s to the invoice to which the growth was assigned", async (_, more, needsReview) => {
    const { merchant, address } = await shopAt();
    const invoice = await invoiceOf(merchant, 46);
    const block = blockAt(100);
    // The growth is unexplained, because otherwise the rules would credit the exact amount.
    const grown = { ...growthOf(address, invoice.units + more, block), isUnexplained: true as const };
    await look([grown]);
    const [row] = await rowsAt(address);
    const assign = { action: "ASSIGN", invoiceId: invoice.id, reason: "the buyer wrote to us" };
    expect((await merchant.post(`/payments/${row?.id}/resolve`, assign)).status).toBe(200);
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "PAID", needsReview: false });
    await look([paymentBy(address, invoice.units, block)]);
    expect(await shown(merchant, invoice.id)).toMatchObject({ status: "PAID", needsReview });
  });

  it("that was already subtracted from the growth is a separate payment, and replaces nothing", async () => {
    const { merchant, address } = await shopAt();
    const [first, second] = [await invoiceOf(merchant, 46), await invoiceOf(merchant, 900)];
    const block = blockAt(100);
    const payment = paymentBy(address, first.units, block);
    await look([growthOf(address, second.units, block, [payment.txHash])]);
    await look([payment]);
    expect((await listed(address)).map(([status]) => status)).toEqual(["CONFIRMED", "CONFIRMED"]);
    for (const { id } of [first, second]) expect(await shown(merchant, id)).toMatchObject({ status: "PAID" });
  });

  /** A database that runs `meanwhile` after all reads and before the writes of an observation. */
  function beaten(meanwhile: () => Promise<unknown>) {
    let reads = 0;
    const batch = async (statements: D1PreparedStatement[]) => {
      const rows = await env.DB.batch(statements);
      reads++;
      // The observation reads the stored payments, and then the candidates for its transfers.
      if (reads === 2) await meanwhile();
      return rows;
    };
    return openDb(
      new Proxy(env.DB, {
        get(target, name) {
          const value: unknown = name === "batch" ? batch : Reflect.get(target, name);
          return typeof value === "function" && name !== "batch" ? value.bind(target) : value;
        },
      }),
    );
  }

  it.each([
    ["growth that matches no invoice is interrupted", "growth", 10n ** 18n],
    ["a transaction that matches no invoice is interrupted", "transaction", 10n ** 18n],
    ["growth that pays another invoice is interrupted", "growth", null],
    ["a transaction that pays another invoice is interrupted", "transaction", null],
  ])(
    "is not counted in addition to its growth, even if one is written between the other's reads and writes: %s",
    async (_, slow, fixed) => {
      const { merchant, address } = await shopAt();
      const [first, second] = [await invoiceOf(merchant, 46), await invoiceOf(merchant, 900)];
      const block = blockAt(100);
      const grown = [growthOf(address, fixed ?? second.units, block)];
      const paid = [paymentBy(address, fixed ?? first.units, block)];
      const [late, early] = slow === "growth" ? [grown, paid] : [paid, grown];
      const beat = await look(late, { db: beaten(() => look(early)) });
      expect(beat).toEqual({ ok: false, error: { code: "CONTENTION" } });
      for (const each of [late, early, grown]) expect(await look(each)).toMatchObject({ ok: true });
      expect(await sumAt(address, merchant)).toBe(fixed ?? second.units);
    },
  );
});

it("stored balance growth and the transactions that explain it are found through indexes", async () => {
  const places = [{ address: "0x", height: 1, blockHash: "h1" }];
  for (const [query, index] of [
    [selectStoredGrowth(testDb, "ETH", places), "grown USING INDEX payments_identity"],
    [selectExplainers(testDb, "ETH", places), "paid USING INDEX payments_native"],
  ] as const) {
    expect(await planOf(query)).toContain(index);
  }
});
