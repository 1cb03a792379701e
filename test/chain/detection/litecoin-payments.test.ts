// From a customer's transaction on a real Litecoin node to the invoice as the merchant reads it: where Litecoin differs from Bitcoin.
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
  pathOf,
  type Shop,
  shownTo,
  spendInstead,
  startShop,
  untilInvoice,
  untilStatus,
} from "./harness.ts";

const LTC = coinOf({ network: "LTC_REGTEST" });
const PAID_PATH = ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"];
/** The block in which MWEB is activated on a regtest chain. */
const MWEB_HEIGHT = 431;

let node: CoreNode;
let shop: Shop;

const order = () => shop.createInvoice({ rawAmount: 80, paymentMethods: [LTC] });
const due = (invoice: Invoice) => shownTo(invoice, LTC);
const statusesIn = ({ payments }: Invoice) =>
  Object.fromEntries(payments.map(({ txHash, status }) => [txHash, status]));

describeOn("litecoin", () => {
  beforeAll(async () => {
    node = await startCoreNode("litecoin");
    shop = await startShop({
      sources: { LTC_REGTEST: [{ kind: "core-rpc", url: node.url }] },
      pollSeconds: POLL_SECONDS,
    });
    await shop.registerWallet(accountOn(node));
  });
  afterAll(async () => {
    await shop?.stop();
    await node?.stop();
  });

  it("an invoice is pending while its payment has no confirmation, and paid at the first one", async () => {
    const invoice = await order();
    const { address, amount } = due(invoice);
    expect({ address, amount }).toEqual({ address: expect.stringMatching(/^rltc1q/), amount: "1" });
    const txid = await node.pay({ [address]: amount });
    const seen = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    expect(seen.payments).toMatchObject([{ txHash: txid, status: "DETECTED", confirmations: 0, blockHeight: null }]);
    await node.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(pathOf(paid)).toEqual(PAID_PATH);
    expect(paid.payments).toMatchObject([
      { txHash: txid, status: "CONFIRMED", matchedBy: "ADDRESS", amount: "1", currency: "LTC", confirmations: 1 },
    ]);
  });

  it("an invoice is paid by the replacement of its payment, and the replaced payment is dropped", async () => {
    const invoice = await order();
    const first = await node.pay({ [due(invoice).address]: "1" });
    await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    const second = await node.replace(first);
    await untilInvoice(shop, invoice.id, ({ payments }) => payments.some(({ status }) => status === "DROPPED"));
    await node.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(statusesIn(paid)).toEqual({ [first]: "DROPPED", [second]: "CONFIRMED" });
    expect(paid).toMatchObject({ amountReceived: "80.000000", amountConfirmed: "80.000000" });
  });

  it("an invoice awaits payment again when a replacement sends its payment elsewhere", async () => {
    const invoice = await order();
    const first = await node.pay({ [due(invoice).address]: "1" });
    await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    await spendInstead(node, first, {});
    const back = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
    expect(back).toMatchObject({ amountReceived: "0.000000", payments: [{ txHash: first, status: "DROPPED" }] });
    await mineAndRead(shop, node);
    expect(await shop.invoice(invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "0.000000" });
  });

  it("an invoice is pending again when its block is undone, and is paid by the same payment when it is mined again", async () => {
    const invoice = await order();
    const txid = await node.pay({ [due(invoice).address]: "1" });
    await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    await node.mine();
    const [{ id = "" } = {}] = (await untilStatus(shop, invoice.id, "PAID")).payments;
    await node.undo(1);
    await mineEmpty(node, 2);
    await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    await node.mine();
    const again = await untilStatus(shop, invoice.id, "PAID");
    expect(again.payments).toMatchObject([{ id, txHash: txid, status: "CONFIRMED" }]);
    expect(pathOf(again)).toEqual([...PAID_PATH, "PENDING_CONFIRMATION", "PAID"]);
  });

  describe("paid out of MWEB", () => {
    beforeAll(async () => {
      const height = await node.rpc<number>("getblockcount");
      await node.mine(Math.max(0, MWEB_HEIGHT - height));
      for (let coin = 0; coin < 3; coin++) {
        await node.pay({ [await node.wallet("mweb")<string>("getnewaddress", "", "mweb")]: "3" });
      }
      await node.mine(2);
    });
    /** A customer with coins in MWEB pays the invoice; the payment is not visible before it is mined. */
    const pegOut = (invoice: Invoice) => node.wallet("mweb")<string>("sendtoaddress", due(invoice).address, "1");

    it("an invoice is paid once, from the block that has the payment", async () => {
      const invoice = await order();
      const hidden = await pegOut(invoice);
      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(pathOf(paid)).toEqual(PAID_PATH);
      await mineAndRead(shop, node);
      await mineAndRead(shop, node);
      const later = await shop.invoice(invoice.id);
      expect(later).toMatchObject({ status: "PAID", amountReceived: "80.000000", amountConfirmed: "80.000000" });
      expect(later.payments).toMatchObject([{ status: "CONFIRMED", amount: "1", confirmations: 3 }]);
      expect(later.payments[0]?.txHash).not.toBe(hidden);
    });

    it("an invoice is paid once when a reorg moves the payment to another transaction in another block", async () => {
      const invoice = await order();
      await pegOut(invoice);
      await node.mine();
      const first = (await untilStatus(shop, invoice.id, "PAID")).payments[0]?.txHash ?? "";
      await node.undo(1);
      // All payments out of MWEB in a block are one transaction, so that another customer's payment changes its id.
      await node.wallet("mweb")("sendtoaddress", await node.wallet()("getnewaddress"), "0.5");
      await node.mine(2);
      const again = await untilInvoice(shop, invoice.id, ({ payments }) =>
        payments.some(({ txHash, status }) => txHash !== first && status === "CONFIRMED"),
      );
      expect(again).toMatchObject({ status: "PAID", amountReceived: "80.000000", amountConfirmed: "80.000000" });
      expect(Object.values(statusesIn(again)).sort()).toEqual(["CONFIRMED", "REORGED"]);
      await expectAsOnChain({ shop, node, pair: LTC, from: MWEB_HEIGHT }, [invoice.id]);
      const events = await eventsOf(shop, invoice.id);
      expect(events.slice(0, 5)).toEqual([
        "payment.detected",
        "payment.confirmed",
        "invoice.pending_confirmation",
        "invoice.paid",
        "payment.paid",
      ]);
      expect(events.slice(5)).toEqual(
        expect.arrayContaining(["payment.reorged", "payment.detected", "payment.confirmed"]),
      );
      expect(statusesIn(again)).toMatchObject({ [first]: "REORGED" });
    });
  });
});
