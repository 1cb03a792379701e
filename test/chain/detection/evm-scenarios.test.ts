// Payments and invoices on a real EVM chain in less simple cases: replaced blocks and transactions, one transaction for many invoices and many for
// one, two merchants at one address, and a failing provider. Scenarios with the same token use amounts that are far apart.
import { encodeFunctionData, getAddress, parseAbi } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assetOn } from "../../../src/chains/registry/networks.ts";
import { type Anvil, type Hex, startAnvil } from "../../support/anvil.ts";
import { dataOf, install, installToken, MULTICALL } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Extra, seedExtra } from "../../support/seed-extra.ts";
import {
  type Invoice,
  type Payment,
  POLL_SECONDS,
  pathOf,
  SEEN_WITHIN_MS,
  type Shop,
  shownTo,
  startShop,
  unitsOf,
  until,
  untilHealth,
  untilInBlock,
  untilInvoice,
  untilPayments,
  untilStatus,
} from "./harness.ts";

const ETH = network("ETH");
const TOKENS = ["USDT", "USDC", "DAI", "EURC"] as const;
type Code = (typeof TOKENS)[number] | "ETH";
/** An address without a known key. */
const TILL: Hex = getAddress(`0x${"abcde3".padEnd(40, "7")}`);

let chain: Anvil;
let vendor: RpcProxy;
let shop: Shop;
let extra: Extra | undefined;

beforeAll(async () => {
  chain = await startAnvil({ chainId: 1 });
  await install(chain, "Multicall", MULTICALL);
  for (const code of TOKENS) await installToken(chain, contractOf(code), code === "USDT" ? "TetherLike" : "PlainToken");
  vendor = await startRpcProxy(chain.url);
  shop = await startShop({
    sources: { ETH: [vendor, chain].map(({ url }) => ({ kind: "evm-rpc", url })) },
    pollSeconds: POLL_SECONDS,
    seedMore: async (home, { merchantId }) => {
      extra = await seedExtra(home, merchantId, Date.now());
    },
  });
  for (const cryptocurrency of [...TOKENS, "ETH"]) await shop.registerWallet(walletOf(cryptocurrency));
  await call(another(), "POST", "/wallets", walletOf("EURC"));
  // anvil gives the blocks of a reorg the time of the block below them. This block makes that time later than the start of the shop.
  await chain.mine();
});
afterAll(async () => {
  await shop?.stop();
  await vendor?.close();
  await chain?.stop();
});

const walletOf = (cryptocurrency: string) => ({
  walletType: "DIRECT_WALLET",
  cryptocurrency,
  network: "ETH",
  address: TILL,
});

type Merchant = Extra["other"];
function another(): Merchant {
  if (extra === undefined) throw new Error("nobody was seeded");
  return extra.other;
}

/** Calls a path of the other merchant; the caller asserts the type. */
async function call<T>({ merchantId, secretKey }: Merchant, method: string, rest: string, body?: unknown): Promise<T> {
  const path = `/api/v1/merchants/merchant/${merchantId}${rest}`;
  const answer = await shop.raw(method, path, body, { "x-api-key": secretKey });
  if (answer.status >= 300) throw new Error(`${method} ${rest}: ${answer.status} ${answer.text}`);
  return answer.body as T;
}

function contractOf(code: Code): Hex {
  return `0x${(assetOn(ETH, code)?.contract ?? "").slice(2)}`;
}

const termsOf = (code: Code, rawAmount: number) => ({
  rawAmount,
  paymentMethods: [{ cryptocurrency: code, network: "ETH" }],
});
const order = (code: Code, rawAmount: number) => shop.createInvoice(termsOf(code, rawAmount));
const shown = (invoice: Invoice, code: Code) => shownTo(invoice, { cryptocurrency: code, network: "ETH" });
const asked = (invoice: Invoice, code: Code) => unitsOf(shown(invoice, code).amount, assetOn(ETH, code)?.decimals);

/** A customer's transaction, for `send`, `execute` and `together`. */
function sending(code: Code, units: bigint, place: number) {
  const from = chain.accounts[place] ?? "0x";
  const to = contractOf(code);
  return code === "ETH" ? { from, to: TILL, value: units } : { from, to, data: dataOf("transfer", TILL, units) };
}

/** Waits until the shop has read the newest block, and everything before it. */
async function untilRead(): Promise<void> {
  const height = await chain.height();
  await untilHealth(shop, "ETH", (health) => health.height === height);
}

describe("a reorg", () => {
  it("that mines a payment again with a lower log index leaves one payment, credited once", async () => {
    const invoice = await order("USDT", 40);
    const [before, first] = await chain.together([sending("DAI", 1n, 1), sending("USDT", asked(invoice, "USDT"), 2)]);
    const txHash = first?.transactionHash ?? "0x";
    await untilStatus(shop, invoice.id, "PAID");
    await chain.reorg(1, [await chain.rawTransaction(txHash)]);
    const second = await chain.receipt(txHash);
    expect([first?.logs[0]?.logIndex, second.logs[0]?.logIndex]).toEqual(["0x1", "0x0"]);

    expect(await untilInBlock(shop, txHash, second.blockHash)).toMatchObject({ status: "CONFIRMED", outputIndex: "0" });
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid).toMatchObject({ amountReceived: "40.000000", amountConfirmed: "40.000000" });
    expect(paid.payments).toHaveLength(1);
    expect(before?.status).toBe("0x1");
  });

  it.each(["USDT", "ETH"] as const)("that drops a payment in %s undoes it, until it is mined again", async (code) => {
    const invoice = await order(code, 700);
    const { transactionHash } = await chain.execute(sending(code, asked(invoice, code), 3));
    await untilStatus(shop, invoice.id, "PAID");
    const raw = await chain.rawTransaction(transactionHash);
    await chain.reorg(1);
    const taken = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
    expect(taken).toMatchObject({ amountReceived: "0.000000", amountConfirmed: "0.000000" });
    expect(taken.payments).toMatchObject([{ status: "REORGED", confirmations: 0, blockHeight: null }]);
    expect(shown(taken, code).amountDue).toBe(shown(invoice, code).amount);

    await chain.mine(2);
    await chain.rpc("eth_sendRawTransaction", raw);
    await chain.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(pathOf(paid).slice(0, 4)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID", "AWAITING_PAYMENT"]);
    expect(paid).toMatchObject({ amountReceived: "700.000000", amountConfirmed: "700.000000" });
    expect(paid.payments).toMatchObject([{ txHash: transactionHash, status: "CONFIRMED" }]);
  });
});

describe("of two transactions with the same nonce,", () => {
  const nonceOf = async (place: number) =>
    Number(await chain.rpc("eth_getTransactionCount", chain.accounts[place], "latest"));

  it("the one that was replaced before it was mined never counts, even if the customer claims it", async () => {
    const [first, second] = [await order("USDC", 11), await order("USDC", 17)];
    const nonce = await nonceOf(4);
    const gas = 200_000n;
    const replaced = await chain.send({
      ...sending("USDC", asked(first, "USDC"), 4),
      nonce,
      gas,
      gasPrice: 10n ** 10n,
    });
    const claim = { txHash: replaced, network: "ETH" };
    const claimed = await shop.raw("POST", `/api/v1/checkout/${first.id}/claims`, claim);
    expect(claimed.status, claimed.text).toBeLessThan(300);
    const mined = await chain.send({ ...sending("USDC", asked(second, "USDC"), 4), nonce, gas, gasPrice: 10n ** 11n });
    await chain.mine();
    expect((await untilStatus(shop, second.id, "PAID")).payments).toMatchObject([{ txHash: mined }]);
    expect(await shop.payments(`txHash=${replaced}`)).toEqual([]);
    expect(await shop.invoice(first.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
  });

  it("the one that a reorg replaced no longer counts, and the other does", async () => {
    const [first, second] = [await order("USDC", 110), await order("USDC", 170)];
    const nonce = await nonceOf(5);
    const replaced = await chain.execute({ ...sending("USDC", asked(first, "USDC"), 5), nonce });
    await untilStatus(shop, first.id, "PAID");
    await chain.reorg(1);
    const { transactionHash } = await chain.execute({ ...sending("USDC", asked(second, "USDC"), 5), nonce });
    expect((await untilStatus(shop, second.id, "PAID")).payments).toMatchObject([{ txHash: transactionHash }]);
    const taken = await untilStatus(shop, first.id, "AWAITING_PAYMENT");
    expect(taken.payments).toMatchObject([{ txHash: replaced.transactionHash, status: "REORGED" }]);
    expect(taken.amountReceived).toBe("0.000000");
  });
});

describe("payments and invoices", () => {
  // Runs before all other tests of its coin, because a paid invoice stays a candidate for partial payments until it ends.
  it("two payments in one block are added up for one invoice", async () => {
    const invoice = await order("DAI", 300);
    const parts = [100n, 200n].map((coins, place) => sending("DAI", coins * 10n ** 18n, 6 + place));
    const [first, second] = await chain.together(parts);
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid).toMatchObject({ amountReceived: "300.000000", amountConfirmed: "300.000000" });
    expect(paid.payments.map(({ txHash }) => txHash).toSorted()).toEqual(
      [first?.transactionHash, second?.transactionHash].toSorted(),
    );
  });

  const aggregate = parseAbi(["function aggregate3((address target, bool allowFailure, bytes callData)[] calls)"]);

  it("one transaction pays three invoices at one address, each by its own amount", async () => {
    const invoices = [await order("DAI", 25), await order("DAI", 25), await order("DAI", 25)];
    const amounts = invoices.map((invoice) => asked(invoice, "DAI"));
    expect(new Set(amounts).size).toBe(3);
    const [customer = "0x"] = chain.accounts;
    const target = contractOf("DAI");
    await chain.execute({ to: target, data: dataOf("approve", MULTICALL, 10n ** 24n) });
    const calls = amounts.map((units) => ({
      target,
      allowFailure: false,
      callData: dataOf("transferFrom", customer, TILL, units),
    }));
    const data = encodeFunctionData({ abi: aggregate, args: [calls] });
    const { transactionHash } = await chain.execute({ to: MULTICALL, data, gas: 2_000_000n });
    for (const [place, invoice] of invoices.entries()) {
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid.payments).toMatchObject([
        { txHash: transactionHash, outputIndex: String(place), matchedBy: "EXACT_AMOUNT", fromAddress: customer },
      ]);
      expect(paid).toMatchObject({ amountConfirmed: "25.000000" });
    }
  });

  it("an invoice that is paid twice is overpaid, and no other invoice gets the second payment", async () => {
    const [invoice, other] = [await order("DAI", 3_000), await order("DAI", 5_000)];
    await chain.execute(sending("DAI", asked(invoice, "DAI"), 8));
    await untilStatus(shop, invoice.id, "PAID");
    await chain.execute(sending("DAI", asked(invoice, "DAI"), 9));
    const over = await untilStatus(shop, invoice.id, "OVERPAID");
    expect(over.amountConfirmed).toBe("6000.000000");
    expect(over.payments).toMatchObject([{ matchedBy: "EXACT_AMOUNT" }, { matchedBy: "EXACT_AMOUNT" }]);
    expect(await shop.invoice(other.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
  });
});

describe("an address that two merchants share", () => {
  const ofAnother = (id: string) => call<Invoice>(another(), "GET", `/invoices/${id}`);
  const paymentsOfAnother = async (txHash: string) =>
    (await call<{ data: readonly Payment[] }>(another(), "GET", `/payments?txHash=${txHash}`)).data;

  it("credits the merchant whose amount was paid, and shows nothing to the other", async () => {
    const mine = await order("EURC", 54);
    const others = await call<Invoice>(another(), "POST", "/invoices", { name: "Order", ...termsOf("EURC", 54) });
    expect(asked(mine, "EURC")).not.toBe(asked(others, "EURC"));
    const first = await chain.execute(sending("EURC", asked(others, "EURC"), 1));
    await until(
      () => ofAnother(others.id),
      ({ status }) => status === "PAID",
      SEEN_WITHIN_MS,
    );
    expect(await shop.invoice(mine.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    expect(await shop.payments(`txHash=${first.transactionHash}`)).toEqual([]);

    const second = await chain.execute(sending("EURC", asked(mine, "EURC"), 1));
    const paid = await untilStatus(shop, mine.id, "PAID");
    expect(paid.payments).toMatchObject([{ txHash: second.transactionHash, matchedBy: "EXACT_AMOUNT" }]);
    expect((await ofAnother(others.id)).payments).toMatchObject([{ txHash: first.transactionHash }]);
    expect(await paymentsOfAnother(second.transactionHash)).toEqual([]);
  });

  it("shows a payment that matches no invoice to both merchants, and each may assign it to an invoice of their own", async () => {
    const mine = await order("EURC", 540);
    const others = await call<Invoice>(another(), "POST", "/invoices", { name: "Order", ...termsOf("EURC", 540) });
    const { transactionHash } = await chain.execute(sending("EURC", unitsOf("250", assetOn(ETH, "EURC")?.decimals), 2));
    const [payment] = await untilPayments(shop, transactionHash);
    const [same] = await until(
      () => paymentsOfAnother(transactionHash),
      ({ length }) => length > 0,
      SEEN_WITHIN_MS,
    );
    expect([payment, same]).toMatchObject([{ status: "UNMATCHED" }, { status: "UNMATCHED" }]);

    const assign = (invoiceId: string) => ({ action: "ASSIGN", invoiceId, reason: "the customer wrote to us" });
    await shop.resolvePayment(payment?.id ?? "", assign(mine.id));
    await call(another(), "POST", `/payments/${same?.id}/resolve`, assign(others.id));
    const part = await untilInvoice(shop, mine.id, ({ payments }) => payments[0]?.status === "CONFIRMED");
    expect(part).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "270.000000" });
    expect(await ofAnother(others.id)).toMatchObject({
      // This invoice asked for a slightly lower amount than the other one, so the same payment is worth slightly more to it.
      amountReceived: expect.stringMatching(/^270\.00/),
      payments: [{ matchedBy: "MANUAL" }],
    });
  });
});

describe("the failure of a provider while the shop runs", () => {
  async function payThrough(rawAmount: number) {
    const invoice = await order("USDC", rawAmount);
    const { transactionHash } = await chain.execute(sending("USDC", asked(invoice, "USDC"), 7));
    expect((await untilStatus(shop, invoice.id, "PAID")).payments).toMatchObject([{ txHash: transactionHash }]);
    const well = { status: "ok", networks: { ETH: { degradedSince: null } }, warnings: [] };
    expect((await shop.raw("GET", "/healthz")).body).toMatchObject(well);
  }
  const untilAsked = () => {
    vendor.asked.length = 0;
    const isScanned = (asked: RpcProxy["asked"]) => asked.some(({ method }) => method === "eth_getLogs");
    return until(async () => vendor.asked, isScanned, SEEN_WITHIN_MS);
  };

  it("loses no payment if the provider throttles: the next one is used until the first recovers", async () => {
    await chain.mine();
    await untilRead();
    expect(vendor.asked).not.toEqual([]);
    vendor.rule = () => ({ error: { code: -32_005, message: "rate limit exceeded" } });
    await payThrough(2_500);
    vendor.rule = () => undefined;
    await untilAsked();
    await payThrough(3_500);
  });

  it("loses no payment if the provider becomes unreachable: the next one is used", async () => {
    await untilAsked();
    await vendor.close();
    await payThrough(4_500);
  });
});
