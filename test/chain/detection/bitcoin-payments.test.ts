// From a customer's transaction on a real Bitcoin node to the invoice as the merchant reads it: everything that a mempool and a chain can do to a
// payment, and what happens to the invoice each time. The node serves as two sources, so that each is asked for what the other lacks.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CoreNode, startCoreNode } from "../../support/core-node.ts";
import { describeOn } from "../../support/describe-on.ts";
import {
  accountOn,
  type Invoice,
  mineAndRead,
  mineEmpty,
  POLL_SECONDS,
  pathOf,
  type Relay,
  type Shop,
  shownTo,
  spendInstead,
  startRelay,
  startShop,
  untilHealth,
  untilInvoice,
  untilPayments,
  untilRead,
  untilStatus,
} from "./harness.ts";

const BTC = { cryptocurrency: "BTC", network: "BTC_REGTEST" };
const PAID_PATH = ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"];

let node: CoreNode;
let relay: Relay;
let shop: Shop;

const order = (fields: Readonly<Record<string, unknown>> = {}) =>
  shop.createInvoice({ paymentMethods: [BTC], ...fields });
const due = (invoice: Invoice) => shownTo(invoice, BTC);
const hasPayments = (count: number) => (invoice: Invoice) => invoice.payments.length === count;

/** The status of each payment, by transaction. */
const statusesIn = ({ payments }: Invoice) =>
  Object.fromEntries(payments.map(({ txHash, status }) => [txHash, status]));

/** Sends exactly what the invoice asks for; returns the transaction, which is in the mempool. */
function pay(invoice: Invoice): Promise<string> {
  const { address, amount } = due(invoice);
  return node.pay({ [address]: amount });
}

/** An invoice with a payment in the mempool. */
async function pending(fields = {}): Promise<{ readonly invoice: Invoice; readonly txid: string }> {
  const created = await order(fields);
  const txid = await pay(created);
  return { invoice: await untilStatus(shop, created.id, "PENDING_CONFIRMATION"), txid };
}

describeOn("bitcoin", () => {
  beforeAll(async () => {
    // The node has one request thread, so that the shop never sees the mempool between undoing a block and emptying the mempool.
    node = await startCoreNode("bitcoin", { args: ["-rpcthreads=1"] });
    relay = await startRelay(node);
    shop = await startShop({
      sources: {
        BTC_REGTEST: [
          { kind: "core-rpc", url: relay.url },
          { kind: "core-rpc", url: node.url },
        ],
      },
      pollSeconds: POLL_SECONDS,
    });
  });
  afterAll(async () => {
    await shop?.stop();
    await relay?.close();
    await node?.stop();
  });

  describe("an invoice that shares its address with others", () => {
    let address: string;
    let walletId: string;
    beforeAll(async () => {
      address = await node.wallet("shop")<string>("getnewaddress");
      walletId = (await shop.registerWallet({ walletType: "DIRECT_WALLET", ...BTC, address })).id;
    });
    afterAll(async () => {
      await shop.call("DELETE", `/wallets/${walletId}`);
    });

    it("is matched by its own amount, even if another invoice's differs by only one satoshi", async () => {
      const [one, other] = [await order({ rawAmount: 68 }), await order({ rawAmount: 68 })];
      expect([due(one), due(other)]).toMatchObject([
        { address, amount: "0.001" },
        { address, amount: "0.00099999" },
      ]);
      const txid = await pay(other);
      await node.mine();
      const paid = await untilStatus(shop, other.id, "PAID");
      expect(paid).toMatchObject({ amountConfirmed: "68.000000", needsReview: false });
      expect(paid.payments).toMatchObject([{ txHash: txid, matchedBy: "EXACT_AMOUNT", amount: "0.00099999" }]);
      expect(await shop.invoice(one.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
      await pay(one);
      await node.mine();
      expect((await untilStatus(shop, one.id, "PAID")).payments).toMatchObject([{ matchedBy: "EXACT_AMOUNT" }]);
    });

    it("is not credited with a payment that may be for another invoice too, until a user assigns it", async () => {
      const [one, other] = [await order({ rawAmount: 136 }), await order({ rawAmount: 136.68 })];
      expect([due(one).amount, due(other).amount]).toEqual(["0.002", "0.00201"]);
      const txid = await node.pay({ [address]: "0.002005" });
      await node.mine();
      const [{ id = "" } = {}] = await untilPayments(shop, txid, ({ blockHeight }) => blockHeight !== null);
      const unmatched = await shop.payment(id);
      expect(unmatched).toMatchObject({ status: "UNMATCHED", invoiceId: null, matchedBy: null, amount: "0.002005" });
      expect(unmatched.evidence).toMatchObject({
        candidates: expect.arrayContaining([
          expect.objectContaining({ invoiceId: one.id, reason: "AMBIGUOUS" }),
          expect.objectContaining({ invoiceId: other.id, reason: "AMBIGUOUS" }),
        ]),
      });
      for (const { id: unpaid } of [one, other]) {
        expect(await shop.invoice(unpaid)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
      }

      await shop.resolvePayment(id, { action: "ASSIGN", invoiceId: other.id, reason: "the customer told us" });
      const paid = await untilStatus(shop, other.id, "PAID");
      expect(paid.payments).toMatchObject([{ id, txHash: txid, status: "CONFIRMED", matchedBy: "MANUAL" }]);
      await mineAndRead(shop, node);
      expect(await shop.payments(`txHash=${txid}`)).toMatchObject([{ id, invoiceId: other.id }]);
      await pay(one);
      await node.mine();
      await untilStatus(shop, one.id, "PAID");
    });
  });

  describe("an invoice with its own address", () => {
    let walletId: string;
    beforeAll(async () => {
      walletId = (await shop.registerWallet(accountOn(node))).id;
    });

    it("is pending while its payment has no confirmation, and paid at the first one", async () => {
      const invoice = await order({ rawAmount: 49.9 });
      expect(due(invoice).address).toMatch(/^bcrt1q/);
      const txid = await pay(invoice);
      const seen = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
      expect(seen).toMatchObject({ amountReceived: "49.900000", amountConfirmed: "0.000000" });
      expect(seen.payments).toMatchObject([
        { txHash: txid, status: "DETECTED", confirmations: 0, requiredConfirmations: 1, blockHeight: null },
      ]);

      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(pathOf(paid)).toEqual(PAID_PATH);
      expect(paid).toMatchObject({ amountReceived: "49.900000", amountConfirmed: "49.900000", isLate: false });
      expect(paid.payments).toMatchObject([
        {
          txHash: txid,
          status: "CONFIRMED",
          matchedBy: "ADDRESS",
          amount: due(invoice).amount,
          currency: "BTC",
          network: "BTC_REGTEST",
          chainId: null,
          confirmations: 1,
          blockHeight: await node.rpc("getblockcount"),
        },
      ]);
      expect(await shop.payments(`invoiceId=${invoice.id}`)).toEqual(paid.payments);
    });

    it("waits for the second confirmation when its wallet requires two", async () => {
      await shop.call("PATCH", `/wallets/${walletId}`, { requiredConfirmations: 2 });
      const { invoice } = await pending();
      await shop.call("PATCH", `/wallets/${walletId}`, { requiredConfirmations: 1 });
      await mineAndRead(shop, node);
      const once = await shop.invoice(invoice.id);
      expect(once).toMatchObject({ status: "PENDING_CONFIRMATION", amountConfirmed: "0.000000" });
      expect(once.payments).toMatchObject([{ status: "DETECTED", confirmations: 1, requiredConfirmations: 2 }]);
      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(pathOf(paid)).toEqual(PAID_PATH);
      expect(paid.payments).toMatchObject([{ status: "CONFIRMED", confirmations: 2 }]);
    });

    it("is paid by the replacement at a higher fee, and the replaced payment is dropped", async () => {
      const { invoice, txid } = await pending();
      const second = await node.replace(txid);
      const seen = await untilInvoice(shop, invoice.id, ({ payments }) =>
        payments.some(({ txHash, status }) => txHash === txid && status === "DROPPED"),
      );
      expect(seen).toMatchObject({ status: "PENDING_CONFIRMATION", amountReceived: "10.000000" });
      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid).toMatchObject({ amountReceived: "10.000000", amountConfirmed: "10.000000" });
      expect(statusesIn(paid)).toEqual({ [txid]: "DROPPED", [second]: "CONFIRMED" });
    });

    it("asks for the rest when the replacement pays less", async () => {
      const { invoice, txid } = await pending({ rawAmount: 68 });
      const { address } = due(invoice);
      const second = await spendInstead(node, txid, { [address]: "0.0006" });
      const back = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
      expect(pathOf(back)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "AWAITING_PAYMENT"]);
      const credited = await untilInvoice(shop, invoice.id, hasPayments(2));
      expect(credited).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "40.800000" });
      expect(statusesIn(credited)).toEqual({ [txid]: "DROPPED", [second]: "DETECTED" });

      expect(due(credited).amountDue).toBe("0.0004");
      await node.pay({ [address]: "0.0004" });
      await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
      await node.mine();
      expect(await untilStatus(shop, invoice.id, "PAID")).toMatchObject({ amountConfirmed: "68.000000" });
    });

    it("awaits payment again when its payment is double-spent, even after the double spend is mined, and is then paid by a new payment", async () => {
      const { invoice, txid } = await pending();
      await spendInstead(node, txid, {});
      const back = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
      expect(back).toMatchObject({ amountReceived: "0.000000", payments: [{ txHash: txid, status: "DROPPED" }] });
      await mineAndRead(shop, node);
      expect((await shop.invoice(invoice.id)).payments).toMatchObject([{ txHash: txid, status: "DROPPED" }]);

      await pay(invoice);
      await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid.amountConfirmed).toBe("10.000000");
      expect(pathOf(paid)).toEqual(["AWAITING_PAYMENT", "PENDING_CONFIRMATION", ...PAID_PATH]);
    });

    it("stays pending when the mempool forgets its payment, and is paid when the payment is resent and mined", async () => {
      const { invoice, txid } = await pending();
      const { hex } = await node.wallet()<{ hex: string }>("gettransaction", txid);
      await node.evict();
      expect(await node.rpc("getrawmempool")).not.toContain(txid);
      // Waits for at least one full pass after the payment is gone.
      await mineAndRead(shop, node);
      await mineAndRead(shop, node);
      expect(await shop.invoice(invoice.id)).toMatchObject({
        status: "PENDING_CONFIRMATION",
        payments: [{ txHash: txid, status: "DETECTED", blockHeight: null }],
      });
      await node.rpc("sendrawtransaction", hex);
      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid.payments).toMatchObject([{ txHash: txid, status: "CONFIRMED" }]);
      expect(pathOf(paid)).toEqual(PAID_PATH);
    });

    it("is pending again when its block is undone, and is paid by the same payment when it is mined again", async () => {
      const { invoice, txid } = await pending();
      await node.mine();
      const [{ id = "", blockHeight = 0 } = {}] = (await untilStatus(shop, invoice.id, "PAID")).payments;
      await node.undo(1);
      await mineEmpty(node, 2);
      const back = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
      expect(back).toMatchObject({ amountReceived: "10.000000", amountConfirmed: "0.000000" });
      expect(back.payments).toMatchObject([
        { id, txHash: txid, status: "DETECTED", confirmations: 0, blockHeight: null, confirmedTxAt: null },
      ]);

      await node.mine();
      const again = await untilStatus(shop, invoice.id, "PAID");
      expect(again).toMatchObject({ amountConfirmed: "10.000000", needsReview: false });
      expect(again.payments).toMatchObject([
        { id, txHash: txid, status: "CONFIRMED", blockHeight: (blockHeight ?? 0) + 2 },
      ]);
      expect(pathOf(again)).toEqual([...PAID_PATH, "PENDING_CONFIRMATION", "PAID"]);
      expect(await shop.payments(`txHash=${txid}`)).toHaveLength(1);
    });

    it("awaits payment again when its undone payment is in no mempool, and is paid once that payment is resent and mined", async () => {
      const { invoice, txid } = await pending();
      const { hex } = await node.wallet()<{ hex: string }>("gettransaction", txid);
      await node.mine();
      const [{ id = "" } = {}] = (await untilStatus(shop, invoice.id, "PAID")).payments;
      await node.undoAndEvict(1);
      await node.mine(2);
      const back = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
      expect(back).toMatchObject({ amountReceived: "0.000000", amountConfirmed: "0.000000" });
      expect(back.payments).toMatchObject([{ id, status: "REORGED", confirmations: 0, blockHeight: null }]);
      await node.rpc("sendrawtransaction", hex);
      await node.mine();
      const again = await untilStatus(shop, invoice.id, "PAID");
      expect(again.payments).toMatchObject([{ id, txHash: txid, status: "CONFIRMED" }]);
      expect(again).toMatchObject({ amountReceived: "10.000000", amountConfirmed: "10.000000" });
    });

    it("awaits payment again when its block is undone and the payment is double-spent", async () => {
      const { invoice, txid } = await pending();
      await node.mine();
      await untilStatus(shop, invoice.id, "PAID");
      await node.undo(1);
      await spendInstead(node, txid, {});
      await node.mine(2);
      const back = await untilInvoice(shop, invoice.id, ({ payments: [payment] }) => payment?.status === "DROPPED");
      expect(back).toMatchObject({ amountReceived: "0.000000", amountConfirmed: "0.000000" });
      expect(back.payments).toMatchObject([{ txHash: txid, confirmations: 0, blockHeight: null }]);
    });

    it("is paid by two payments, each stored as a row of its own", async () => {
      const invoice = await order({ rawAmount: 68 });
      const { address, amount } = due(invoice);
      expect(amount).toBe("0.001");
      await node.pay({ [address]: "0.0004" });
      const part = await untilInvoice(shop, invoice.id, hasPayments(1));
      expect(part).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "27.200000" });
      expect(due(part).amountDue).toBe("0.0006");
      await node.pay({ [address]: "0.0006" });
      await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid).toMatchObject({ amountReceived: "68.000000", amountConfirmed: "68.000000" });
      expect(paid.payments.map(({ amount: each, status }) => [each, status]).sort()).toEqual([
        ["0.0004", "CONFIRMED"],
        ["0.0006", "CONFIRMED"],
      ]);
    });

    it("is credited with its own output when one transaction pays three invoices", async () => {
      const invoices = [await order({ rawAmount: 11 }), await order({ rawAmount: 12 }), await order({ rawAmount: 13 })];
      const txid = await node.pay(
        Object.fromEntries(invoices.map(due).map(({ address, amount }) => [address, amount])),
      );
      await node.mine();
      for (const invoice of invoices) {
        const { address, amount } = due(invoice);
        const paid = await untilStatus(shop, invoice.id, "PAID");
        expect(paid.payments).toMatchObject([{ txHash: txid, toAddress: address, amount }]);
        expect(paid.amountConfirmed).toBe(paid.rawAmount);
      }
      const outputs = (await untilPayments(shop, txid)).map(({ outputIndex }) => outputIndex);
      expect(new Set(outputs).size).toBe(3);
      expect(outputs).toHaveLength(3);
    });

    it("stays cancelled when it is paid later, and needs review", async () => {
      const invoice = await order();
      await shop.cancelInvoice(invoice.id);
      const txid = await pay(invoice);
      await node.mine();
      await untilPayments(shop, txid, ({ status }) => status === "CONFIRMED");
      const late = await shop.invoice(invoice.id);
      expect(late).toMatchObject({ status: "CANCELLED", isLate: true, needsReview: true });
      expect(late.payments).toMatchObject([{ txHash: txid, isLate: true, status: "CONFIRMED" }]);
      expect(pathOf(late)).toEqual(["AWAITING_PAYMENT", "CANCELLED"]);
    });

    it("counts a payment that was seen before expiry, although its block's time is later", async () => {
      const invoice = await order({ expiresInSeconds: 600 });
      const { address, amount } = due(invoice);
      const payer = node.wallet();
      const raw = await node.rpc<string>("createrawtransaction", [], { [address]: amount });
      const funded = await payer<{ hex: string }>("fundrawtransaction", raw);
      const { hex } = await payer<{ hex: string }>("signrawtransactionwithwallet", funded.hex);
      await node.rpc("setmocktime", Math.floor(Date.parse(invoice.expiresAt) / 1000) + 60);
      await node.rpc("generateblock", await payer<string>("getnewaddress"), [hex]);
      await node.rpc("setmocktime", 0);
      await untilRead(shop, node);
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid).toMatchObject({ isLate: false, needsReview: false });
      expect(paid.payments).toMatchObject([{ status: "CONFIRMED", isLate: false }]);
    });

    it("is paid through the second source when the first is unreachable, and /healthz shows no outage", async () => {
      await relay.close();
      const { invoice, txid } = await pending();
      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid.payments).toMatchObject([{ txHash: txid, status: "CONFIRMED" }]);
      expect(await untilHealth(shop, BTC.network, () => true)).toMatchObject({ degradedSince: null });
      expect(readFileSync(shop.logFile, "utf8")).toContain("BTC_REGTEST source 1 (core-rpc) failed: UNREACHABLE");
    });
  });
});
