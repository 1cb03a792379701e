// After a database restore, what the Durable Objects still store is recovered.
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { updateApiKey } from "../../../src/accounts/api-keys/store.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { openWakingDb } from "../../../src/platform/db/client.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { copyDatabase } from "../../support/copy-database.ts";
import { importLost, restoredEnv } from "../../support/restores.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const now = () => Date.now();
const waking = () => openWakingDb(env.DB, env, (work) => void work.catch(() => undefined));

async function shopWithWallets(): Promise<TestMerchant> {
  const shop = await freshMerchant();
  await expectStatus(shop.post("/wallets", directWallet()), 201);
  await expectStatus(shop.post("/wallets", xpubWallet()), 201);
  return shop;
}

const ORDER = { name: "Order", rawAmount: 10, metadata: { order: "17" }, paymentMethods: [USDT, BTC] };

/** The address and the amount on each network, as a payer sees them. */
const shownOf = (invoice: { paymentMethods: readonly Record<string, unknown>[] }) =>
  invoice.paymentMethods
    .map(({ network, status, address, amount }) => ({ network: String(network), status, address, amount }))
    .toSorted((a, b) => a.network.localeCompare(b.network));

it("a lost invoice is recovered with its id, terms, address and amount, for review, with an audit entry and an event", async () => {
  const shop = await shopWithWallets();
  const kept = await expectStatus(shop.post("/invoices", ORDER), 201);
  const putBack = await copyDatabase();
  const restoredToMs = now();
  const lost = await expectStatus(shop.post("/invoices", { ...ORDER, externalId: "web-1" }), 201);
  await putBack();
  await expectStatus(shop.get(`/invoices/${lost.id}`), 404);
  await importLost(restoredEnv(restoredToMs));
  const back = await expectStatus(shop.get(`/invoices/${lost.id}`), 200);
  expect(shownOf(back)).toEqual(shownOf(lost));
  const { name, rawAmount, currency, externalId, metadata, createdAt, expiresAt } = lost;
  expect(back).toMatchObject({ name, rawAmount, currency, externalId, metadata, createdAt, expiresAt });
  expect(back).toMatchObject({ status: "AWAITING_PAYMENT", needsReview: true, warnings: ["RESTORED"] });
  const { data: inReview } = await expectStatus(shop.get("/invoices?needsReview=true"), 200);
  expect(inReview.map(({ id }: { id: string }) => id)).toEqual([lost.id]);
  const { data: events } = await expectStatus(shop.get(`/events?invoiceId=${lost.id}`), 200);
  expect(events.at(-1)).toMatchObject({ type: "invoice.updated" });
  const { results: entries } = await env.DB.prepare(
    "select action, target from audit_events where merchant_id = ? and action = 'invoice.restored'",
  )
    .bind(shop.merchantId)
    .all();
  // One entry for the address and one for the amount.
  expect(entries).toEqual([lost, lost].map(({ id: target }) => ({ action: "invoice.restored", target })));
  expect(shownOf(await expectStatus(shop.get(`/invoices/${kept.id}`), 200))).toEqual(shownOf(kept));
  expect(await expectStatus(shop.get(`/invoices/${kept.id}`), 200)).toMatchObject({ needsReview: false, warnings: [] });
});

it("an invoice payable with one coin on two networks, at one address and for one amount, is recovered with both methods", async () => {
  const shop = await freshMerchant();
  const wallet = directWallet();
  const pairs = ["ETH", "POL"].map((network) => ({ ...USDT, network }));
  for (const pair of pairs) await expectStatus(shop.post("/wallets", { ...wallet, ...pair }), 201);
  const putBack = await copyDatabase();
  const restoredToMs = now();
  const lost = await expectStatus(shop.post("/invoices", { ...ORDER, paymentMethods: pairs }), 201);
  expect(new Set(shownOf(lost).map(({ address, amount }) => `${address} ${amount}`)).size).toBe(1);
  await putBack();
  await importLost(restoredEnv(restoredToMs));
  expect(shownOf(await expectStatus(shop.get(`/invoices/${lost.id}`), 200))).toEqual(shownOf(lost));
});

it.each([undefined, "web-7"])(
  "repeating a lost create with its idempotency key returns the recovered invoice (external id: %s)",
  async (externalId) => {
    const shop = await shopWithWallets();
    const putBack = await copyDatabase();
    const restoredToMs = now();
    const key = { "idempotency-key": "lost" };
    const body = { ...ORDER, externalId };
    const first = await shop.post("/invoices", body, key);
    await putBack();
    await importLost(restoredEnv(restoredToMs));
    // A restore takes longer than the lease of a create, and object instances do not live that long.
    await abortAllDurableObjects();
    const again = await shop.post("/invoices", body, key);
    expect(again.status).toBe(201);
    expect(again.body.id).toBe(first.body.id);
    expect(shownOf(again.body)).toEqual(shownOf(first.body));
    const { data } = await expectStatus(shop.get("/invoices"), 200);
    expect(data).toHaveLength(1);
    const third = await shop.post("/invoices", body, key);
    expect(third.text).toBe(again.text);
  },
);

it("a key revoked in the lost period does not work again", async () => {
  const shop = await freshMerchant();
  const putBack = await copyDatabase();
  const restoredToMs = now();
  const [key] = await testDb.select().from(apiKeys).where(eq(apiKeys.merchantId, shop.merchantId));
  if (key === undefined) throw new Error("no key");
  await commit(waking(), [updateApiKey(testDb, key, { revokedAtMs: now() })]);
  await expectStatus(shop.get("/invoices"), 401);
  await putBack();
  await expectStatus(shop.get("/invoices"), 200);
  await importLost(restoredEnv(restoredToMs));
  await expectStatus(shop.get("/invoices"), 401);
});
