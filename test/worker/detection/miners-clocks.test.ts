// The time of a Bitcoin block may be about an hour behind or two hours ahead. A payment that we have seen was made by then, and an invoice's
// own address belongs to it whatever the block's time is.
import { describe, expect, it } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { randomHex, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant } from "../../support/worker-merchant.ts";
import { blockAt, look, rowsOf, shown, transferTo } from "./transfers-harness.ts";

const PAIR = { cryptocurrency: "BTC", network: "BTC" };

/** An invoice for 25 USD that is open for 15 minutes, at its own address or at a direct wallet's address. */
async function order(kind: "own" | "direct") {
  const merchant = await freshMerchant();
  const wallet = kind === "own" ? xpubWallet() : { walletType: "DIRECT_WALLET", ...PAIR, address: DIRECT };
  expect((await merchant.post("/wallets", wallet)).status).toBe(201);
  const of = { name: "Order", rawAmount: 25, expiresInSeconds: 900, paymentMethods: [PAIR] };
  const { body } = await merchant.post("/invoices", of);
  const [method] = body.paymentMethods;
  const units = BigInt(Math.round(Number(method.amount) * 1e8));
  return { merchant, id: String(body.id), address: String(method.address), units };
}

const DIRECT = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";

const paid = (to: string, units: bigint, minutes: number) =>
  transferTo(to, units, {
    cryptocurrency: "BTC",
    txHash: randomHex(32),
    fromAddress: null,
    block: blockAt(100, Date.now() + minutes * MINUTE_MS),
  });

describe("a payment in a block whose timestamp is off by", () => {
  it.each([-170, -120, -60, -21, -1, 0, 16, 60, 120])(
    "%i minutes, is credited at an invoice's own address if it is read at once",
    async (minutes) => {
      const { merchant, id, address, units } = await order("own");
      const transfer = paid(address, units, minutes);
      await look([transfer], { network: "BTC", tip: 110 });
      const invoice = await shown(merchant, id);
      expect(invoice).toMatchObject({ status: "PAID", isLate: false, needsReview: false });
      expect(invoice.payments).toMatchObject([{ matchedBy: "ADDRESS", fiatAmount: "25.000000" }]);
    },
  );

  it.each([-15, 0, 16, 60, 120])(
    "%i minutes, is credited by its amount at a shared address if it is read at once",
    async (minutes) => {
      const { merchant, id, address, units } = await order("direct");
      await look([paid(address, units, minutes)], { network: "BTC", tip: 110 });
      const invoice = await shown(merchant, id);
      expect(invoice).toMatchObject({ status: "PAID", isLate: false });
      expect(invoice.payments).toMatchObject([{ matchedBy: "EXACT_AMOUNT", fiatAmount: "25.000000" }]);
    },
  );

  it.each([-185, -24 * 60])("%i minutes, counts as older than the address", async (minutes) => {
    const { merchant, id, address, units } = await order("own");
    const transfer = paid(address, units, minutes);
    await look([transfer], { network: "BTC", tip: 110 });
    expect((await shown(merchant, id)).status).toBe("AWAITING_PAYMENT");
    expect(await rowsOf(transfer.txHash)).toMatchObject([{ status: "UNMATCHED" }]);
  });

  it("60 minutes, is late if it is first read after the invoice's end", async () => {
    const { merchant, id, address, units } = await order("own");
    await look([paid(address, units, 60)], { network: "BTC", tip: 110, nowMs: Date.now() + 2 * HOUR_MS });
    expect(await shown(merchant, id)).toMatchObject({ isLate: true, needsReview: true });
  });
});
