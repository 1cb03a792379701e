// From a customer's transaction on a rollup to the invoice as the merchant reads it, the same on each rollup. Payments of less or more than asked for
// use coins of their own, because all scenarios share one address, and such payments are credited only if a single invoice is open. The second of two
// sources may disagree, and the sequencer of a test network is stopped.
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

/** `other`: a token for the scenario that pays too much. `blockMs`: time between two blocks of the real chain. */
const ROLLUPS = [
  { name: "ARBITRUM", still: "ARBITRUM_SEPOLIA", other: "DAI", blockMs: 250 },
  { name: "BASE", still: "BASE_SEPOLIA", other: "EURC", blockMs: 2_000 },
  { name: "OPTIMISM", still: "OPTIMISM_SEPOLIA", other: "DAI", blockMs: 2_000 },
] as const;
type RollupName = (typeof ROLLUPS)[number]["name"];
type Code = "USDC" | "DAI" | "EURC" | "ETH";

/** The shop's address, from which no customer pays, because a payment of an address to itself does not count. */
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const REQUIRED = 2;
const WALLET = { walletType: "DIRECT_WALLET", address: ADDRESS } as const;

interface Running {
  readonly chain: EvmChain;
  readonly second: RpcProxy;
  /** A source whose newest block is an hour old. */
  readonly still: Anvil;
}

const running = new Map<RollupName, Running>();
/** An invoice that expires while the other scenarios run. */
const left = new Map<RollupName, Invoice>();
let shop: Shop;

function on<Value>(values: ReadonlyMap<RollupName, Value>, name: RollupName): Value {
  const value = values.get(name);
  if (value === undefined) throw new Error(`nothing runs on ${name}`);
  return value;
}

beforeAll(async () => {
  const anHourAgo = Math.floor(Date.now() / 1_000) - 3_600;
  const sources: Record<string, readonly { readonly kind: string; readonly url: string }[]> = {};
  for (const { name, still: stillName, other } of ROLLUPS) {
    const contracts = ["USDC", other].flatMap((code) => assetOn(network(name), code)?.contract ?? []);
    const chain = await startEvmChain(contracts, { chainId: network(name).chainId ?? 0 });
    await chain.mine();
    const second = await startRpcProxy(chain.url);
    const still = await startAnvil({
      chainId: network(stillName).chainId ?? 0,
      args: ["--timestamp", String(anHourAgo)],
    });
    running.set(name, { chain, second, still });
    sources[name] = [chain, second].map(({ url }) => ({ kind: "evm-rpc", url }));
    sources[stillName] = [{ kind: "evm-rpc", url: still.url }];
  }
  shop = await startShop({ sources, pollSeconds: POLL_SECONDS });
  for (const { name, still, other } of ROLLUPS) {
    await shop.registerWallet({ ...WALLET, cryptocurrency: "ETH", network: still });
    for (const cryptocurrency of ["USDC", other, "ETH"])
      await shop.registerWallet({ ...WALLET, cryptocurrency, network: name, requiredConfirmations: REQUIRED });
    left.set(name, await order(name, "USDC", 77, { expiresInSeconds: 60 }));
  }
});
afterAll(async () => {
  await shop?.stop();
  for (const { chain, second, still } of running.values()) {
    await second.close();
    await Promise.all([chain.stop(), still.stop()]);
  }
});

const order = (name: RollupName, cryptocurrency: Code, rawAmount: number, more: object = {}) =>
  shop.createInvoice({ rawAmount, paymentMethods: [{ cryptocurrency, network: name }], ...more });

/** Pays the invoice in whole coins, by default the amount it shows, and mines the payment into the next block; returns the transaction. */
async function pay(name: RollupName, invoice: Invoice, cryptocurrency: Code, coins?: string): Promise<string> {
  const { chain } = on(running, name);
  const asset = assetOn(network(name), cryptocurrency);
  const { address: to, amount } = shownTo(invoice, { cryptocurrency, network: name });
  const units = unitsOf(coins ?? amount, asset?.decimals);
  const hash =
    typeof asset?.contract === "string"
      ? await chain.sendToken({ contract: asset.contract, to, units })
      : await chain.sendNative({ to, units });
  await chain.mine();
  return hash;
}

describe.each(ROLLUPS)("an invoice paid on $name", ({ name, other, still: stillName, blockMs }) => {
  const { chainId } = network(name);

  it("goes from awaiting payment through pending to paid as the payment's block gets deeper", async () => {
    const invoice = await order(name, "USDC", 49.9);
    const hash = await pay(name, invoice, "USDC");
    const seen = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    expect(seen).toMatchObject({ amountReceived: "49.900000", amountConfirmed: "0.000000" });
    expect(seen.payments).toMatchObject([{ status: "DETECTED", confirmations: 1, requiredConfirmations: REQUIRED }]);

    await on(running, name).chain.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(pathOf(paid)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"]);
    expect(paid).toMatchObject({ amountReceived: "49.900000", amountConfirmed: "49.900000", isLate: false });
    const { amount } = shownTo(paid, { cryptocurrency: "USDC", network: name });
    expect(paid.payments).toMatchObject([
      { txHash: hash, status: "CONFIRMED", currency: "USDC", chainId, amount, matchedBy: "EXACT_AMOUNT" },
    ]);
    expect(await shop.payments(`invoiceId=${invoice.id}`)).toEqual(paid.payments);
  });

  it("is paid when blocks come as fast as on the real chain", async () => {
    const invoice = await order(name, "USDC", 21);
    await pay(name, invoice, "USDC");
    const { chain } = on(running, name);
    const producing = setInterval(() => void chain.mine().catch(() => undefined), blockMs);
    try {
      expect(await untilStatus(shop, invoice.id, "PAID")).toMatchObject({ amountConfirmed: "21.000000" });
    } finally {
      clearInterval(producing);
    }
  });

  it("asks for the rest after a partial payment, and is paid by it", async () => {
    const invoice = await order(name, "ETH", 70);
    await pay(name, invoice, "ETH", "0.008");
    const part = await untilInvoice(shop, invoice.id, ({ payments }) => payments.length === 1);
    expect(part).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "28.000000" });
    expect(shownTo(part, { cryptocurrency: "ETH", network: name }).amountDue).toBe("0.012");

    await pay(name, invoice, "ETH", "0.012");
    await on(running, name).chain.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(pathOf(paid)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"]);
    expect(paid).toMatchObject({ amountReceived: "70.000000", amountConfirmed: "70.000000" });
    expect(paid.payments).toHaveLength(2);
  });

  it("is overpaid when clearly more than its amount is confirmed", async () => {
    const invoice = await order(name, other, 30);
    await pay(name, invoice, other, "45");
    await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    await on(running, name).chain.mine();
    const over = await untilStatus(shop, invoice.id, "OVERPAID");
    expect(pathOf(over)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "OVERPAID"]);
    expect(over.needsReview).toBe(true);
    expect(Number(over.amountConfirmed)).toBeGreaterThan(40);
    expect(over.payments).toMatchObject([{ currency: other, amount: "45", chainId }]);
  });

  it("above the merchant's quorum amount is not confirmed until a second source shows its payment too", async () => {
    await shop.changeSettings({ quorumAboveAmount: 1_000 });
    const { chain, second } = on(running, name);
    second.rule = ({ method }) => (method.startsWith("eth_getTransaction") ? { result: null } : undefined);
    const invoice = await order(name, "USDC", 1_500);
    await pay(name, invoice, "USDC");
    const small = await order(name, "USDC", 600);
    await pay(name, small, "USDC");
    await chain.mine();
    // The larger payment has more confirmations than this one, so only the quorum keeps it from being confirmed.
    await untilStatus(shop, small.id, "PAID");
    const seen = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    expect(seen.payments).toMatchObject([{ status: "DETECTED" }]);

    second.rule = () => undefined;
    expect(await untilStatus(shop, invoice.id, "PAID")).toMatchObject({ amountConfirmed: "1500.000000" });
  });

  it("stays undecided while the sequencer is stopped and the network degraded; payments made during the stop count once the sequencer continues", async () => {
    const { still } = on(running, name);
    const pair = { cryptocurrency: "ETH", network: stillName };
    const invoice = await shop.createInvoice({ rawAmount: 35, paymentMethods: [pair] });
    const { address, amount } = shownTo(invoice, pair);
    const sent = await still.send({ to: `0x${address.slice(2)}`, value: unitsOf(amount, 18) });
    const stopped = await untilHealth(shop, stillName, ({ degradedSince }) => degradedSince !== null);
    expect(Date.parse(stopped.degradedSince ?? "")).toBeLessThan(Date.now() - 30 * 60_000);
    expect(await shop.invoice(invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });

    await still.rpc("evm_setTime", Math.floor(Date.now() / 1_000));
    await still.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid.payments).toMatchObject([{ txHash: sent, chainId: network(stillName).chainId, currency: "ETH" }]);
    expect(paid.isLate).toBe(false);
    await untilHealth(shop, stillName, ({ degradedSince }) => degradedSince === null);
  });

  it("stays EXPIRED if it had expired, and its payment is late and needs a decision", async () => {
    const { chain } = on(running, name);
    const { id, expiresAt } = on(left, name);
    // An invoice expires only once its network has been read past its expiry, so the chain must continue.
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(expiresAt) + 1_000 - Date.now())));
    await chain.mine();
    const expired = await untilStatus(shop, id, "EXPIRED");
    expect(expired).toMatchObject({ isLate: false, payments: [] });
    const hash = await pay(name, expired, "USDC");
    await chain.mine();
    const late = await untilInvoice(shop, id, ({ payments }) => payments[0]?.status === "CONFIRMED");
    expect(late).toMatchObject({ status: "EXPIRED", isLate: true, needsReview: true, amountReceived: "0.000000" });
    expect(late.payments).toMatchObject([{ txHash: hash, isLate: true, chainId, currency: "USDC" }]);
  });
});

it("payments made on every rollup while the service is down are found when it is back", async () => {
  const names = ROLLUPS.map(({ name }) => name);
  const invoices = new Map<RollupName, Invoice>();
  for (const name of names) invoices.set(name, await order(name, "USDC", 12));
  await shop.restart(async () => {
    for (const name of names) {
      await pay(name, on(invoices, name), "USDC");
      await on(running, name).chain.mine();
    }
  });
  for (const name of names) {
    const paid = await untilStatus(shop, on(invoices, name).id, "PAID");
    expect([name, paid.amountConfirmed, paid.isLate]).toEqual([name, "12.000000", false]);
  }
});
