// One transfer and several decisions: by merchants at one address, and by one merchant at the same time.
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { seedKey } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { seedCursor, seedPayment } from "../../support/payments.ts";
import { assign, auditOf, ignore, invoiceOf, pathOf, rowOf, typesOf } from "../../support/resolutions.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

beforeAll(async () => {
  await seedCursor("ETH", { tipHeight: 104 });
});

describe("several merchants at one address", () => {
  it("can each assign the same transfer to an invoice of their own, one after another or at the same time", async () => {
    for (const isAtOnce of [true, false]) {
      const shops = [await freshMerchant(), await freshMerchant(), await freshMerchant()];
      const txHash = `0x${randomHex(32)}`;
      const sides = await Promise.all(
        shops.map(async (shop) => ({
          shop,
          id: await invoiceOf(shop),
          payment: await seedPayment(shop.merchantId, { txHash }),
        })),
      );
      const steps = sides.map(
        ({ shop, payment, id }) =>
          () =>
            assign(shop, payment, id),
      );
      const answers = [];
      if (isAtOnce) answers.push(...(await Promise.all(steps.map((step) => step()))));
      else for (const step of steps) answers.push(await step());
      expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(({ text }) => [200, text]));
      const rows = await testDb.select().from(payments).where(eq(payments.txHash, txHash));
      expect(new Set(rows.map(({ invoiceId }) => invoiceId))).toEqual(new Set(sides.map(({ id }) => id)));
      for (const { shop, id } of sides) {
        const { body } = await shop.get(`/invoices/${id}`);
        expect([body.status, body.amountConfirmed, body.payments.length]).toEqual(["PAID", "10.000000", 1]);
        expect((await typesOf(id)).filter((type) => type === "payment.matched")).toHaveLength(1);
      }
    }
  });

  it("can ignore the transfer without affecting another merchant's invoice, and assign it later", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const txHash = `0x${randomHex(32)}`;
    const [mine, theirs] = [
      await seedPayment(shop.merchantId, { txHash }),
      await seedPayment(other.merchantId, { txHash }),
    ];
    const [id, otherId] = [await invoiceOf(shop), await invoiceOf(other)];
    expect((await assign(shop, mine, id)).status).toBe(200);
    expect((await ignore(other, theirs)).status).toBe(200);
    expect((await shop.get(`/invoices/${id}`)).body.status).toBe("PAID");
    expect((await assign(other, theirs, otherId)).status).toBe(200);
    expect((await rowOf(mine.id))?.invoiceId).toBe(id);
  });

  it("are limited by the table to one row each per transfer, and to one credit in all by the matching rules", async () => {
    const [shop, other, third] = [await freshMerchant(), await freshMerchant(), await freshMerchant()];
    const txHash = `0x${randomHex(32)}`;
    const credited = async (to: TestMerchant, matchedBy: "MANUAL" | "EXACT_AMOUNT") =>
      seedPayment(to.merchantId, { txHash, matchedBy, status: "CONFIRMED", invoiceId: await invoiceOf(to) });
    await credited(shop, "MANUAL");
    await credited(other, "EXACT_AMOUNT");
    await expect(credited(third, "EXACT_AMOUNT")).rejects.toThrow();
    await expect(credited(other, "MANUAL")).rejects.toThrow();
    await credited(third, "MANUAL");
    expect(await testDb.select().from(payments).where(eq(payments.txHash, txHash))).toHaveLength(3);
  });
});

describe("a transfer is credited once to a merchant", () => {
  it("when several of the merchant's decisions race", async () => {
    const shop = await freshMerchant();
    const ids = [await invoiceOf(shop), await invoiceOf(shop)];
    const payment = await seedPayment(shop.merchantId);
    const answers = await Promise.all([...ids.map((id) => assign(shop, payment, id)), ignore(shop, payment)]);
    const won = answers.filter(({ status }) => status === 200);
    const row = await rowOf(payment.id);
    const sums = await Promise.all(ids.map(async (id) => (await shop.get(`/invoices/${id}`)).body.amountReceived));
    expect(answers.filter(({ status }) => status !== 200 && status !== 422)).toEqual([]);
    // An IGNORE may come before an ASSIGN, but never after it.
    expect(won.length).toBe((await auditOf(payment.id)).length);
    expect(won.filter(({ body }) => body.invoiceId !== null).length).toBeLessThanOrEqual(1);
    expect(sums.filter((sum) => sum !== "0.000000")).toHaveLength(row?.invoiceId === null ? 0 : 1);
  });

  it("when the payment changes between the read and the write: the decision is repeated on the new row", async () => {
    const shop = await freshMerchant();
    const key = await seedKey(shop.merchantId);
    const ask = (body: object) => ({ method: "POST", key, body: { reason: "x", ...body } });
    const move = (id: string, columns: object) => () =>
      testDb
        .update(payments)
        .set({ updatedAtMs: Date.now() + 1, ...columns })
        .where(eq(payments.id, id as `pay_${string}`));
    const first = await invoiceOf(shop);
    const mined = await seedPayment(shop.merchantId, { blockHeight: 103 });
    const beaten = await sendBeaten(
      pathOf(shop, mined),
      ask({ action: "ASSIGN", invoiceId: first }),
      move(mined.id, { blockHeight: 102, blockHash: "0xnew" }),
    );
    expect([beaten.status, beaten.json], beaten.text).toMatchObject([200, { blockHeight: 102, status: "CONFIRMED" }]);
    const gone = await seedPayment(shop.merchantId);
    const second = await invoiceOf(shop);
    for (const body of [{ action: "ASSIGN", invoiceId: second }, { action: "IGNORE" }]) {
      await move(gone.id, { status: "UNMATCHED" })();
      const lost = await sendBeaten(pathOf(shop, gone), ask(body), move(gone.id, { status: "DROPPED" }));
      expect([lost.status, lost.json?.code]).toEqual([422, "PAYMENT_NOT_RESOLVABLE"]);
    }
    expect([await rowOf(gone.id), await typesOf(second)]).toMatchObject([{ status: "DROPPED" }, []]);
  });
});
