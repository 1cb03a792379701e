// REOPEN: a payment that a user ignored waits for a decision again.
import { describe, expect, it } from "vitest";
import { seedPayment } from "../../support/payments.ts";
import { freshMerchant, type TestMerchant } from "../../support/worker-merchant.ts";

type Id = { readonly id: string };

const resolve = (shop: TestMerchant, { id }: Id, action: string) =>
  shop.post(`/payments/${id}/resolve`, { action, reason: `${action} by hand` });
const unmatched = async (shop: TestMerchant) =>
  (await shop.get("/payments?status=UNMATCHED")).body.data.map(({ id }: Id) => id);

describe("REOPEN", () => {
  it("returns an ignored payment to the list, where it can be resolved again", async () => {
    const shop = await freshMerchant();
    const payment = await seedPayment(shop.merchantId);
    await resolve(shop, payment, "IGNORE");
    expect(await unmatched(shop)).toEqual([]);
    const { status, body, text } = await resolve(shop, payment, "REOPEN");
    expect([status, body], text).toMatchObject([
      200,
      { status: "UNMATCHED", invoiceId: null, resolution: { action: "REOPEN", reason: "REOPEN by hand" } },
    ]);
    expect(await unmatched(shop)).toEqual([payment.id]);
    expect((await resolve(shop, payment, "IGNORE")).body.status).toBe("IGNORED");
  });

  it("is refused for a payment that no user ignored: an unresolved one, and dust", async () => {
    const shop = await freshMerchant();
    const waiting = await seedPayment(shop.merchantId);
    const dust = await seedPayment(shop.merchantId, { status: "IGNORED" });
    for (const payment of [waiting, dust]) {
      const { status, body } = await resolve(shop, payment, "REOPEN");
      expect([status, body.code]).toEqual([422, "PAYMENT_NOT_RESOLVABLE"]);
    }
  });

  it("happens once when two users request it at the same time", async () => {
    const shop = await freshMerchant();
    const payment = await seedPayment(shop.merchantId);
    await resolve(shop, payment, "IGNORE");
    const answers = await Promise.all([resolve(shop, payment, "REOPEN"), resolve(shop, payment, "REOPEN")]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
  });
});
