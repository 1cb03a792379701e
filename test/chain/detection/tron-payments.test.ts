// From a customer's transaction on TRON to the invoice as the merchant reads it, over TRON's two interfaces: a node's JSON-RPC first and TronGrid
// second. Each is a stand-in with the real limits and faults, and both read one real chain. Amounts are far apart, because one address serves all
// scenarios.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { addressOfHex, hexOfAddress } from "../../../src/chains/tron/tron-hex.ts";
import { type Anvil, type Hex, type Receipt, startAnvil } from "../../support/anvil.ts";
import { dataOf, install, installToken } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import { startTron, type TronStandIn } from "../../support/tron-stand-in.ts";
import {
  type Invoice,
  POLL_SECONDS,
  pathOf,
  SEEN_WITHIN_MS,
  type Shop,
  shownTo,
  startShop,
  unitsOf,
  until,
  untilHealth,
  untilInvoice,
  untilStatus,
} from "./harness.ts";

const USDT = hex("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t");
const PAYER: Hex = `0x${"5a".repeat(20)}`;
const SPOOFER: Hex = `0x${"5f".repeat(20)}`;
const COLLECTIBLE: Hex = `0x${"5c".repeat(20)}`;
/** An address without a known key. */
const TILL = addressOfHex("abcde4".padEnd(40, "7")) ?? "";
const TILL_HEX = hex(TILL);
const REQUIRED = 2;
/** In seconds: the shortest lifetime of an invoice. Only the shop's own clock ends it, so the test must wait. */
const LIFETIME = 60;

type Code = "USDT" | "TRX";
const CODES: readonly Code[] = ["USDT", "TRX"];

let chain: Anvil;
let node: TronStandIn;
let grid: TronStandIn;
let shop: Shop;

beforeAll(async () => {
  chain = await startAnvil({ chainId: 728_126_428 });
  await install(chain, "Payer", PAYER);
  await install(chain, "Spoofer", SPOOFER);
  await install(chain, "Collectible", COLLECTIBLE);
  await installToken(chain, USDT, "TetherLike");
  [node, grid] = [await startTron(chain.rpc), await startTron(chain.rpc)];
  shop = await startShop({
    sources: {
      TRX: [
        { kind: "tron-rpc", url: `${node.url}/jsonrpc` },
        { kind: "trongrid", url: grid.url },
      ],
    },
    pollSeconds: POLL_SECONDS,
  });
  const wallet = { walletType: "DIRECT_WALLET", network: "TRX", address: TILL, requiredConfirmations: REQUIRED };
  for (const cryptocurrency of CODES) await shop.registerWallet({ ...wallet, cryptocurrency });
});
afterEach(() => {
  for (const each of [node, grid]) Object.assign(each, { fault: null, isBlind: false, behind: 0 });
});
afterAll(async () => {
  await shop?.stop();
  await grid?.close();
  await node?.close();
  await chain?.stop();
});

/** The address as the chain behind TRON spells it. */
function hex(address: string): Hex {
  return `0x${hexOfAddress(address) ?? ""}`;
}

const order = (cryptocurrency: Code, rawAmount: number, terms = {}) =>
  shop.createInvoice({ rawAmount, paymentMethods: [{ cryptocurrency, network: "TRX" }], ...terms });

/** The amount that the customer is shown, in base units. */
const asked = (invoice: Invoice, cryptocurrency: Code) =>
  unitsOf(shownTo(invoice, { cryptocurrency, network: "TRX" }).amount, 6);

/** Mines the customer's transaction. */
function pay(invoice: Invoice, code: Code): Promise<Receipt> {
  const units = asked(invoice, code);
  return chain.execute(
    code === "TRX" ? { to: TILL_HEX, value: units } : { to: USDT, data: dataOf("transfer", TILL_HEX, units) },
  );
}

/** The hash as TRON shows it. */
const idOf = ({ transactionHash }: Receipt) => transactionHash.slice(2);

async function untilPaid(invoice: Invoice, ...receipts: readonly Receipt[]): Promise<Invoice> {
  const paid = await until(
    () => shop.invoice(invoice.id),
    ({ status }) => status === "PAID",
    SEEN_WITHIN_MS,
  );
  expect(paid).toMatchObject({ amountReceived: paid.rawAmount, amountConfirmed: paid.rawAmount, isLate: false });
  expect(paid.payments.map(({ txHash }) => txHash)).toEqual(receipts.map(idOf));
  return paid;
}

/** Waits until the shop has read the newest block. */
async function untilRead(): Promise<void> {
  const height = await chain.height();
  await untilHealth(shop, "TRX", (health) => health.height === height);
}

const isSeen = ({ payments }: Invoice) => payments.length === 1;

describe("an invoice paid on TRON", () => {
  // Runs before all other tests of its coin, because a paid invoice stays a candidate for partial payments until it ends.
  it("by two transfers in one transaction has two payments, each counted once", async () => {
    const invoice = await order("USDT", 300);
    const units = asked(invoice, "USDT");
    await chain.execute({ to: USDT, data: dataOf("approve", PAYER, units) });
    const receipt = await chain.execute({
      to: PAYER,
      data: dataOf("payTokens", USDT, [TILL_HEX, TILL_HEX], units / 2n),
    });
    await chain.mine();
    const paid = await untilPaid(invoice, receipt, receipt);
    expect(paid.payments.map(({ outputIndex }) => outputIndex).toSorted()).toEqual(["0", "1"]);
  });

  it.each([
    ["USDT", 49.9, "0"],
    ["TRX", 60, "native"],
  ] as const)("in %s is pending, and then paid when its block is deep enough", async (code, amount, outputIndex) => {
    const invoice = await order(code, amount);
    const receipt = await pay(invoice, code);
    const seen = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    expect(seen.payments).toMatchObject([{ status: "DETECTED", confirmations: 1, requiredConfirmations: REQUIRED }]);
    await chain.mine();
    const paid = await untilPaid(invoice, receipt);
    expect(pathOf(paid)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"]);
    const fromAddress = addressOfHex(chain.accounts[0] ?? "");
    expect(paid.payments).toMatchObject([
      {
        chainId: 728_126_428,
        currency: code,
        matchedBy: "EXACT_AMOUNT",
        outputIndex,
        fromAddress,
        toAddress: TILL,
      },
    ]);
  });

  it("is not paid by transfers that only look like payments, but by the real ones after them", async () => {
    const [byToken, byCoin] = [await order("USDT", 1_000), await order("TRX", 1_000)];
    const [units, value] = [asked(byToken, "USDT"), asked(byCoin, "TRX")];
    const none = await chain.together([
      { to: SPOOFER, data: dataOf("spoof", PAYER, TILL_HEX, units) },
      { to: COLLECTIBLE, data: dataOf("mint", TILL_HEX, units) },
      { to: USDT, data: dataOf("transfer", TILL_HEX, 0n) },
      { to: USDT, data: dataOf("transfer", TILL_HEX, 10n ** 40n) },
      { to: PAYER, value, data: dataOf("revertAfter", TILL_HEX) },
    ]);
    // The JSON-RPC interface shows a transfer of this worthless token as TRX.
    const worthless = await chain.send({ to: TILL_HEX, value });
    for (const each of [node, grid]) each.tokenTransfers.add(worthless);
    await chain.mine();
    const receipts = [await pay(byToken, "USDT"), await pay(byCoin, "TRX")] as const;
    await chain.mine();
    await untilPaid(byToken, receipts[0]);
    await untilPaid(byCoin, receipts[1]);
    expect(none.map(({ status }) => status)).toEqual(["0x1", "0x1", "0x1", "0x0", "0x0"]);
    for (const hash of [...none.map(idOf), worthless.slice(2)])
      expect(await shop.payments(`txHash=${hash}`)).toEqual([]);
  });

  it("keeps a single payment when it is mined again after a reorg, and awaits payment in between", async () => {
    const invoice = await order("USDT", 3_000);
    const receipt = await pay(invoice, "USDT");
    await chain.mine();
    await untilPaid(invoice, receipt);
    const raw = await chain.rawTransaction(receipt.transactionHash);
    await chain.reorg(2);
    const taken = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
    expect(taken.payments).toMatchObject([{ txHash: idOf(receipt), status: "REORGED" }]);
    await chain.mine();
    await chain.rpc("eth_sendRawTransaction", raw);
    await chain.mine(REQUIRED);
    await untilPaid(invoice, receipt);
  });
});

describe("failing TRON sources", () => {
  it("that wrongly return nothing hide a payment only until they are read again", async () => {
    const invoice = await order("USDT", 400);
    for (const each of [node, grid]) each.isBlind = true;
    const receipt = await pay(invoice, "USDT");
    await chain.mine(REQUIRED);
    await untilRead();
    expect(await shop.invoice(invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    for (const each of [node, grid]) each.isBlind = false;
    await chain.mine();
    await untilPaid(invoice, receipt);
  });

  it("that no longer show an earlier payment do not undo it", async () => {
    const invoice = await order("USDT", 500);
    const receipt = await pay(invoice, "USDT");
    await untilInvoice(shop, invoice.id, isSeen);
    for (const each of [node, grid]) each.isBlind = true;
    await chain.mine(REQUIRED);
    const paid = await untilPaid(invoice, receipt);
    expect(pathOf(paid)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"]);
  });

  it("that hide a payment for longer than the overlap do not expire its invoice: the second source is asked first", async () => {
    const invoice = await order("USDT", 600, { expiresInSeconds: LIFETIME });
    node.isBlind = true;
    const receipt = await pay(invoice, "USDT");
    await chain.mine(network("TRX").overlapBlocks + 1);
    await untilRead();
    node.isBlind = false;
    await chain.mine();
    await untilRead();
    expect(await shop.invoice(invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    // An invoice expires only with a block after its expiry, because a stopped chain does not prove that nothing was paid.
    await chain.rpc("evm_setIntervalMining", network("TRX").blockSeconds);
    await until(
      () => shop.invoice(invoice.id),
      ({ payments }) => payments.length > 0,
      SEEN_WITHIN_MS,
    );
    await chain.rpc("evm_setIntervalMining", 0);
    await untilPaid(invoice, receipt);
  });

  it("that are both throttled delay a payment until one of them serves again", async () => {
    const [byToken, byCoin] = [await order("USDT", 10_000), await order("TRX", 300)];
    for (const each of [node, grid]) each.fault = "throttled";
    const receipts = [await pay(byToken, "USDT"), await pay(byCoin, "TRX")] as const;
    await chain.mine();
    await until(
      async () => (await shop.raw("GET", "/healthz")).text,
      (text) => !text.includes('"degradedSince":null'),
      SEEN_WITHIN_MS,
    );
    expect(await shop.invoice(byToken.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    for (const each of [node, grid]) each.fault = null;
    await untilPaid(byToken, receipts[0]);
    await untilPaid(byCoin, receipts[1]);
  });

  it("that are throttled one after the other lose no payment: one source confirms what the other has found", async () => {
    const invoices = [
      ["USDT", await order("USDT", 20_000)],
      ["TRX", await order("TRX", 700)],
    ] as const;
    const receipts: Receipt[] = [];
    // Only the node can find the payments now.
    grid.fault = "throttled";
    node.asked.length = 0;
    await until(
      async () => node.asked,
      (paths) => paths.includes("eth_getLogs"),
      SEEN_WITHIN_MS,
    );
    for (const [code, invoice] of invoices) {
      receipts.push(await pay(invoice, code));
      await untilInvoice(shop, invoice.id, isSeen);
    }
    // The key is suspended for 30 s, so the node is not asked again in this file.
    node.fault = "suspended";
    grid.fault = null;
    await chain.mine();
    for (const [place, [, invoice]] of invoices.entries())
      await untilPaid(invoice, ...receipts.slice(place, place + 1));

    const late = [await order("USDT", 40_000), await order("TRX", 1_200)] as const;
    const [token, coin] = [await pay(late[0], "USDT"), await pay(late[1], "TRX")];
    await chain.mine();
    await untilPaid(late[0], token);
    await untilPaid(late[1], coin);
    expect(grid.asked.filter((path) => path.startsWith("/v1/accounts/"))).not.toEqual([]);
  });
});
