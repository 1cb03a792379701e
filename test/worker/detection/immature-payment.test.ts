// A coinbase to a merchant's address cannot be spent before 100 confirmations, no matter who credits it.
import { expect, it } from "vitest";
import { seedCursor, seedPayment } from "../../support/payments.ts";
import { xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant } from "../../support/worker-merchant.ts";

const HEIGHT = 100;

it("a coinbase payment is not confirmed by a user's assignment before it can be spent", async () => {
  const shop = await freshMerchant();
  await shop.post("/wallets", xpubWallet());
  const assigned = async (confirmations: number, leastConfirmations?: number) => {
    await seedCursor("BTC", { tipHeight: HEIGHT + confirmations - 1 });
    const { body: invoice } = await shop.post("/invoices", {
      name: "Order",
      rawAmount: 10,
      paymentMethods: [{ cryptocurrency: "BTC", network: "BTC" }],
    });
    const payment = await seedPayment(shop.merchantId, {
      network: "BTC",
      cryptocurrency: "BTC",
      chainId: null,
      blockHeight: HEIGHT,
      requiredConfirmations: leastConfirmations ?? 1,
      evidence: leastConfirmations === undefined ? {} : { leastConfirmations },
    });
    const decision = { action: "ASSIGN", invoiceId: invoice.id, reason: "The miner wrote to us" };
    const { body, text } = await shop.post(`/payments/${payment.id}/resolve`, decision);
    expect(body.matchedBy, text).toBe("MANUAL");
    return [body.status, body.requiredConfirmations];
  };
  expect(await assigned(99, 100)).toEqual(["DETECTED", 100]);
  expect(await assigned(100, 100)).toEqual(["CONFIRMED", 100]);
  expect(await assigned(1)).toEqual(["CONFIRMED", 1]);
});
