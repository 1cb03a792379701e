// ETH sent by a contract, as a Safe or an ERC-4337 wallet does, from a real chain to the invoice as the merchant reads it. No list of transactions
// shows such a payment, only the balance of the address.
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, type Hex, startAnvil } from "../../support/anvil.ts";
import { dataOf, install, MULTICALL } from "../../support/contracts.ts";
import {
  type Invoice,
  POLL_SECONDS,
  type Shop,
  shownTo,
  startShop,
  unitsOf,
  untilHealth,
  untilInvoice,
  untilPayments,
  untilStatus,
} from "./harness.ts";

const ETHER = { cryptocurrency: "ETH", network: "ETH" };
/** Arbitrary addresses: a test contract's, and the shop's, whose private key is unknown. */
const PAYER: Hex = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TILL: Hex = getAddress(`0x${"abcde4".padEnd(40, "7")}`);

let chain: Anvil;
let shop: Shop;

beforeAll(async () => {
  chain = await startAnvil({ chainId: 1 });
  await install(chain, "Multicall", MULTICALL);
  await install(chain, "Payer", PAYER);
  await chain.rpc("anvil_impersonateAccount", TILL);
  await chain.execute({ to: TILL, value: 10n ** 20n });
  await chain.mine();
  shop = await startShop({ sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] }, pollSeconds: POLL_SECONDS });
  const wallet = { walletType: "DIRECT_WALLET", ...ETHER, address: TILL, requiredConfirmations: 2 };
  await shop.registerWallet(wallet);
});
afterAll(async () => {
  await shop?.stop();
  await chain?.stop();
});

const order = (rawAmount: number) => shop.createInvoice({ rawAmount, paymentMethods: [ETHER] });

const asked = (invoice: Invoice) => unitsOf(shownTo(invoice, ETHER).amount, 18);

const forwarding = (value: bigint) => ({ to: PAYER, value, data: dataOf("forward", TILL) });
const nameOf = (blockNumber: Hex) => `block:${Number(blockNumber)}`;

describe("ETH sent by a contract", () => {
  it("pays an invoice of exactly its amount, and is confirmed like any other payment", async () => {
    const invoice = await order(500);
    const { blockNumber, blockHash } = await chain.execute(forwarding(asked(invoice)));
    const seen = await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    expect(seen).toMatchObject({ amountReceived: "500.000000", amountConfirmed: "0.000000" });
    await chain.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid.payments).toMatchObject([{ txHash: nameOf(blockNumber), matchedBy: "EXACT_AMOUNT" }]);
    const [payment] = await untilPayments(shop, nameOf(blockNumber));
    const { evidence } = await shop.payment(payment?.id ?? "");
    expect(evidence).toMatchObject({ rule: "EXACT_AMOUNT", block: { hash: blockHash } });
    expect(JSON.parse((evidence as { readonly raw: string }).raw)).toMatchObject({ kind: "balance", explained: "0" });
  });

  it("that is less than an invoice's amount stays unmatched, with the invoice as the first candidate", async () => {
    const invoice = await order(40);
    const units = (asked(invoice) * 995n) / 1_000n;
    const { blockNumber } = await chain.execute(forwarding(units));
    const [payment] = await untilPayments(shop, nameOf(blockNumber));
    expect(payment).toMatchObject({ status: "UNMATCHED", invoiceId: null });
    const { evidence } = await shop.payment(payment?.id ?? "");
    // The likeliest invoice is first; paid invoices stay candidates until they end.
    const first = expect.objectContaining({ invoiceId: invoice.id, reason: "AMOUNT_DIFFERS" });
    expect((evidence as { readonly candidates: readonly unknown[] }).candidates[0]).toEqual(first);
    expect(await shop.invoice(invoice.id)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
  });

  it("is distinguished from a plain payment and a sweep in the same block", async () => {
    const [plain, through] = [await order(3_000), await order(9_000)];
    const [direct] = await chain.together([
      { to: TILL, value: asked(plain) },
      { from: TILL, to: chain.accounts[1] ?? "0x", value: 10n ** 18n },
      forwarding(asked(through)),
    ]);
    await chain.mine();
    expect((await untilStatus(shop, plain.id, "PAID")).payments).toMatchObject([
      { txHash: direct?.transactionHash, outputIndex: "native" },
    ]);
    expect((await untilStatus(shop, through.id, "PAID")).payments).toMatchObject([
      { txHash: nameOf(direct?.blockNumber ?? "0x0"), matchedBy: "EXACT_AMOUNT" },
    ]);
  });

  it("is undone with its block, and counts once when it is mined again at that height", async () => {
    const invoice = await order(20_000);
    const { transactionHash, blockNumber } = await chain.execute(forwarding(asked(invoice)));
    await untilStatus(shop, invoice.id, "PENDING_CONFIRMATION");
    const raw = await chain.rawTransaction(transactionHash);
    await chain.reorg(1);
    const taken = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
    expect(taken.payments).toMatchObject([{ status: "REORGED", txHash: nameOf(blockNumber), blockHeight: null }]);
    await chain.reorg(1, [raw]);
    await chain.mine();
    const paid = await untilStatus(shop, invoice.id, "PAID");
    expect(paid).toMatchObject({ amountReceived: "20000.000000", amountConfirmed: "20000.000000" });
    expect(paid.payments).toMatchObject([{ status: "CONFIRMED", txHash: nameOf(blockNumber) }]);
  });

  it("is not credited again when the customer claims the transaction that called the contract", async () => {
    const invoice = await order(60_000);
    const { transactionHash, blockNumber } = await chain.execute(forwarding(asked(invoice)));
    await chain.mine();
    await untilStatus(shop, invoice.id, "PAID");
    const claim = { txHash: transactionHash, network: "ETH" };
    const claimed = await shop.raw("POST", `/api/v1/checkout/${invoice.id}/claims`, claim);
    expect(claimed.status, claimed.text).toBeLessThan(300);
    await chain.mine();
    await untilHealth(shop, "ETH", ({ height }) => height === Number(blockNumber) + 2);
    const paid = await untilInvoice(shop, invoice.id, ({ status }) => status === "PAID");
    expect(paid).toMatchObject({ amountReceived: "60000.000000" });
    expect(paid.payments).toHaveLength(1);
    expect(await shop.payments(`txHash=${transactionHash}`)).toEqual([]);
  });
});
