// From a customer's transaction to the invoice as the merchant reads it, on a real chain with the id of each EVM network: tokens at their real
// addresses, each network's own way to pay its coin, and what looks like a payment but is not. One shop accepts payments on all networks, and two of
// them have an unusable first source. Each scenario has a pair of its own, or amounts far from the others.
import { readFileSync } from "node:fs";
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WalletNetworks } from "../../../client/api-types.ts";
import { assetOn } from "../../../src/chains/registry/networks.ts";
import { type Anvil, type Hex, startAnvil } from "../../support/anvil.ts";
import { dataOf, install, installToken, MULTICALL, POLYGON_COIN } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import {
  type Invoice,
  type Payment,
  POLL_SECONDS,
  pathOf,
  type Shop,
  shownTo,
  startShop,
  unitsOf,
  untilInBlock,
  untilInvoice,
  untilStatus,
} from "./harness.ts";

const NAMES = ["ETH", "POL", "BNB", "CRO", "BASE", "ARBITRUM", "OPTIMISM"] as const;
type Name = (typeof NAMES)[number];
const TOKENS = ["USDT", "USDC", "DAI"] as const;

/** Arbitrary addresses for test contracts. */
const PAYER: Hex = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const SPOOFER: Hex = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
/** Addresses without known keys. */
const TILL: Hex = getAddress(`0x${"abcde1".padEnd(40, "7")}`);
const COIN_TILL: Hex = getAddress(`0x${"abcde2".padEnd(40, "7")}`);

const chains = new Map<Name, Anvil>();
let shop: Shop;

beforeAll(async () => {
  await Promise.all(NAMES.map(async (name) => chains.set(name, await startChain(name))));
  const source = (url: string) => ({ kind: "evm-rpc", url });
  const own = Object.fromEntries(NAMES.map((name) => [name, [source(chainOf(name).url)]]));
  // Nothing listens on port 1. Any other port that is free now may be taken a moment later.
  const nobody = source("http://127.0.0.1:1");
  const { ETH: others = [], POL = [], CRO = [] } = own;
  const sources = { ...own, POL: [...others, ...POL], CRO: [nobody, ...CRO] };
  shop = await startShop({ sources, pollSeconds: POLL_SECONDS });
  for (const name of NAMES) {
    for (const cryptocurrency of [...tokensOf(name), coinOf(name)]) {
      const address = cryptocurrency === coinOf(name) ? COIN_TILL : TILL;
      await shop.registerWallet({ walletType: "DIRECT_WALLET", cryptocurrency, network: name, address });
    }
  }
});
afterAll(async () => {
  await shop?.stop();
  for (const anvil of chains.values()) await anvil.stop();
});

async function startChain(name: Name): Promise<Anvil> {
  const { chainId, nativeBy } = network(name);
  const anvil = await startAnvil({ chainId: chainId ?? 0 });
  await install(anvil, "Payer", PAYER);
  await install(anvil, "Spoofer", SPOOFER);
  if (nativeBy === "balances") await install(anvil, "Multicall", MULTICALL);
  if (nativeBy === "logs") {
    await install(anvil, "PolygonCoin", POLYGON_COIN);
    // On Polygon the chain's client logs every transfer of the coin. anvil does not, so this contract does.
    await install(anvil, "PolygonRecipient", COIN_TILL);
  }
  for (const code of tokensOf(name))
    await installToken(anvil, contractOf(name, code), code === "USDT" ? "TetherLike" : "PlainToken");
  return anvil;
}

const tokensOf = (name: Name) => TOKENS.filter((code) => assetOn(network(name), code) !== undefined);
const coinOf = (name: Name) => network(name).nativeCode;

function chainOf(name: Name): Anvil {
  const chain = chains.get(name);
  if (chain === undefined) throw new Error(`${name} did not start`);
  return chain;
}

function contractOf(name: Name, code: string): Hex {
  const contract = assetOn(network(name), code)?.contract ?? "";
  return `0x${contract.slice(2)}`;
}

const order = (name: Name, cryptocurrency: string, rawAmount: number) =>
  shop.createInvoice({ rawAmount, paymentMethods: [{ cryptocurrency, network: name }] });

/** The amount that the customer is shown, in base units. */
const asked = (invoice: Invoice, name: Name, code: string) =>
  unitsOf(shownTo(invoice, { cryptocurrency: code, network: name }).amount, assetOn(network(name), code)?.decimals);

/** Mines the customer's transaction, of this many base units or of the amount asked for; returns its hash. */
async function pay(invoice: Invoice, name: Name, code: string, units = asked(invoice, name, code)): Promise<Hex> {
  const { address } = shownTo(invoice, { cryptocurrency: code, network: name });
  const to: Hex = `0x${address.slice(2)}`;
  const { transactionHash } = await chainOf(name).execute(
    code === coinOf(name) ? { to, value: units } : { to: contractOf(name, code), data: dataOf("transfer", to, units) },
  );
  return transactionHash;
}

const facts = ({ txHash, outputIndex, currency, chainId, status, matchedBy }: Payment) => ({
  txHash,
  outputIndex,
  currency,
  chainId,
  status,
  matchedBy,
});

describe.each(NAMES.filter((name) => tokensOf(name).includes("USDT")))("on %s", (name) => {
  // Runs before all other tests of its coin, because a paid invoice stays a candidate for partial payments until it ends.
  it("a payment in a token with a transfer fee counts with the amount received: as partial, or as complete if the fee is within the tolerance", async () => {
    const anvil = chainOf(name);
    const setFee = (basisPoints: bigint) =>
      anvil.execute({ to: contractOf(name, "USDT"), data: dataOf("setFee", basisPoints, PAYER) });
    const invoice = await order(name, "USDT", 200);
    const units = asked(invoice, name, "USDT");
    await setFee(250n);
    await pay(invoice, name, "USDT");
    const part = await untilInvoice(shop, invoice.id, ({ payments }) => payments.length === 1);
    expect(part).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "195.000000" });
    expect(part.payments).toMatchObject([{ amount: "195", matchedBy: "SOLE_CANDIDATE", outputIndex: "1" }]);
    expect(shownTo(part, { cryptocurrency: "USDT", network: name }).amountDue).toBe("5");

    await setFee(50n);
    const whole = await order(name, "USDT", 800);
    await pay(whole, name, "USDT");
    const paid = await untilStatus(shop, whole.id, "PAID");
    expect(paid).toMatchObject({ amountConfirmed: "796.000000" });
    expect(paid.payments).toMatchObject([{ amount: "796", matchedBy: "TOLERANCE" }]);
    await setFee(0n);
    await pay(invoice, name, "USDT", units / 40n);
    expect(await untilStatus(shop, invoice.id, "PAID")).toMatchObject({ amountConfirmed: "200.000000" });
  });
});

describe.each(NAMES)("on %s", (name) => {
  const { chainId } = network(name);
  const confirmed = { chainId, status: "CONFIRMED", matchedBy: "EXACT_AMOUNT" };

  const payments = [
    ["a token whose transfer() returns no value", "USDT", 49.9, "0"],
    ["a standard token", "DAI", 20, "0"],
    ["the coin", coinOf(name), 70, "native"],
  ] as const;
  it.each(payments.filter(([, code]) => assetOn(network(name), code) !== undefined))(
    "%s pays an invoice",
    async (_, code, amount, outputIndex) => {
      const invoice = await order(name, code, amount);
      const txHash = await pay(invoice, name, code);
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(pathOf(paid)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"]);
      expect(paid).toMatchObject({ amountReceived: paid.rawAmount, amountConfirmed: paid.rawAmount, isLate: false });
      expect(paid.payments.map(facts)).toEqual([{ ...confirmed, txHash, outputIndex, currency: code }]);
    },
  );

  it("spoofed, empty and reverted transfers and transfers of other tokens are not payments; real transfers after them are", async () => {
    const anvil = chainOf(name);
    const [customer] = anvil.accounts;
    const usdc = contractOf(name, "USDC");
    const [byToken, byCoin] = [await order(name, "USDC", 33), await order(name, coinOf(name), 210)];
    const [units, value] = [asked(byToken, name, "USDC"), asked(byCoin, name, coinOf(name))];
    const spoofed = await anvil.execute({ to: SPOOFER, data: dataOf("spoof", customer, TILL, units) });
    const empty = await anvil.execute({ to: usdc, data: dataOf("transfer", TILL, 0n) });
    await install(anvil, "Collectible", usdc);
    const collectible = await anvil.execute({ to: usdc, data: dataOf("mint", TILL, units) });
    await install(anvil, "PlainToken", usdc);
    // A transfer of more than the balance, a reverted payment, and below a payment that the recipient refuses.
    const [moreThanHad, takenBack] = await anvil.together([
      { to: usdc, data: dataOf("transfer", TILL, 10n ** 40n) },
      { to: PAYER, value, data: dataOf("revertAfter", COIN_TILL) },
    ]);
    await install(anvil, "Spoofer", COIN_TILL);
    const [refused] = await anvil.together([{ to: COIN_TILL, value }]);
    await (name === "POL"
      ? install(anvil, "PolygonRecipient", COIN_TILL)
      : anvil.rpc("anvil_setCode", COIN_TILL, "0x"));
    const none = [spoofed, empty, collectible, moreThanHad, takenBack, refused];
    expect(none.map((each) => each?.status)).toEqual(["0x1", "0x1", "0x1", "0x0", "0x0", "0x0"]);

    const hashes = [await pay(byToken, name, "USDC"), await pay(byCoin, name, coinOf(name))];
    const paid = [await untilStatus(shop, byToken.id, "PAID"), await untilStatus(shop, byCoin.id, "PAID")];
    expect(paid.map(({ payments }) => payments.map(({ txHash }) => txHash))).toEqual(hashes.map((hash) => [hash]));
    for (const each of none) expect(await shop.payments(`txHash=${each?.transactionHash}`)).toEqual([]);
  });
});

describe.each(["POL", "BNB", "CRO", "BASE", "ARBITRUM", "OPTIMISM"] as const)("a reorg on %s", (name) => {
  it("undoes a payment in the native coin, which counts once when it is mined again", async () => {
    const anvil = chainOf(name);
    const invoice = await order(name, coinOf(name), 330);
    const [, from = "0x"] = anvil.accounts;
    const before = await anvil.execute({ from, to: COIN_TILL, value: asked(invoice, name, coinOf(name)) });
    await untilStatus(shop, invoice.id, "PAID");
    const raw = await anvil.rawTransaction(before.transactionHash);
    await anvil.reorg(1);
    const taken = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
    expect(taken).toMatchObject({ amountReceived: "0.000000", payments: [{ status: "REORGED" }] });

    await anvil.mine();
    await anvil.rpc("eth_sendRawTransaction", raw);
    await anvil.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid).toMatchObject({ amountReceived: "330.000000", amountConfirmed: "330.000000" });
    expect(paid.payments).toMatchObject([{ txHash: before.transactionHash, status: "CONFIRMED" }]);

    // The payment's block is replaced by another one.
    await anvil.reorg(1, [raw]);
    const { blockHash } = await anvil.receipt(before.transactionHash);
    await untilInBlock(shop, before.transactionHash, blockHash);
    expect(await shop.invoice(invoice.id)).toMatchObject({ status: "PAID", amountConfirmed: "330.000000" });
  });
});

describe("a coin sent by a contract", () => {
  const forward = async (invoice: Invoice, name: Name) => {
    const data = dataOf("forward", COIN_TILL);
    return chainOf(name).execute({ to: PAYER, value: asked(invoice, name, coinOf(name)), data });
  };

  it("is found in Polygon's logs, and pays an invoice", async () => {
    const invoice = await order("POL", "POL", 700);
    const { transactionHash } = await forward(invoice, "POL");
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid.payments).toMatchObject([{ txHash: transactionHash, fromAddress: PAYER, matchedBy: "EXACT_AMOUNT" }]);
  });

  it.each(["ETH", "BNB", "CRO", "BASE"] as const)(
    "is found as growth of the balance on %s, and pays the invoice of exactly that amount",
    async (name) => {
      const invoice = await order(name, coinOf(name), 700);
      const { blockNumber } = await forward(invoice, name);
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid).toMatchObject({ amountConfirmed: "700.000000" });
      const txHash = `block:${Number(blockNumber)}`;
      expect(paid.payments).toMatchObject([
        { txHash, currency: coinOf(name), toAddress: COIN_TILL, matchedBy: "EXACT_AMOUNT" },
      ]);
    },
  );

  it("remains the same payment when a reorg moves it to another block at the same height", async () => {
    const anvil = chainOf("BNB");
    const invoice = await order("BNB", "BNB", 7_000);
    const before = await forward(invoice, "BNB");
    await untilStatus(shop, invoice.id, "PAID");
    await anvil.reorg(1, [await anvil.rawTransaction(before.transactionHash)]);
    const after = await anvil.receipt(before.transactionHash);
    expect(after.blockHash).not.toBe(before.blockHash);
    await untilInBlock(shop, `block:${Number(after.blockNumber)}`, after.blockHash);
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid).toMatchObject({ amountReceived: "7000.000000", amountConfirmed: "7000.000000" });
    expect(paid.payments).toMatchObject([{ status: "CONFIRMED" }]);
  });
});

describe("an unusable first source", () => {
  it.each([
    ["POL", "SERVES ANOTHER CHAIN"],
    ["CRO", "failed: UNREACHABLE"],
  ] as const)("is logged for %s and skipped; the second source is used, and /healthz is ok", async (name, logged) => {
    const invoice = await order(name, "USDT", 3_000);
    await pay(invoice, name, "USDT");
    await untilStatus(shop, invoice.id, "PAID");
    expect(readFileSync(shop.logFile, "utf8")).toContain(`chains: ${name} source 1 (evm-rpc) ${logged}`);
    const health = await shop.raw("GET", "/healthz");
    expect(health.body).toMatchObject({
      status: "ok",
      networks: { [name]: { height: expect.any(Number), isResting: false, degradedSince: null } },
      warnings: [],
    });
  });
});

describe("the address of a wallet", () => {
  it("may be used on networks that report no contract there, and on none once one of them has code", async () => {
    const address: Hex = getAddress(`0x${"abcde3".padEnd(40, "7")}`);
    const pair = { cryptocurrency: "WBTC", network: "ETH" };
    const { id } = await shop.registerWallet({ walletType: "DIRECT_WALLET", ...pair, address });
    const states = async () => {
      const { networks } = await shop.call<WalletNetworks>("GET", `/wallets/${id}/networks`);
      return Object.fromEntries(networks.map(({ network: name, state }) => [name, state]));
    };
    // All coins of the first three networks already have wallets. Polygon and Cronos have two sources each, one of them unusable.
    const full = { BNB: "REGISTERED", ARBITRUM: "REGISTERED", OPTIMISM: "REGISTERED" };
    const silent = { POL: "NO_ANSWER", CRO: "NO_ANSWER" };
    expect(await states()).toEqual({ ...full, ...silent, ETH: "FREE", BASE: "FREE" });
    await install(chainOf("BASE"), "Payer", address);
    const elsewhere = { ETH: "CODE_ELSEWHERE", POL: "CODE_ELSEWHERE", CRO: "CODE_ELSEWHERE" };
    expect(await states()).toEqual({ ...full, ...elsewhere, BASE: "CODE" });
  });
});
