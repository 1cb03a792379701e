// Invoices whose only source is a failing Esplora. Whatever it answers, no payment may be lost or credited twice, and /healthz must show the outage
// for as long as it lasts. The stand-in answers from a real Bitcoin node.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type CoreNode, startCoreNode } from "../../support/core-node.ts";
import { describeOn } from "../../support/describe-on.ts";
import { type EsploraFault, type EsploraStandIn, startEsplora } from "../../support/esplora-stand-in.ts";
import {
  accountOn,
  coinOf,
  type Invoice,
  mineAndRead,
  mineEmpty,
  POLL_SECONDS,
  pathOf,
  SEEN_WITHIN_MS,
  type Shop,
  shownTo,
  startShop,
  until,
  untilHealth,
  untilInvoice,
  untilRead,
  untilStatus,
} from "./harness.ts";

const BTC = coinOf({ network: "BTC_REGTEST" });
const PAID_PATH = ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"];

let node: CoreNode;
let esplora: EsploraStandIn;
let shop: Shop;

const order = () => shop.createInvoice({ rawAmount: 68, paymentMethods: [BTC] });
const due = (invoice: Invoice) => shownTo(invoice, BTC);
const isDown = ({ degradedSince }: { readonly degradedSince: string | null }) => degradedSince !== null;
const isUp = ({ degradedSince }: { readonly degradedSince: string | null }) => degradedSince === null;

function heal(): void {
  Object.assign(esplora, { fault: null, failsAt: () => true, behind: 0 });
}

/** Waits until the source has received this many further requests. */
async function untilAsked(times: number): Promise<void> {
  const before = esplora.asked.length;
  await until(
    async () => esplora.asked.length - before,
    (asked) => asked >= times,
    SEEN_WITHIN_MS,
  );
}

/** Expects the invoice to be paid by this payment only, and to stay paid as the chain grows. */
async function expectPaidOnce(id: string, txHash: string): Promise<void> {
  await untilInvoice(shop, id, ({ status }) => status === "PAID");
  await mineAndRead(shop, node);
  const paid = await shop.invoice(id);
  expect(paid).toMatchObject({ status: "PAID", amountReceived: "68.000000", amountConfirmed: "68.000000" });
  expect(paid.payments).toMatchObject([{ txHash, status: "CONFIRMED", amount: "0.001" }]);
  expect(pathOf(paid)).toEqual(PAID_PATH);
  expect(await shop.payments(`txHash=${txHash}`)).toHaveLength(1);
}

describeOn("bitcoin", () => {
  beforeAll(async () => {
    node = await startCoreNode("bitcoin");
    esplora = await startEsplora(node);
    shop = await startShop({
      sources: { BTC_REGTEST: [{ kind: "esplora", url: esplora.url }] },
      pollSeconds: POLL_SECONDS,
    });
    await shop.registerWallet(accountOn(node));
  });
  afterEach(heal);
  afterAll(async () => {
    await shop?.stop();
    await esplora?.close();
    await node?.stop();
  });

  const FAULTS: readonly EsploraFault[] = ["429", "502", "html", "truncated", "hang"];

  describe.each(FAULTS)("behind an Esplora with the fault %s", (fault) => {
    it("a payment mined meanwhile is credited once when the source recovers, and /healthz shows the outage", async () => {
      const invoice = await order();
      await untilRead(shop, node);
      esplora.fault = fault;
      const txid = await node.pay({ [due(invoice).address]: "0.001" });
      await node.mine(2);
      await untilHealth(shop, BTC.network, isDown);
      expect(await shop.invoice(invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
      heal();
      await expectPaidOnce(invoice.id, txid);
      await untilHealth(shop, BTC.network, isUp);
    });
  });

  describe("behind an Esplora that fails for one address only", () => {
    it("payments to other addresses are credited meanwhile, and a payment to that address once the source answers for it", async () => {
      const [invoice, other] = [await order(), await order()];
      await untilRead(shop, node);
      const { address } = due(invoice);
      Object.assign(esplora, { fault: "truncated", failsAt: (path: string) => path.includes(address) });
      const txid = await node.pay({ [address]: "0.001", [due(other).address]: "0.001" });
      await node.mine(3);
      await untilStatus(shop, other.id, "PAID");
      await untilRead(shop, node);
      expect(await untilHealth(shop, BTC.network, isUp)).toMatchObject({ degradedSince: null });
      const waiting = await shop.invoice(invoice.id);
      expect(waiting).toMatchObject({ status: "AWAITING_PAYMENT", payments: [], warnings: ["ADDRESS_NOT_READ"] });
      heal();
      await untilStatus(shop, invoice.id, "PAID");
      const payments = await shop.payments(`txHash=${txid}`);
      expect(payments.map(({ invoiceId }) => invoiceId).sort()).toEqual([invoice.id, other.id].sort());
    });
  });

  describe("behind an Esplora that still shows a removed block's transactions", () => {
    it("a paid invoice awaits payment again when its payment is in no block or mempool, and counts the payment once it is resent", async () => {
      const invoice = await order();
      const txid = await node.pay({ [due(invoice).address]: "0.001" });
      const { hex } = await node.wallet()<{ hex: string }>("gettransaction", txid);
      await node.mine();
      await untilStatus(shop, invoice.id, "PAID");
      await node.undoAndEvict(1);
      await mineEmpty(node, 2);
      const gone = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
      expect(gone).toMatchObject({ amountReceived: "0.000000", payments: [{ txHash: txid, status: "REORGED" }] });
      await node.rpc("sendrawtransaction", hex);
      await node.mine();
      const paid = await untilStatus(shop, invoice.id, "PAID");
      expect(paid).toMatchObject({ amountConfirmed: "68.000000", payments: [{ txHash: txid, status: "CONFIRMED" }] });
    });
  });

  describe("behind an Esplora whose tip lags", () => {
    it("a payment in a block that the source does not have is credited once when the source catches up", async () => {
      const invoice = await order();
      await untilRead(shop, node);
      esplora.behind = 2;
      const txid = await node.pay({ [due(invoice).address]: "0.001" });
      await node.mine();
      await untilAsked(4);
      expect((await shop.invoice(invoice.id)).amountConfirmed).toBe("0.000000");
      esplora.behind = 0;
      await expectPaidOnce(invoice.id, txid);
    });

    it("a paid invoice stays paid when the source falls behind the payment's block", async () => {
      const invoice = await order();
      const txid = await node.pay({ [due(invoice).address]: "0.001" });
      await untilInvoice(shop, invoice.id, ({ status }) => status === "PENDING_CONFIRMATION");
      await node.mine();
      await untilStatus(shop, invoice.id, "PAID");
      esplora.behind = 3;
      await untilAsked(6);
      expect(await shop.invoice(invoice.id)).toMatchObject({ status: "PAID", amountConfirmed: "68.000000" });
      esplora.behind = 0;
      await expectPaidOnce(invoice.id, txid);
    });
  });
});
