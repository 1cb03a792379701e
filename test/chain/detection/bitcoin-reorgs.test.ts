// Payments on a real Bitcoin node that are replaced, that depend on an unconfirmed one, or that are coinbases, and what a reorganisation does to
// each. In the end the shop must credit exactly the chain's outputs.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CoreNode, startCoreNode } from "../../support/core-node.ts";
import { describeOn } from "../../support/describe-on.ts";
import { eventsOf, expectAsOnChain } from "./bitcoin-ledger.ts";
import {
  accountOn,
  coinOf,
  type Invoice,
  mineAndRead,
  mineEmpty,
  POLL_SECONDS,
  type Shop,
  shownTo,
  spendInstead,
  startShop,
  untilInvoice,
  untilRead,
  untilStatus,
} from "./harness.ts";

const BTC = coinOf({ network: "BTC_REGTEST" });
/** The number of blocks before consensus allows a coinbase to be spent. */
const MATURITY = 100;
/** The value of a block's coinbase from this height on, after two halvings, at 68,000 dollars per coin. */
const SUBSIDY = { height: 300, coins: "12.5", amount: 850_000 };

let node: CoreNode;
let shop: Shop;
let from: number;

const order = (rawAmount = 68) => shop.createInvoice({ rawAmount, paymentMethods: [BTC] });
const due = (invoice: Invoice) => shownTo(invoice, BTC);
const pay = (invoice: Invoice) => node.pay({ [due(invoice).address]: due(invoice).amount });
const statusOf = ({ payments }: Invoice, txid: string) => payments.find(({ txHash }) => txHash === txid)?.status;
const untilPayment = (invoice: Invoice, txid: string, status: string) =>
  untilInvoice(shop, invoice.id, (now) => statusOf(now, txid) === status);
const asOnChain = (...invoices: readonly Invoice[]) =>
  expectAsOnChain(
    { shop, node, pair: BTC, from },
    invoices.map(({ id }) => id),
  );

/** Mines a block with these transactions and no others. */
async function mineOnly(hexes: readonly string[]): Promise<void> {
  await node.rpc("generateblock", await node.wallet()<string>("getnewaddress"), hexes);
}

/** Spends the change of an unconfirmed payment to these outputs, at a fee that covers both transactions. */
async function spendChangeOf(txid: string, paid: Readonly<Record<string, string>>, notTo: string): Promise<string> {
  const payer = node.wallet();
  const { vout } = await node.rpc<{
    vout: { n: number; value: number; scriptPubKey: { address: string } }[];
  }>("getrawtransaction", txid, true);
  const change = vout.find(({ scriptPubKey }) => scriptPubKey.address !== notTo);
  if (change === undefined) throw new Error(`${txid} has no change`);
  const spent = Object.values(paid).reduce((sum, coins) => sum + Number(coins), 0);
  const back = { [await payer<string>("getnewaddress")]: (change.value - spent - 0.0002).toFixed(8) };
  const inputs = [{ txid, vout: change.n, sequence: 0xfffffffd }];
  const raw = await node.rpc<string>("createrawtransaction", inputs, { ...paid, ...back });
  const { hex } = await payer<{ hex: string }>("signrawtransactionwithwallet", raw);
  return node.rpc<string>("sendrawtransaction", hex, 0);
}

describeOn("bitcoin", () => {
  beforeAll(async () => {
    node = await startCoreNode("bitcoin", { args: ["-rpcthreads=1"] });
    const height = await node.rpc<number>("getblockcount");
    await node.mine(SUBSIDY.height - height);
    from = SUBSIDY.height + 1;
    shop = await startShop({
      sources: { BTC_REGTEST: [{ kind: "core-rpc", url: node.url }] },
      pollSeconds: POLL_SECONDS,
    });
    await shop.registerWallet(accountOn(node));
  });
  afterAll(async () => {
    await shop?.stop();
    await node?.stop();
  });

  describe("a coinbase to an invoice's address", () => {
    const mined = async (invoice: Invoice) => {
      const [hash = ""] = await node.rpc<string[]>("generatetoaddress", 1, due(invoice).address);
      const { tx } = await node.rpc<{ tx: string[] }>("getblock", hash);
      return tx[0] ?? "";
    };

    it("is no longer a payment when its block is undone", async () => {
      const invoice = await order(SUBSIDY.amount);
      expect(due(invoice).amount).toBe(SUBSIDY.coins);
      const txid = await mined(invoice);
      const seen = await untilInvoice(shop, invoice.id, ({ payments }) => payments.length > 0);
      expect(seen).toMatchObject({ status: "PENDING_CONFIRMATION", amountConfirmed: "0.000000" });
      expect(seen.payments).toMatchObject([{ txHash: txid, status: "DETECTED", matchedBy: "ADDRESS" }]);
      await node.undo(1);
      await mineEmpty(node, 2);
      const gone = await untilPayment(invoice, txid, "REORGED");
      expect(gone).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "0.000000" });
      await asOnChain(invoice);
      expect(await eventsOf(shop, invoice.id)).toEqual([
        "payment.detected",
        "invoice.pending_confirmation",
        "payment.reorged",
        "invoice.updated",
      ]);
    });

    it(`is confirmed once it can be spent, with ${MATURITY} confirmations, whatever the wallet requires`, async () => {
      const invoice = await order(SUBSIDY.amount);
      const txid = await mined(invoice);
      await mineEmpty(node, MATURITY - 2);
      await untilRead(shop, node);
      const immature = await shop.invoice(invoice.id);
      expect(immature).toMatchObject({ status: "PENDING_CONFIRMATION", amountConfirmed: "0.000000" });
      expect(immature.payments).toMatchObject([
        { txHash: txid, status: "DETECTED", confirmations: MATURITY - 1, requiredConfirmations: MATURITY },
      ]);
      await mineEmpty(node);
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid.payments).toMatchObject([{ status: "CONFIRMED", confirmations: MATURITY }]);
      await asOnChain(invoice);
    });
  });

  describe("a payment replaced by another transaction", () => {
    it("does not pay its invoice, until a reorg mines it instead of the replacement", async () => {
      const [one, other] = [await order(), await order()];
      const first = await pay(one);
      await untilPayment(one, first, "DETECTED");
      const hex = await node.rpc<string>("getrawtransaction", first);
      const second = await spendInstead(node, first, { [due(other).address]: due(other).amount });
      await untilPayment(one, first, "DROPPED");
      await untilPayment(other, second, "DETECTED");
      await node.mine();
      await untilStatus(shop, other.id, "PAID");
      expect(await shop.invoice(one.id)).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "0.000000" });
      await asOnChain(one, other);

      await node.undo(1);
      await mineOnly([hex]);
      await mineEmpty(node);
      await untilStatus(shop, one.id, "PAID");
      const unpaid = await untilStatus(shop, other.id, "AWAITING_PAYMENT");
      expect(unpaid).toMatchObject({ amountReceived: "0.000000", amountConfirmed: "0.000000" });
      await asOnChain(one, other);
      expect(await eventsOf(shop, one.id)).toEqual([
        "payment.detected",
        "invoice.pending_confirmation",
        "payment.dropped",
        "invoice.updated",
        "payment.detected",
        "payment.confirmed",
        "invoice.pending_confirmation",
        "invoice.paid",
        "payment.paid",
      ]);
    });

    it("counts only if the winning branch contains it, and the same is true of its replacement", async () => {
      const [one, other] = [await order(), await order()];
      const first = await pay(one);
      await untilPayment(one, first, "DETECTED");
      const [own = ""] = await node.mine();
      await untilStatus(shop, one.id, "PAID");
      await node.undo(1);
      const rival = await spendInstead(node, first, { [due(other).address]: due(other).amount });
      const [rivals = ""] = await node.mine(2);
      await untilStatus(shop, other.id, "PAID");
      const spent = await untilPayment(one, first, "DROPPED");
      expect(spent).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "0.000000" });
      await asOnChain(one, other);

      await node.rpc("invalidateblock", rivals);
      await node.rpc("reconsiderblock", own);
      await mineEmpty(node, 2);
      await untilStatus(shop, one.id, "PAID");
      const lost = await untilStatus(shop, other.id, "AWAITING_PAYMENT");
      expect(statusOf(lost, rival)).not.toBe("CONFIRMED");
      await asOnChain(one, other);
    });
  });

  describe("a payment that spends the change of an unconfirmed one", () => {
    /** Two invoices and their payments; the second spends the first's change. */
    async function both() {
      const [one, other] = [await order(), await order()];
      const parent = await pay(one);
      const child = await spendChangeOf(parent, { [due(other).address]: due(other).amount }, due(one).address);
      await untilPayment(one, parent, "DETECTED");
      await untilPayment(other, child, "DETECTED");
      return { one, other, parent, child };
    }

    it("is never confirmed once its parent is replaced, and its invoice is paid by another payment", async () => {
      const { one, other, parent, child } = await both();
      await spendInstead(node, parent, {});
      expect(await node.rpc("getrawmempool")).not.toContain(child);
      await untilPayment(one, parent, "DROPPED");
      await mineAndRead(shop, node);
      await mineAndRead(shop, node);
      const waiting = await shop.invoice(other.id);
      expect(waiting).toMatchObject({ status: "PENDING_CONFIRMATION", amountConfirmed: "0.000000" });
      await node.pay({ [due(other).address]: "0.001" });
      await node.mine();
      const paid = await untilStatus(shop, other.id, "PAID");
      expect(paid).toMatchObject({ amountConfirmed: "68.000000" });
      await asOnChain(one, other);
    });

    /** Like `both`, but with both payments confirmed. */
    async function bothMined() {
      const of = await both();
      await node.mine();
      await untilStatus(shop, of.one.id, "PAID");
      await untilStatus(shop, of.other.id, "PAID");
      return of;
    }

    it("disappears when its block is undone and its parent is double-spent", async () => {
      const { one, other, parent, child } = await bothMined();
      // No pass sees the two payments in the mempool in between.
      await node.undoAndEvict(1);
      await spendInstead(node, parent, {});
      await node.mine(2);
      const [first, second] = [
        await untilPayment(one, parent, "DROPPED"),
        await untilStatus(shop, other.id, "AWAITING_PAYMENT"),
      ];
      expect([first.amountReceived, second.amountReceived]).toEqual(["0.000000", "0.000000"]);
      expect(statusOf(second, child)).toMatch(/^(REORGED|DROPPED)$/);
      await asOnChain(one, other);
    });

    it("stays pending if it was seen in the mempool before its parent was double-spent", async () => {
      const { one, other, parent, child } = await bothMined();
      await node.undo(1);
      await mineEmpty(node, 2);
      await untilPayment(other, child, "DETECTED");
      await spendInstead(node, parent, {});
      await node.mine(2);
      const first = await untilPayment(one, parent, "DROPPED");
      await mineAndRead(shop, node);
      expect(first.amountReceived).toBe("0.000000");
      const waiting = await shop.invoice(other.id);
      expect(waiting).toMatchObject({ status: "PENDING_CONFIRMATION", amountConfirmed: "0.000000" });
    });

    it("no longer counts when it and its parent are undone and in no mempool, and counts once both are mined again", async () => {
      const { one, other, parent, child } = await bothMined();
      const hexes = [
        await node.rpc<string>("getrawtransaction", parent),
        await node.rpc<string>("getrawtransaction", child),
      ];
      await node.undoAndEvict(1);
      await mineEmpty(node, 2);
      await untilStatus(shop, one.id, "AWAITING_PAYMENT");
      const back = await untilStatus(shop, other.id, "AWAITING_PAYMENT");
      // No other transaction has spent the child's input, and its parent is in no block or mempool either.
      expect(statusOf(back, child)).toBe("REORGED");
      await mineOnly(hexes);
      await untilStatus(shop, one.id, "PAID");
      await untilStatus(shop, other.id, "PAID");
      await asOnChain(one, other);
    });
  });
});
