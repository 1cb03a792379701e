import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";
import { events } from "../../../src/platform/db/schema/events.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import { invoiceOf, look, rowsOf, shopAt, shown, transferTo, unitsOf } from "./transfers-harness.ts";

describe("a transfer whose amount differs from what an invoice asked for", () => {
  it("within the tolerance pays the invoice, which stays a candidate for later transfers until it expires", async () => {
    const { merchant, address } = await shopAt();
    const near = await invoiceOf(merchant, 200);
    await look([transferTo(address, near.units - 1_000_000n)]);
    expect(await shown(merchant, near.id)).toMatchObject({ status: "PAID", amountReceived: "199.000000" });
    const other = await invoiceOf(merchant, 500);
    await look([transferTo(address, 250_000_000n)]);
    expect(await shown(merchant, other.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
  });

  it("below the tolerance leaves an amount due that is matched exactly; an invoice paid twice is OVERPAID", async () => {
    const { merchant, address } = await shopAt();
    const part = await invoiceOf(merchant, 500);
    await look([transferTo(address, 250_000_000n)]);
    const partial = await shown(merchant, part.id);
    expect(partial).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "250.000000", needsReview: false });
    expect(partial.payments).toMatchObject([{ matchedBy: "SOLE_CANDIDATE" }]);
    const due = unitsOf(partial.paymentMethods[0].amountDue);
    expect(due).toBe(250_000_000n);
    // With another open invoice, the rest can only be matched by its exact amount.
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

  it("is UNMATCHED if it could be meant for two invoices, and shows each merchant only its own invoice as a candidate", async () => {
    const { merchant, address } = await shopAt();
    const other = await shopAt(address);
    const own = await invoiceOf(merchant, 50);
    const theirs = await invoiceOf(other.merchant, 50.2);
    const transfer = transferTo(address, own.units + 50_000n);
    expect(await look([transfer])).toMatchObject({ ok: true, value: { invoices: [] } });
    const rows = await rowsOf(transfer.txHash);
    expect(rows.map(({ status, invoiceId }) => [status, invoiceId])).toEqual([
      ["UNMATCHED", null],
      ["UNMATCHED", null],
    ]);
    for (const row of rows) {
      const isOwn = row.merchantId === merchant.merchantId;
      const candidates = JSON.parse(row.evidence).candidates.map((each: { invoiceId: string }) => each.invoiceId);
      expect(candidates).toEqual([isOwn ? own.id : theirs.id]);
      const sent = await testDb.select().from(events).where(eq(events.merchantId, row.merchantId));
      expect(sent.filter(({ type }) => type === "payment.unmatched")).toHaveLength(1);
    }
  });

  it("at an address of two merchants pays the one that reserved the amount, and the other gets no row", async () => {
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

  it("is IGNORED as dust, without an event, even while an invoice is open", async () => {
    const { merchant, address } = await shopAt();
    const { id } = await invoiceOf(merchant, 80);
    const dust = transferTo(address, 50_000n);
    await look([dust]);
    expect((await rowsOf(dust.txHash)).map(({ status }) => status)).toEqual(["IGNORED"]);
    expect(await shown(merchant, id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    const told = await testDb.select().from(events).where(eq(events.merchantId, merchant.merchantId));
    expect(told.filter(({ type }) => type === "payment.unmatched")).toEqual([]);
  });

  it("is listed for each of 41 merchants at its address, and its parameters fit D1's limit even if the evidence is long", async () => {
    const { address, walletId } = await shopAt();
    const [wallet] = await testDb.select().from(wallets).where(eq(wallets.address, address));
    if (wallet === undefined) throw new Error(walletId);
    const others = Array.from({ length: 40 }, () => ({ ...wallet, id: freshId("wal"), merchantId: freshId("mer") }));
    for (const other of others) await testDb.insert(wallets).values(other);
    const raw = JSON.stringify({ script: "0".repeat(4_000) });
    const unmatchedPayments = Array.from({ length: 20 }, () => transferTo(address, 5_000_000n, { raw }));
    const bind = vi.spyOn(Object.getPrototypeOf(env.DB.prepare("select 1")), "bind");
    expect(await look(unmatchedPayments)).toEqual({ ok: true, value: { invoices: [] } });
    const longest = Math.max(...bind.mock.calls.flat().map((value) => (typeof value === "string" ? value.length : 0)));
    bind.mockRestore();
    // D1's limit for a parameter is two megabytes.
    expect(longest).toBeGreaterThan(50_000);
    expect(longest).toBeLessThan(1_000_000);
    for (const { txHash } of unmatchedPayments) expect(await rowsOf(txHash)).toHaveLength(41);
  });

  it("is listed up to 100 times a day at an address; one event sums up the rest", async () => {
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

  it("is listed and can be assigned after a flood of smaller transfers, with only 100 of each size listed", async () => {
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
      action: "ASSIGN",
      invoiceId: order.id,
      reason: "the customer wrote to us",
    });
    expect([assigned.status, assigned.body.invoiceId]).toEqual([200, order.id]);
    const told = await testDb.select().from(events).where(eq(events.merchantId, merchant.merchantId));
    const summaries = told
      .filter(({ type }) => type === "payment.unmatched")
      .map(({ data }) => JSON.parse(data))
      .filter(({ isTruncated }) => isTruncated === true);
    expect(summaries.map(({ worthFrom, worthBelow }) => [worthFrom, worthBelow]).sort()).toEqual([
      ["0.000000", "1.000000"],
      ["1.000000", "10.000000"],
    ]);
  });
});
