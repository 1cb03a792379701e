// The list of items that need attention: which kinds it contains, and who sees them. Reading it must cost the same however many items there are.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { attentionBody } from "../../../src/notifications/attention/contract.ts";
import { attentionReads } from "../../../src/notifications/attention/read-attention.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { expectRefusal, seedKey, send } from "../../support/access.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { expectDocumented } from "../../support/documented.ts";
import { addEndpoint } from "../../support/endpoints.ts";
import { seedCursor, seedPayment } from "../../support/payments.ts";
import { planOf } from "../../support/query-plan.ts";
import { directWallet, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const iso = (ms: number) => new Date(ms).toISOString();

async function attention(shop: TestMerchant): Promise<Answer["body"][]> {
  const { status, body, text } = await shop.get("/attention");
  expect(status, text).toBe(200);
  expectDocumented(attentionBody, body);
  return body.data;
}

async function invoiceOf(shop: TestMerchant, changes: Partial<typeof invoices.$inferInsert>): Promise<InvoiceId> {
  const { body } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [] });
  const id: InvoiceId = body.id;
  if (Object.keys(changes).length > 0) await testDb.update(invoices).set(changes).where(eq(invoices.id, id));
  return id;
}

async function walletOf(shop: TestMerchant, body: object, changes: Partial<typeof wallets.$inferInsert>) {
  const made = await shop.post("/wallets", body);
  expect(made.status, made.text).toBe(201);
  const { id } = made.body;
  if (Object.keys(changes).length > 0) await testDb.update(wallets).set(changes).where(eq(wallets.id, id));
  return made.body;
}

describe("attention", () => {
  it("is empty when nothing needs attention", async () => {
    const shop = await freshMerchant();
    await walletOf(shop, directWallet(), {});
    await invoiceOf(shop, {});
    await seedPayment(shop.merchantId, { status: "IGNORED" });
    await addEndpoint(testDb, env.SECRETS_AES_KEY, {
      merchantId: shop.merchantId,
      url: "https://a.example/",
      failuresInRow: 2,
      failingSinceMs: 1,
    });
    await addEndpoint(testDb, env.SECRETS_AES_KEY, {
      merchantId: shop.merchantId,
      url: "https://b.example/",
      isActive: false,
    });
    expect(await attention(shop)).toEqual([]);
  });

  it("lists unmatched payments: how many, the time of the oldest, and the newest five", async () => {
    const shop = await freshMerchant();
    const seeded = [];
    for (let n = 0; n < 7; n++)
      seeded.push(await seedPayment(shop.merchantId, { createdAtMs: Date.now() - n * MINUTE_MS }));
    const [only] = await attention(shop);
    expect(only).toMatchObject({
      type: "PAYMENT_UNMATCHED",
      count: 7,
      isMore: false,
      since: iso(seeded.at(-1)?.createdAtMs ?? 0),
    });
    expect(only.newest.map(({ paymentId }: { paymentId: string }) => paymentId)).toEqual(
      seeded.slice(0, 5).map(({ id }) => id),
    );
    expect(only.newest[0]).toMatchObject({ network: "ETH", currency: "USDT", amount: "10", txHash: seeded[0]?.txHash });
  });

  it("lists once each the invoices in review and the underpaid ones of the last 30 days without a decision", async () => {
    const shop = await freshMerchant();
    const late = await invoiceOf(shop, { status: "EXPIRED", needsReview: true, isLate: true });
    const both = await invoiceOf(shop, { status: "UNDERPAID", needsReview: true });
    const under = await invoiceOf(shop, { status: "UNDERPAID" });
    await invoiceOf(shop, { status: "UNDERPAID", createdAtMs: Date.now() - 31 * DAY_MS });
    await invoiceOf(shop, { status: "UNDERPAID", resolution: '{"action":"DISMISS"}' });
    const asked = { status: "UNDERPAID", resolution: '{"action":"ASK_FOR_REST"}' } as const;
    await invoiceOf(shop, { ...asked, monitorUntilMs: Date.now() + DAY_MS });
    const unanswered = await invoiceOf(shop, { ...asked, monitorUntilMs: Date.now() - 1 });
    const [review, underpaid, ...more] = await attention(shop);
    expect(more).toEqual([]);
    const idsIn = (kind: Answer["body"]) =>
      kind.newest.map(({ invoiceId }: { invoiceId: string }) => invoiceId).toSorted();
    expect([review.type, review.count, idsIn(review)]).toEqual(["INVOICE_IN_REVIEW", 2, [late, both].toSorted()]);
    expect([underpaid.type, underpaid.count, idsIn(underpaid)]).toEqual([
      "INVOICE_UNDERPAID",
      2,
      [under, unanswered].toSorted(),
    ]);
  });

  it("lists wallets that were altered, have a gap, have few amounts left or have not yet taken effect", async () => {
    const shop = await freshMerchant();
    const { merchantId } = shop;
    const usableFromMs = Date.now() + HOUR_MS;
    const gap = await walletOf(shop, xpubWallet(), { gap: 15 });
    const pending = await walletOf(shop, directWallet(), { usableFromMs });
    const low = await walletOf(shop, { ...directWallet(), cryptocurrency: "USDC" }, {});
    const frozenAtMs = Date.now() - HOUR_MS;
    const altered = await walletOf(shop, { ...directWallet(), cryptocurrency: "ETH" }, { frozenAtMs, gap: 99 });
    const warned = (type: string, walletId: string, createdAtMs: number) =>
      testDb
        .insert(events)
        .values({ id: freshId("evt"), merchantId, type, data: JSON.stringify({ walletId }), createdAtMs });
    const atMs = Date.now() - 2 * HOUR_MS;
    await warned("wallet.gap_limit_warning", gap.id, atMs);
    await warned("wallet.amounts_low", low.id, atMs);
    await warned("wallet.amounts_low", pending.id, Date.now() - 25 * HOUR_MS);
    await warned("wallet.amounts_low", altered.id, atMs);
    const listed = await attention(shop);
    expect(listed.map(({ type, count, since, newest: [one] }) => [type, count, one.walletId, since])).toEqual([
      ["WALLET_ALTERED", 1, altered.id, iso(frozenAtMs)],
      ["WALLET_AMOUNTS_LOW", 1, low.id, iso(atMs)],
      ["WALLET_GAP", 1, gap.id, iso(atMs)],
      ["WALLET_CHANGE_PENDING", 1, pending.id, pending.updatedAt],
    ]);
    expect(listed[3].newest[0].usableFrom).toBe(iso(usableFromMs));
  });

  it("lists a wallet whose row does not match its HMAC before it is frozen, and never its address", async () => {
    const shop = await freshMerchant();
    const address = "0x52908400098527886E0F7030069857D2E4169EE7";
    const { id } = await walletOf(shop, directWallet(), { address });
    const [only] = await attention(shop);
    expect(only).toMatchObject({
      type: "WALLET_ALTERED",
      count: 1,
      since: null,
      newest: [{ walletId: id, since: null }],
    });
    expect(JSON.stringify(only)).not.toContain(address);
  });

  it("lists a network that lags, if an enabled wallet is on it", async () => {
    const degradedSinceMs = Date.now() - 6 * MINUTE_MS;
    await seedCursor("POL_AMOY", { degradedSinceMs, lastOutage: "TIMEOUT" });
    const [shop, other, off] = [await freshMerchant(), await freshMerchant(), await freshMerchant()];
    const body = { ...directWallet(), cryptocurrency: "USDC", network: "POL_AMOY" };
    const { id } = await walletOf(shop, body, {});
    await walletOf(off, body, { isEnabled: false });
    await walletOf(other, directWallet(), {});
    const since = iso(degradedSinceMs);
    const newest = [{ network: "POL_AMOY", reason: "TIMEOUT", walletIds: [id], since }];
    expect(await attention(shop)).toEqual([{ type: "NETWORK_LAGGING", count: 1, isMore: false, since, newest }]);
    expect([await attention(other), await attention(off)]).toEqual([[], []]);
    await seedCursor("POL_AMOY", { degradedSinceMs: Date.now() - 4 * MINUTE_MS });
    expect(await attention(shop)).toEqual([]);
  });

  it("lists endpoints that the service switched off, and those that fail repeatedly", async () => {
    const { merchantId, ...shop } = await freshMerchant();
    const add = (of: object) =>
      addEndpoint(testDb, env.SECRETS_AES_KEY, { merchantId, url: "https://a.example/", ...of });
    const atMs = Date.now() - HOUR_MS;
    const gone = await add({ isActive: false, disabledReason: "GONE", disabledAtMs: atMs, failuresInRow: 1 });
    const failing = await add({ failuresInRow: 3, failingSinceMs: atMs });
    await add({ failuresInRow: 2, failingSinceMs: atMs });
    const listed = await attention({ merchantId, ...shop });
    expect(listed.map(({ type, newest }) => [type, newest])).toEqual([
      [
        "ENDPOINT_DISABLED",
        [{ webhookId: gone.webhook.id, url: "https://a.example/", failuresInRow: 1, reason: "GONE", since: iso(atMs) }],
      ],
      [
        "ENDPOINT_FAILING",
        [{ webhookId: failing.webhook.id, url: "https://a.example/", failuresInRow: 3, since: iso(atMs) }],
      ],
    ]);
  });

  it("shows nothing that belongs to another merchant", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    await seedPayment(shop.merchantId);
    await invoiceOf(shop, { needsReview: true });
    expect(await attention(other)).toEqual([]);
  });
});

describe("a caller sees", () => {
  it.each([
    ["PAYMENT_VIEW", ["PAYMENT_UNMATCHED"]],
    ["INVOICE_VIEW", ["INVOICE_IN_REVIEW"]],
    ["WALLET_VIEW", ["WALLET_ALTERED"]],
    ["WEBHOOK_VIEW", ["ENDPOINT_FAILING"]],
  ])("with %s only %j", async (permission, types) => {
    const shop = await freshMerchant();
    const { merchantId } = shop;
    await seedPayment(merchantId);
    await invoiceOf(shop, { needsReview: true });
    await walletOf(shop, directWallet(), { frozenAtMs: 1 });
    await addEndpoint(testDb, env.SECRETS_AES_KEY, {
      merchantId,
      url: "https://a.example/",
      failuresInRow: 9,
      failingSinceMs: 1,
    });
    const key = await seedKey(merchantId, { permissions: [permission] });
    const { json } = await send(`/api/v1/merchants/merchant/${merchantId}/attention`, { key });
    const data: { type: string }[] = Object(json).data;
    expect(data.map(({ type }) => type)).toEqual(types);
  });

  it("nothing without one of these permissions", async () => {
    const shop = await freshMerchant();
    const key = await seedKey(shop.merchantId, { permissions: ["CUSTOMER_VIEW"] });
    expectRefusal(
      await send(`/api/v1/merchants/merchant/${shop.merchantId}/attention`, { key }),
      403,
      "PERMISSION_DENIED",
    );
  });
});

describe("the queries for what needs attention", () => {
  it("find everything through indexes by merchant", async () => {
    const plans = await Promise.all(
      attentionReads(testDb, "mer_1", 1).map((statement) => {
        const { sql, params } = statement.toSQL();
        return planOf({ toSQL: () => ({ sql, params }) });
      }),
    );
    const indexes = ["payments_by_status", "invoices_in_review", "invoices_by_status", "webhooks_merchant"];
    for (const index of indexes) expect(plans.join("\n")).toContain(`INDEX ${index} (merchant_id=?`);
    // A scan is allowed only if it reads at most one row for each network.
    const scanned = [...plans.join("\n").matchAll(/^SCAN (\S+)/gm)].map(([, name]) => name);
    expect(scanned.filter((name) => !/^(network_cursors|warning|\(subquery-\d+\)|CONSTANT)$/.test(name ?? ""))).toEqual(
      [],
    );
  });

  it("read a few hundred rows at most, and stop counting at 100", async () => {
    const shop = await freshMerchant();
    const { merchantId } = shop;
    await copyInvoice(await invoiceOf(shop, { status: "UNDERPAID", resolution: "{}" }), 3_000);
    const ids = [await invoiceOf(shop, { needsReview: true }), await invoiceOf(shop, { status: "UNDERPAID" })];
    for (const id of ids) await copyInvoice(id, 3_000);
    const { id } = await seedPayment(merchantId);
    const columns = (
      await env.DB.prepare("select name from pragma_table_info('payments')").all<{ name: string }>()
    ).results
      .map(({ name }) => name)
      .filter((name) => name !== "id" && name !== "output_index");
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
       insert into payments (id, output_index, ${columns}) select ?1 || i, i, ${columns} from payments, n where id = ?1`,
    )
      .bind(id)
      .run();
    const read = await env.DB.batch(
      attentionReads(testDb, merchantId, Date.now()).map((statement) => {
        const { sql, params } = statement.toSQL();
        return env.DB.prepare(sql).bind(...params);
      }),
    );
    expect(read.reduce((sum, { meta }) => sum + meta.rows_read, 0)).toBeLessThan(1_500);
    const listed = await attention(shop);
    expect(listed.map(({ type, count, isMore }) => [type, count, isMore])).toEqual([
      ["PAYMENT_UNMATCHED", 100, true],
      ["INVOICE_IN_REVIEW", 100, true],
      ["INVOICE_UNDERPAID", 100, true],
    ]);
    await testDb.delete(payments).where(eq(payments.merchantId, merchantId));
  });
});
