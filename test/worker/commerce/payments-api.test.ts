import { beforeAll, describe, expect, it } from "vitest";
import { selectCheckout } from "../../../src/checkout/pay/store.ts";
import { paymentDetailsBody } from "../../../src/commerce/payments/contract.ts";
import {
  countPayments,
  type PaymentFilter,
  selectPaymentFile,
  selectPaymentPage,
} from "../../../src/commerce/payments/store.ts";
import { selectClaimFile, selectForClaim } from "../../../src/detection/claims/store.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { paymentClaims } from "../../../src/platform/db/schema/payments.ts";
import { expectDocumented } from "../../support/documented.ts";
import { BLOCK_MS, seedCursor, seedPayment } from "../../support/payments.ts";
import { planOf } from "../../support/query-plan.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

beforeAll(async () => {
  await seedCursor("ETH", { tipHeight: 104 });
});

const idsOf = (answer: { readonly body: { readonly data: readonly { readonly id: string }[] } }) =>
  answer.body.data.map(({ id }) => id);

async function invoiceOf(shop: TestMerchant): Promise<InvoiceId> {
  const { body } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [] });
  return body.id;
}

describe("the list of payments", () => {
  it("is newest first, and by cursor has no gaps or repetitions, even for payments with the same time", async () => {
    const shop = await freshMerchant();
    const seeded = [];
    for (let n = 0; n < 7; n++) {
      const createdAtMs = BLOCK_MS + Math.floor(n / 3);
      seeded.push(await seedPayment(shop.merchantId, { createdAtMs }));
    }
    await seedPayment((await freshMerchant()).merchantId);
    const wanted = seeded
      .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
    const got: string[] = [];
    let cursor: string | null = "";
    for (let pages = 0; cursor !== null && pages < 10; pages++) {
      const { status, body, text } = await shop.get(`/payments?limit=2&cursor=${cursor}`);
      expect([status, body.pagination], text).toEqual([200, undefined]);
      got.push(...idsOf({ body }));
      cursor = body.nextCursor;
    }
    expect(got).toEqual(wanted);
  });

  it("has a count unless it is read by cursor", async () => {
    const shop = await freshMerchant();
    for (let n = 0; n < 3; n++) await seedPayment(shop.merchantId);
    await seedPayment(shop.merchantId, { status: "IGNORED" });
    const counted = (query: string) => shop.get(`/payments${query}`).then(({ body }) => body.pagination);
    expect(await counted("")).toEqual({ page: 1, limit: 20, total: 4, lastPage: 1 });
    expect(await counted("?limit=3")).toEqual({ page: 1, limit: 3, total: 4, lastPage: 2 });
    expect(await counted("?page=2&limit=3")).toEqual({ page: 2, limit: 3, total: 4, lastPage: 2 });
    expect(await counted("?page=1&status=IGNORED")).toMatchObject({ total: 1 });
  });

  it("is empty for a merchant without payments", async () => {
    const { body } = await (await freshMerchant()).get("/payments?limit=5");
    expect(body).toEqual({ data: [], nextCursor: null, pagination: { page: 1, limit: 5, total: 0, lastPage: 1 } });
  });

  it("has exactly the documented fields", async () => {
    const shop = await freshMerchant();
    const payment = await seedPayment(shop.merchantId);
    const { body } = await shop.get("/payments");
    expect(body.data).toStrictEqual([
      {
        id: payment.id,
        invoiceId: null,
        merchantId: shop.merchantId,
        chainId: 1,
        network: "ETH",
        currency: "USDT",
        txHash: payment.txHash,
        outputIndex: "0",
        fromAddress: payment.fromAddress,
        toAddress: payment.toAddress,
        amount: "10",
        fiatAmount: null,
        status: "UNMATCHED",
        confirmations: 5,
        requiredConfirmations: 3,
        blockHeight: 100,
        isLate: false,
        matchedBy: null,
        confirmedTxAt: null,
        receivedTxAt: new Date(payment.receivedAtMs).toISOString(),
        createdAt: new Date(payment.createdAtMs).toISOString(),
        updatedAt: new Date(payment.updatedAtMs).toISOString(),
      },
    ]);
  });
});

describe("a filter on the list", () => {
  it("applies one condition, several or none, and never shows another merchant's payments", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const invoiceId = await invoiceOf(shop);
    const credited = { invoiceId, matchedBy: "ADDRESS", fiatMicros: 10_000_000n } as const;
    const paid = await seedPayment(shop.merchantId, { ...credited, status: "CONFIRMED" });
    const again = await seedPayment(shop.merchantId, { ...credited, txHash: paid.txHash, outputIndex: "1" });
    const btc = await seedPayment(shop.merchantId, {
      network: "BTC",
      cryptocurrency: "BTC",
      chainId: null,
      txHash: "ab".repeat(32),
      amountUnits: 1n,
      status: "IGNORED",
    });
    await seedPayment(other.merchantId, { txHash: btc.txHash, network: "BTC", cryptocurrency: "BTC" });
    const listed = async (query: string) => idsOf(await shop.get(`/payments?limit=100&${query}`)).sort();
    const both = [paid.id, again.id].sort();
    expect(await listed(`invoiceId=${invoiceId}`)).toEqual(both);
    expect(await listed(`txHash=${paid.txHash}`)).toEqual(both);
    expect(await listed(`txHash=${btc.txHash.toUpperCase()}`)).toEqual([btc.id]);
    expect(await listed(`txHash=${btc.txHash}&network=ETH`)).toEqual([]);
    expect(await listed("network=bitcoin")).toEqual([btc.id]);
    expect(await listed("status=IGNORED")).toEqual([btc.id]);
    expect(await listed(`invoiceId=${invoiceId}&status=CONFIRMED`)).toEqual([paid.id]);
    expect(await listed("invoiceId=inv_1")).toEqual([]);
    expect(idsOf(await other.get(`/payments?invoiceId=${invoiceId}`))).toEqual([]);
  });

  it.each([
    ["status=PAID", "status"],
    ["network=DOGE", "network"],
    ["limit=101", "limit"],
    ["cursor=x", "cursor"],
    [`txHash=${"a".repeat(81)}`, "txHash"],
  ])("refuses %s and names the parameter", async (query, path) => {
    const { status, body } = await (await freshMerchant()).get(`/payments?${query}`);
    expect([status, body.code, body.details]).toMatchObject([400, "VALIDATION_FAILED", [{ path }]]);
  });
});

describe("the query plan", () => {
  const page = { limit: 21, offset: 0, after: { createdAtMs: 1, id: "x" } };
  const pagePlan = (filter: PaymentFilter) => planOf(selectPaymentPage(testDb, "mer_1", { ...page, filter }));

  it("of a page, with or without a status, seeks to the page's start in an index, and needs no sorting", async () => {
    const [plain, byStatus] = [await pagePlan({}), await pagePlan({ status: "UNMATCHED" })];
    expect(plain).toMatch(
      /SEARCH payments USING INDEX payments_feed \(merchant_id=\? AND \(created_at_ms,id\)<\(\?,\?\)\)/,
    );
    expect(byStatus).toMatch(/USING INDEX payments_by_status \(merchant_id=\? AND status=\? AND \(created_at_ms,id\)</);
    expect(plain + byStatus).not.toContain("TEMP B-TREE");
  });

  it.each([
    ["a transaction", { txHash: "0x1" }, "payments_identity (network=? AND tx_hash=?)"],
    ["a transaction of a network", { txHash: "0x1", network: "ETH" }, "payments_identity (network=? AND tx_hash=?)"],
    ["an invoice", { invoiceId: "inv_1", status: "CONFIRMED" }, "payments_invoice (invoice_id=?)"],
  ] as const)("of payments by %s uses an index for it, and so does the count", async (_, filter, index) => {
    expect(await pagePlan(filter)).toContain(`SEARCH payments USING INDEX ${index}`);
    expect(await planOf(countPayments(testDb, "mer_1", filter, true))).toMatch(
      /SEARCH payments USING .*INDEX payments_/,
    );
  });
});

it("queries about one transaction find claims and payments through indexes, however many others there are", async () => {
  const reads = [
    selectPaymentFile(testDb, "mer_1", "pay_1"),
    selectCheckout(testDb, freshId("inv"), freshId("clm")),
    selectClaimFile(testDb, freshId("clm")),
    selectForClaim(testDb, { invoiceId: freshId("inv"), network: "ETH", txHash: "0x1", nowMs: BLOCK_MS }),
  ];
  for (const read of reads) {
    const plan = await planOf(read);
    expect(plan).not.toMatch(/invoices_feed|SEARCH method USING INDEX payment_methods_watch/);
    expect(plan).toMatch(
      /SEARCH ((?:other|paid) USING INDEX payments_identity|claim USING INDEX payment_claims_transaction) \(network=\? AND tx_hash=\?\)/,
    );
  }
});

describe("a payment", () => {
  it("is shown with its evidence: rule, raw source data, block, candidates, and the payers' claims", async () => {
    const shop = await freshMerchant();
    const [invoiceId, candidate, elsewhere] = [await invoiceOf(shop), await invoiceOf(shop), await invoiceOf(shop)];
    const payment = await seedPayment(shop.merchantId, {
      invoiceId,
      matchedBy: "TOLERANCE",
      status: "CONFIRMED",
      fiatMicros: 10_000_000n,
      confirmedAtMs: BLOCK_MS,
      evidence: { raw: '{"logIndex":"0x7"}', candidates: [{ invoiceId: candidate, reason: "AMOUNT_DIFFERS" }] },
    });
    const { network, txHash } = payment;
    const claim = { network, txHash, merchantId: shop.merchantId, outcome: "FOUND" };
    const claims = [
      { ...claim, id: freshId("clm"), invoiceId: candidate, createdAtMs: BLOCK_MS + 2, outcome: "NOT_FOUND" },
      { ...claim, id: freshId("clm"), invoiceId, createdAtMs: BLOCK_MS + 1 },
      { ...claim, id: freshId("clm"), invoiceId, createdAtMs: BLOCK_MS, txHash: "0x2" },
      { ...claim, id: freshId("clm"), invoiceId: elsewhere, createdAtMs: BLOCK_MS },
    ] as const;
    await testDb.insert(paymentClaims).values([...claims]);
    const { status, body } = await shop.get(`/payments/${payment.id}`);
    expect([status, body]).toMatchObject([200, { id: payment.id, fiatAmount: "10.000000", confirmations: 5 }]);
    expect(body.evidence).toStrictEqual({
      rule: "TOLERANCE",
      weighing: null,
      supersedes: [],
      raw: '{"logIndex":"0x7"}',
      block: { height: 100, hash: payment.blockHash, time: "2026-11-21T12:00:00.000Z" },
      candidates: [
        {
          invoiceId: candidate,
          reason: "AMOUNT_DIFFERS",
          isNamed: true,
          askedAmount: null,
          amountDiffersPercent: null,
          madeBeforeSeconds: expect.any(Number),
        },
      ],
      claims: [
        { id: claims[1].id, invoiceId, outcome: "FOUND", createdAt: "2026-11-21T12:00:00.001Z" },
        { id: claims[0].id, invoiceId: candidate, outcome: "NOT_FOUND", createdAt: "2026-11-21T12:00:00.002Z" },
      ],
    });
    expect(body.resolution).toBeNull();
    const { evidence, resolution, ...shown } = body;
    expect((await shop.get("/payments")).body.data).toEqual([shown]);
    expect((await shop.get(`/invoices/${invoiceId}`)).body.payments).toMatchObject([{ id: payment.id }]);
  });

  it("to review lists first the candidates that a payer claimed, next those closest in amount, and next those closest in time, each with the reasons", async () => {
    const shop = await freshMerchant();
    await shop.post("/wallets", directWallet());
    const made = async (rawAmount: number): Promise<InvoiceId> => {
      const { body, text } = await shop.post("/invoices", { name: "Order", rawAmount, paymentMethods: [USDT] });
      expect(body.paymentMethods[0]?.status, text).toBe("ACTIVE");
      return body.id;
    };
    const [far, near, named, unthought] = [await made(80), await made(12), await made(500), await made(900)];
    const unpriced = await invoiceOf(shop);
    const refused = [far, unpriced, near, named].map((invoiceId) => ({ invoiceId, reason: "AMOUNT_DIFFERS" }) as const);
    const receivedAtMs = Date.now() + 600_000;
    const payment = await seedPayment(shop.merchantId, { receivedAtMs, evidence: { candidates: refused } });
    const { network, txHash } = payment;
    const said = { network, txHash, merchantId: shop.merchantId, outcome: "FOUND", createdAtMs: BLOCK_MS };
    const foreign = await freshMerchant();
    await testDb.insert(paymentClaims).values([
      { ...said, id: freshId("clm"), invoiceId: unthought },
      { ...said, id: freshId("clm"), invoiceId: named },
      { ...said, id: freshId("clm"), invoiceId: freshId("inv"), merchantId: foreign.merchantId },
    ]);
    const { body } = await shop.get(`/payments/${payment.id}`);
    const minutes = { madeBeforeSeconds: expect.toSatisfy((seconds: number) => seconds > 500 && seconds <= 600) };
    const differs = { reason: "AMOUNT_DIFFERS", isNamed: false };
    expect(body.evidence.candidates).toMatchObject([
      { invoiceId: named, reason: "AMOUNT_DIFFERS", isNamed: true, askedAmount: "500", amountDiffersPercent: "-98.00" },
      { invoiceId: unthought, reason: "NOT_CONSIDERED", isNamed: true, amountDiffersPercent: "-98.88" },
      { invoiceId: near, ...differs, askedAmount: "12", amountDiffersPercent: "-16.66", ...minutes },
      { invoiceId: far, ...differs, askedAmount: "80", amountDiffersPercent: "-87.50" },
      { invoiceId: unpriced, ...differs, askedAmount: null, amountDiffersPercent: null, ...minutes },
    ]);
    expectDocumented(paymentDetailsBody, body);
  });

  it("in the mempool has no block and no confirmations", async () => {
    const shop = await freshMerchant();
    const nowhere = { blockHeight: null, blockHash: null, blockTimeMs: null, confirmations: 0 };
    const { id } = await seedPayment(shop.merchantId, nowhere);
    const { body } = await shop.get(`/payments/${id}`);
    expect([body.blockHeight, body.confirmations, body.evidence.block]).toEqual([null, 0, null]);
  });

  it("is answered with the same 404 when its id is unknown, malformed or another merchant's", async () => {
    const shop = await freshMerchant();
    const foreign = await seedPayment((await freshMerchant()).merchantId);
    const refusals = [];
    for (const id of [freshId("pay"), foreign.id, "pay_1", "x", "%00", "%27%20OR%201%3D1"]) {
      const { status, body } = await shop.get(`/payments/${id}`);
      const { requestId, ...rest } = body;
      expect([status, rest.code]).toEqual([404, "PAYMENT_NOT_FOUND"]);
      refusals.push(JSON.stringify(rest));
    }
    expect(new Set(refusals).size).toBe(1);
  });
});
