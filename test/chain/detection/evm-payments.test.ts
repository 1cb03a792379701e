// From a customer's transaction on a real EVM chain to the invoice as the merchant reads it. Each scenario has its own token, because the
// merchant's one address serves them all and less or more than asked is credited only where an invoice is alone.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EvmChain, startEvmChain } from "../../../scripts/demo-story/evm-chain.ts";
import { assetOn } from "../../../src/chains/registry/networks.ts";
import { network } from "../../support/named-network.ts";
import {
  type Invoice,
  POLL_SECONDS,
  pathOf,
  type Shop,
  shownTo,
  startShop,
  unitsOf,
  untilInvoice,
  untilStatus,
} from "./harness.ts";

const ETH = network("ETH");
/** None of the accounts that pay: what an address pays to itself is no payment. */
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const CODES = ["USDT", "USDC", "DAI", "ETH"] as const;
const REQUIRED = 2;

let chain: EvmChain;
let shop: Shop;

beforeAll(async () => {
  chain = await startEvmChain(CODES.flatMap((code) => assetOn(ETH, code)?.contract ?? []));
  await chain.mine();
  shop = await startShop({ sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] }, pollSeconds: POLL_SECONDS });
  for (const cryptocurrency of CODES) {
    await shop.registerWallet({
      walletType: "DIRECT_WALLET",
      cryptocurrency,
      network: "ETH",
      address: ADDRESS,
      requiredConfirmations: REQUIRED,
    });
  }
});
afterAll(async () => {
  await shop?.stop();
  await chain?.stop();
});

type Code = (typeof CODES)[number];

const pairOf = (cryptocurrency: Code) => ({ cryptocurrency, network: "ETH" });
const order = (code: Code, rawAmount: number) => shop.createInvoice({ rawAmount, paymentMethods: [pairOf(code)] });

/** Sends whole coins for the invoice and mines them into the next block; returns the transaction. */
async function pay(invoice: Invoice, code: Code, coins: string): Promise<string> {
  const asset = assetOn(ETH, code);
  const units = unitsOf(coins, asset?.decimals);
  const { address: to } = shownTo(invoice, pairOf(code));
  const hash =
    typeof asset?.contract === "string"
      ? await chain.sendToken({ contract: asset.contract, to, units })
      : await chain.sendNative({ to, units });
  await chain.mine();
  return hash;
}

describe("an invoice paid on an EVM chain", () => {
  it("goes from awaiting payment through pending to paid as its block gets deeper", async () => {
    const invoice = await order("USDT", 49.9);
    const hash = await pay(invoice, "USDT", shownTo(invoice, pairOf("USDT")).amount);
    const seen = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    expect(seen).toMatchObject({ amountReceived: "49.900000", amountConfirmed: "0.000000" });
    expect(seen.payments).toMatchObject([{ status: "DETECTED", confirmations: 1, requiredConfirmations: REQUIRED }]);

    await chain.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(pathOf(paid)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"]);
    expect(paid).toMatchObject({ amountReceived: "49.900000", amountConfirmed: "49.900000", isLate: false });
    expect(paid.payments).toMatchObject([
      { txHash: hash, status: "CONFIRMED", currency: "USDT", chainId: 1, amount: "49.9", matchedBy: "EXACT_AMOUNT" },
    ]);
    expect(await shop.payments(`invoiceId=${invoice.id}`)).toEqual(paid.payments);
  });

  it("asks for the rest after a partial payment, and is paid by it", async () => {
    const invoice = await order("ETH", 70);
    await pay(invoice, "ETH", "0.008");
    const part = await untilInvoice(shop, invoice.id, ({ payments }) => payments.length === 1);
    expect(part).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "28.000000" });
    expect(shownTo(part, pairOf("ETH")).amountDue).toBe("0.012");

    await pay(invoice, "ETH", "0.012");
    await chain.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(pathOf(paid)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"]);
    expect(paid).toMatchObject({ amountReceived: "70.000000", amountConfirmed: "70.000000" });
    expect(paid.payments).toHaveLength(2);
  });

  it("is overpaid when clearly more than its amount is confirmed", async () => {
    const invoice = await order("DAI", 30);
    await pay(invoice, "DAI", "45");
    await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    await chain.mine();
    const over = await untilStatus(shop, invoice.id, "OVERPAID");
    expect(pathOf(over)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "OVERPAID"]);
    expect(over).toMatchObject({ amountConfirmed: "45.000000", needsReview: true });
  });

  it("is paid by a payment that came while the service was down", async () => {
    const invoice = await order("USDC", 12);
    await shop.restart(async () => {
      await pay(invoice, "USDC", "12");
      await chain.mine();
    });
    expect(await untilStatus(shop, invoice.id, "PAID")).toMatchObject({ amountConfirmed: "12.000000", isLate: false });
  });
});
