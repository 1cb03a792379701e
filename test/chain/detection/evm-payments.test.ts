// From a customer's transaction on a rollup to the invoice as the merchant reads it. Each scenario has its own token, because the merchant's one
// address serves them all and less or more than asked is credited only where an invoice is alone. Of two sources the second one may have another
// opinion, and the sequencer of a second rollup stands still.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EvmChain, startEvmChain } from "../../../scripts/demo-story/evm-chain.ts";
import { assetOn } from "../../../src/chains/registry/networks.ts";
import { type Anvil, startAnvil } from "../../support/anvil.ts";
import { network } from "../../support/named-network.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import {
  type Invoice,
  POLL_SECONDS,
  pathOf,
  type Shop,
  shownTo,
  startShop,
  unitsOf,
  untilHealth,
  untilInvoice,
  untilStatus,
} from "./harness.ts";

const ARBITRUM = network("ARBITRUM");
/** Its newest block is an hour old. */
const STILL = network("ARBITRUM_SEPOLIA");
/** None of the accounts that pay: what an address pays to itself is no payment. */
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const CODES = ["USDT", "USDC", "DAI", "ETH"] as const;
const REQUIRED = 2;
const WALLET = { walletType: "DIRECT_WALLET", address: ADDRESS } as const;

let chain: EvmChain;
let second: RpcProxy;
let still: Anvil;
let shop: Shop;
/** Runs out while the other scenarios run. */
let left: Invoice;

beforeAll(async () => {
  chain = await startEvmChain(
    CODES.flatMap((code) => assetOn(ARBITRUM, code)?.contract ?? []),
    { chainId: ARBITRUM.chainId ?? 0 },
  );
  await chain.mine();
  second = await startRpcProxy(chain.url);
  const anHourAgo = Math.floor(Date.now() / 1_000) - 3_600;
  still = await startAnvil({ chainId: STILL.chainId ?? 0, args: ["--timestamp", String(anHourAgo)] });
  const sourcesOf = (...chains: readonly { readonly url: string }[]) =>
    chains.map(({ url }) => ({ kind: "evm-rpc", url }));
  shop = await startShop({
    sources: { ARBITRUM: sourcesOf(chain, second), ARBITRUM_SEPOLIA: sourcesOf(still) },
    pollSeconds: POLL_SECONDS,
  });
  await shop.registerWallet({ ...WALLET, cryptocurrency: "ETH", network: STILL.name });
  for (const cryptocurrency of CODES) {
    await shop.registerWallet({ ...WALLET, cryptocurrency, network: ARBITRUM.name, requiredConfirmations: REQUIRED });
  }
  left = await shop.createInvoice({ rawAmount: 77, paymentMethods: [pairOf("USDC")], expiresInSeconds: 60 });
});
afterAll(async () => {
  await shop?.stop();
  await second?.close();
  await Promise.all([chain, still].map((each) => each?.stop()));
});

type Code = (typeof CODES)[number];

const pairOf = (cryptocurrency: Code) => ({ cryptocurrency, network: ARBITRUM.name });
const order = (code: Code, rawAmount: number) => shop.createInvoice({ rawAmount, paymentMethods: [pairOf(code)] });

/** Sends whole coins for the invoice and mines them into the next block; returns the transaction. */
async function pay(invoice: Invoice, code: Code, coins: string): Promise<string> {
  const asset = assetOn(ARBITRUM, code);
  const units = unitsOf(coins, asset?.decimals);
  const { address: to } = shownTo(invoice, pairOf(code));
  const hash =
    typeof asset?.contract === "string"
      ? await chain.sendToken({ contract: asset.contract, to, units })
      : await chain.sendNative({ to, units });
  await chain.mine();
  return hash;
}

describe("an invoice paid on a rollup", () => {
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
      {
        txHash: hash,
        status: "CONFIRMED",
        currency: "USDT",
        chainId: ARBITRUM.chainId,
        amount: "49.9",
        matchedBy: "EXACT_AMOUNT",
      },
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

describe("of two sources that disagree", () => {
  it("one alone confirms no payment above the merchant's quorum amount, until the other shows it too", async () => {
    await shop.changeSettings({ quorumAboveAmount: 1_000 });
    second.rule = ({ method }) => (method.startsWith("eth_getTransaction") ? { result: null } : undefined);
    const invoice = await order("USDT", 1_500);
    await pay(invoice, "USDT", shownTo(invoice, pairOf("USDT")).amount);
    const small = await order("USDC", 600);
    await pay(small, "USDC", shownTo(small, pairOf("USDC")).amount);
    await chain.mine();
    // Both are as deep, and were asked for alike.
    await untilStatus(shop, small.id, "PAID");
    const seen = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    expect(seen.payments).toMatchObject([{ status: "DETECTED" }]);

    second.rule = () => undefined;
    expect(await untilStatus(shop, invoice.id, "PAID")).toMatchObject({ amountConfirmed: "1500.000000" });
  });
});

describe("a sequencer that stands still", () => {
  it("makes its network degraded and decides nothing; once it goes on, what was paid meanwhile counts", async () => {
    const invoice = await shop.createInvoice({
      rawAmount: 35,
      paymentMethods: [{ cryptocurrency: "ETH", network: STILL.name }],
    });
    const { address, amount } = shownTo(invoice, { cryptocurrency: "ETH", network: STILL.name });
    const sent = await still.send({ to: `0x${address.slice(2)}`, value: unitsOf(amount, 18) });
    const stopped = await untilHealth(shop, STILL.name, ({ degradedSince }) => degradedSince !== null);
    expect(Date.parse(stopped.degradedSince ?? "")).toBeLessThan(Date.now() - 30 * 60_000);
    expect(await shop.invoice(invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });

    await still.rpc("evm_setTime", Math.floor(Date.now() / 1_000));
    await still.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid.payments).toMatchObject([{ txHash: sent, chainId: STILL.chainId, currency: "ETH" }]);
    expect(paid.isLate).toBe(false);
    await untilHealth(shop, STILL.name, ({ degradedSince }) => degradedSince === null);
  });
});

it("paid after it has run out, an invoice stays EXPIRED, and its money is late and asks for a decision", async () => {
  // Nothing runs out before its network has been read beyond its end: the chain must go on.
  await new Promise((resolve) => setTimeout(resolve, Date.parse(left.expiresAt) + 1_000 - Date.now()));
  await chain.mine();
  expect(await untilStatus(shop, left.id, "EXPIRED")).toMatchObject({ isLate: false, payments: [] });
  const hash = await pay(left, "USDC", shownTo(left, pairOf("USDC")).amount);
  await chain.mine();
  const late = await untilInvoice(shop, left.id, ({ payments }) => payments[0]?.status === "CONFIRMED");
  expect(late).toMatchObject({ status: "EXPIRED", isLate: true, needsReview: true, amountReceived: "0.000000" });
  expect(late.payments).toMatchObject([{ txHash: hash, isLate: true, chainId: ARBITRUM.chainId, amount: "77" }]);
});
