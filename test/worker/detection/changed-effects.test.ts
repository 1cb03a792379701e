// A transaction that is mined again may differ in effect: a contract depends on its block, or a source lied. What counts is what the chain shows
// now, under the same identity, no matter who was credited before.
import { sql } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { MINUTE_MS } from "../../../src/lib/time.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { blockAt, invoiceOf, look, rowsOf, shopAt, shown, transferTo, unitsOf } from "./transfers-harness.ts";

const minedAgain = (transfer: Transfer, changes: Partial<Transfer>): Transfer => ({
  ...transfer,
  block: blockAt(101, Date.now(), "b"),
  ...changes,
});

/** The sum of the units that count for an invoice, according to its payments' rows. */
async function countedUnits(invoiceId: string): Promise<bigint> {
  const rows = await testDb
    .select({ units: payments.amountUnits })
    .from(payments)
    .where(sql`invoice_id = ${invoiceId} and status in ('DETECTED', 'CONFIRMED')`);
  return rows.reduce((sum, { units }) => sum + units, 0n);
}

const typesOf = async (invoiceId: string) => {
  const rows = await testDb
    .select({ type: events.type })
    .from(events)
    .where(sql`invoice_id = ${invoiceId}`)
    .orderBy(events.sequence);
  return rows.map(({ type }) => type);
};

describe.each([
  ["one source", false],
  ["two sources", true],
])("a transaction that is mined again, read from %s,", (_, hasSecond) => {
  it.each([1, 12])("with a different amount pays that amount (%i confirmations)", async (confirmations) => {
    const { merchant, address } = await shopAt(undefined, confirmations);
    const { id, units } = await invoiceOf(merchant, 100);
    const first = transferTo(address, units);
    await look([first], { tip: 100 + confirmations, hasSecond });
    expect(await shown(merchant, id)).toMatchObject({ status: "PAID", amountReceived: "100.000000" });
    const again = minedAgain(first, { amountUnits: 10_000n });
    await look([again], { tip: 101 + confirmations, hasSecond });
    expect(await shown(merchant, id)).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "0.000000" });
    expect(await countedUnits(id)).toBe(0n);
    await look([minedAgain(first, { amountUnits: units - 10_000n })], { tip: 101 + confirmations, hasSecond });
    expect(await shown(merchant, id)).toMatchObject({ status: "PAID", amountReceived: "99.990000", needsReview: true });
    expect(await countedUnits(id)).toBe(units - 10_000n);
  });

  it("to another invoice's amount pays that invoice, and not the first", async () => {
    const { merchant, address } = await shopAt();
    const [one, two] = [await invoiceOf(merchant, 30), await invoiceOf(merchant, 40)];
    const first = transferTo(address, one.units);
    await look([first], { hasSecond });
    await look([minedAgain(first, { amountUnits: two.units })], { tip: 101, hasSecond });
    expect([await countedUnits(one.id), await countedUnits(two.id)]).toEqual([0n, two.units]);
    expect((await shown(merchant, one.id)).status).toBe("AWAITING_PAYMENT");
    expect((await shown(merchant, two.id)).status).toBe("PAID");
  });

  it("to another merchant's address pays that merchant", async () => {
    const [a, b] = [await shopAt(), await shopAt()];
    const [one, two] = [await invoiceOf(a.merchant, 50), await invoiceOf(b.merchant, 50)];
    const first = transferTo(a.address, one.units);
    await look([first], { hasSecond });
    await look([minedAgain(first, { toAddress: b.address, amountUnits: two.units })], { tip: 101, hasSecond });
    expect([(await shown(a.merchant, one.id)).status, (await shown(b.merchant, two.id)).status]).toEqual([
      "AWAITING_PAYMENT",
      "PAID",
    ]);
  });

  it("with two swapped outputs pays each invoice its own output", async () => {
    const { merchant, address } = await shopAt();
    const [one, two] = [await invoiceOf(merchant, 60), await invoiceOf(merchant, 70)];
    const first = transferTo(address, one.units, { outputIndex: "0" });
    const second = transferTo(address, two.units, { txHash: first.txHash, outputIndex: "1" });
    await look([first, second], { hasSecond });
    const swapped = [minedAgain(first, { amountUnits: two.units }), minedAgain(second, { amountUnits: one.units })];
    for (let passes = 0; passes < 2; passes++) {
      expect(await look(swapped, { tip: 101, hasSecond })).toMatchObject({ ok: true });
      expect([await countedUnits(one.id), await countedUnits(two.id)]).toEqual([one.units, two.units]);
      expect((await shown(merchant, one.id)).status).toBe("PAID");
    }
  });
});

describe("a payment's first observed details", () => {
  it("stay on the old row, and are evidence in the new one", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 80);
    const first = transferTo(address, units);
    await look([first]);
    await look([minedAgain(first, { amountUnits: units - 1n })], { tip: 101 });
    const rows = await rowsOf(first.txHash);
    const [old, now] = rows.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
    expect(old).toMatchObject({ amountUnits: units, status: "DROPPED", outputIndex: `0~${old?.id}`, blockHash: null });
    expect(now).toMatchObject({ amountUnits: units - 1n, outputIndex: "0", blockHash: "h101b" });
    expect(now?.status).toBe("CONFIRMED");
    const details = (await merchant.get(`/payments/${now?.id}`)).body;
    expect(details.evidence.supersedes).toEqual([
      { paymentId: old?.id, currency: "USDT", toAddress: address, amount: "80", blockHash: "h100" },
    ]);
    expect((await typesOf(id)).filter((type) => type.startsWith("payment."))).toEqual([
      "payment.created",
      "payment.detected",
      "payment.confirmed",
      "payment.paid",
      "payment.reorged",
      "payment.dropped",
      "payment.detected",
      "payment.confirmed",
    ]);
  });

  it.each([
    ["another invoice", 1],
    ["no invoice", 2],
  ])("stay as evidence if the new details pay %s, even if an observation ended in between", async (_, wanted) => {
    const { merchant, address } = await shopAt();
    const [one, two] = [await invoiceOf(merchant, 83), await invoiceOf(merchant, 84)];
    const first = transferTo(address, one.units);
    await look([first]);
    const amountUnits = wanted === 1 ? two.units : unitsOf("400");
    const again = minedAgain(first, { amountUnits });
    // Ends the observation right after it has marked the old row as off the chain, which takes one more step if the payment is credited to no one.
    let steps = wanted;
    const budget = {
      get isSpent() {
        return --steps <= 0;
      },
    };
    expect(await look([again], { tip: 101, budget })).toMatchObject({ value: { leftFrom: 101 } });
    expect((await rowsOf(first.txHash)).map(({ status }) => status)).toEqual(["DROPPED"]);
    await look([again], { tip: 101 });
    const rows = await rowsOf(first.txHash);
    const now = rows.find(({ outputIndex }) => outputIndex === "0");
    const old = rows.find(({ outputIndex }) => outputIndex !== "0");
    expect((await merchant.get(`/payments/${now?.id}`)).body.evidence.supersedes).toMatchObject([
      { paymentId: old?.id, currency: "USDT", toAddress: address, amount: "83" },
    ]);
  });

  it("count once, with the time of the new block, if a later block has them again", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 81);
    const first = transferTo(address, units, { block: blockAt(100, Date.now() - MINUTE_MS) });
    await look([first]);
    await look([minedAgain(first, { amountUnits: 5n })], { tip: 101 });
    const back = Date.now();
    await look([minedAgain(first, { block: blockAt(102, back, "c") })], { tip: 102 });
    expect(await countedUnits(id)).toBe(units);
    const counted = (await rowsOf(first.txHash)).filter(({ status }) => status === "CONFIRMED");
    expect(counted).toMatchObject([{ receivedAtMs: back, outputIndex: "0" }]);
  });

  it("stop counting for an unconfirmed payment once a block shows different details", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 82);
    const first = transferTo(address, units, { block: null });
    await look([first]);
    expect(await countedUnits(id)).toBe(units);
    await look([minedAgain(first, { amountUnits: 2n })], { tip: 101 });
    expect(await countedUnits(id)).toBe(0n);
  });

  it("are not changed by an unconfirmed version of a payment that is in a block", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 85);
    const first = transferTo(address, units);
    await look([first]);
    await look([{ ...first, block: null, amountUnits: 3n }], { tip: 101 });
    expect(await countedUnits(id)).toBe(units);
    expect(await rowsOf(first.txHash)).toHaveLength(1);
  });

  it("are kept if another merchant's row of the payment cannot be read", async () => {
    const { merchant: other, address } = await shopAt();
    const shops = [{ merchant: other }, await shopAt(address)];
    const odd = transferTo(address, unitsOf("9.7"));
    await look([odd]);
    const broken = { amountUnits: sql`'broken'` };
    await testDb.update(payments).set(broken).where(sql`tx_hash = ${odd.txHash} and merchant_id = ${other.merchantId}`);
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    await look([minedAgain(odd, { amountUnits: unitsOf("9.8") })], { tip: 101 });
    log.mockRestore();
    const { body } = (await shops[1]?.merchant.get(`/payments?txHash=${odd.txHash}`)) ?? { body: { data: [] } };
    expect(body.data.map(({ amount, status }: { amount: string; status: string }) => `${amount} ${status}`)).toEqual([
      "9.7 UNMATCHED",
    ]);
  });

  it("are not changed by what another source reports", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 83);
    const first = transferTo(address, units);
    await look([first]);
    const told = minedAgain(first, { amountUnits: 2n });
    await look([told], { tip: 101, hasSecond: true, isHearsay: true });
    expect(await countedUnits(id)).toBe(units);
    expect(await rowsOf(first.txHash)).toHaveLength(1);
    await look([told], { tip: 101, hasSecond: true });
    expect(await countedUnits(id)).toBe(0n);
  });

  it("stop counting even if a user assigned the payment, and the invoice needs review", async () => {
    const { merchant, address } = await shopAt();
    const { id } = await invoiceOf(merchant, 84);
    const odd = transferTo(address, unitsOf("7.5"));
    await look([odd]);
    const [row] = await rowsOf(odd.txHash);
    expect(row?.status).toBe("UNMATCHED");
    const assigned = await merchant.post(`/payments/${row?.id}/resolve`, {
      action: "ASSIGN",
      invoiceId: id,
      reason: "x",
    });
    expect(assigned.status).toBe(200);
    await look([minedAgain(odd, { amountUnits: unitsOf("7.4") })], { tip: 101 });
    expect(await countedUnits(id)).toBe(0n);
    expect(await shown(merchant, id)).toMatchObject({ needsReview: true, amountReceived: "0.000000" });
    const open = (await rowsOf(odd.txHash)).filter(({ status }) => status === "UNMATCHED");
    expect(open).toMatchObject([{ amountUnits: unitsOf("7.4") }]);
  });

  it("stop counting for each merchant that has the unmatched transfer", async () => {
    const { merchant: other, address } = await shopAt();
    const shops = [{ merchant: other }, await shopAt(address)];
    const odd = transferTo(address, unitsOf("9.5"));
    await look([odd]);
    expect((await rowsOf(odd.txHash)).map(({ status }) => status)).toEqual(["UNMATCHED", "UNMATCHED"]);
    await look([minedAgain(odd, { amountUnits: unitsOf("9.6") })], { tip: 101 });
    for (const { merchant } of shops) {
      const { body } = await merchant.get(`/payments?txHash=${odd.txHash}`);
      const shownRows = body.data.map((row: { amount: string; status: string }) => `${row.amount} ${row.status}`);
      expect(shownRows.toSorted()).toEqual(["9.5 DROPPED", "9.6 UNMATCHED"]);
    }
  });
});

/** Returns `count` transfers to the address in block 100 that were left out, because the merchant was at the daily limit of unmatched payments. */
async function leftOutAt(address: string, count: number): Promise<readonly [Transfer, ...Transfer[]]> {
  const flood = Array.from({ length: 100 + count }, () => transferTo(address, unitsOf("3.5")));
  await look(flood);
  const rows = await Promise.all(flood.map(({ txHash }) => rowsOf(txHash)));
  const [first, ...others] = flood.filter((_, n) => rows[n]?.length === 0);
  if (first === undefined || others.length !== count - 1) throw new Error("not left out");
  return [first, ...others];
}

describe("a transfer that now has a different effect", () => {
  it.each([
    ["the same block, because a source lied", () => blockAt(100)],
    ["another block", () => blockAt(101, Date.now(), "b")],
  ])("in %s is matched again although it was left out before", async (_, blockNow) => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 85);
    const [transfer] = await leftOutAt(address, 1);
    await look([{ ...transfer, block: blockNow(), amountUnits: units }], { tip: 101 });
    expect(await countedUnits(id)).toBe(units);
  });

  it("and then returns to its old effect, which was left out, pays nobody, however small a pass's budget is", async () => {
    const { merchant, address } = await shopAt();
    const invoices = await Promise.all([91, 92].map((amount) => invoiceOf(merchant, amount)));
    const leftOut = await leftOutAt(address, 2);
    const paying = leftOut.map((transfer, n) => minedAgain(transfer, { amountUnits: invoices[n]?.units ?? 0n }));
    await look(paying, { tip: 101 });
    for (const { id, units } of invoices) expect(await countedUnits(id)).toBe(units);
    const budget = { isSpent: true };
    expect(await look(leftOut, { tip: 101, budget })).toMatchObject({ value: { leftFrom: 100 } });
    expect(await look(leftOut, { tip: 101, budget })).toMatchObject({ value: { leftFrom: 100 } });
    expect(await look(leftOut, { tip: 101, budget })).toEqual({ ok: true, value: { invoices: [] } });
    for (const { id } of invoices) expect(await countedUnits(id)).toBe(0n);
  });

  it("in the same block, because a source lied, leaves no unmatched row for the false effect", async () => {
    const { address } = await shopAt();
    const odd = transferTo(address, unitsOf("9.7"));
    await look([odd]);
    await look([{ ...odd, amountUnits: unitsOf("9.8") }]);
    const rows = await rowsOf(odd.txHash);
    expect(rows.map(({ amountUnits, status }) => `${amountUnits} ${status}`).toSorted()).toEqual([
      "9700000 DROPPED",
      "9800000 UNMATCHED",
    ]);
  });

  it("is matched once its old rows are gone, however small the budget of each read", async () => {
    const { merchant, address } = await shopAt();
    const invoices = await Promise.all([86, 87, 88].map((amount) => invoiceOf(merchant, amount)));
    const first = invoices.map(({ units }) => transferTo(address, units));
    const odd = transferTo(address, unitsOf("9.9"));
    await look([...first, odd]);
    const again = [
      ...first.map((transfer, n) => minedAgain(transfer, { amountUnits: invoices[(n + 1) % 3]?.units ?? 0n })),
      minedAgain(odd, { amountUnits: unitsOf("9.91") }),
    ];
    let looks = 0;
    for (let isWhole = false; !isWhole && looks < 30; looks++) {
      let pieces = looks % 5;
      const budget = {
        get isSpent() {
          return pieces-- <= 0;
        },
      };
      const done = await look(again, { tip: 101, budget });
      if (!done.ok) throw new Error(done.error.code);
      isWhole = done.value.leftFrom === undefined;
      if (!isWhole) expect(done.value.leftFrom).toBeLessThanOrEqual(101);
    }
    expect(looks).toBeGreaterThan(3);
    expect(looks).toBeLessThan(30);
    for (const { id, units } of invoices) {
      expect(await countedUnits(id)).toBe(units);
      expect((await shown(merchant, id)).status).toBe("PAID");
    }
    const open = (await rowsOf(odd.txHash)).filter(({ status }) => status === "UNMATCHED");
    expect(open).toMatchObject([{ amountUnits: unitsOf("9.91") }]);
  });
});

it("a payment whose block left the chain becomes REORGED even if the mempool shows the transaction with a different effect", async () => {
  const { merchant, address } = await shopAt();
  const { id, units } = await invoiceOf(merchant, 89);
  const lied = transferTo(address, units);
  await look([lied]);
  expect((await shown(merchant, id)).status).toBe("PAID");
  const [payment] = await rowsOf(lied.txHash);
  if (payment === undefined) throw new Error("no payment");
  const waiting = { ...lied, amountUnits: unitsOf("0.01"), block: null };
  const gone = { payment, observation: { kind: "unknown" } } as const;
  await look([waiting], { tip: 101, seen: [gone] });
  expect(await rowsOf(lied.txHash)).toMatchObject([{ status: "REORGED", blockHash: null }]);
  expect(await shown(merchant, id)).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "0.000000" });
});
