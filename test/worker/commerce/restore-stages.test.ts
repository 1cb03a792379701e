// Who is served during an import, and what the import leaves for operators to do.
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { deleteMember, setRole } from "../../../src/accounts/teams/store.ts";
import { createApp } from "../../../src/app/app.ts";
import { dispatchJobs, runJobMessage } from "../../../src/app/jobs.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { openWakingDb } from "../../../src/platform/db/client.ts";
import { restoreFindings, restores } from "../../../src/platform/db/schema/restores.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { deploymentWith } from "../../support/access.ts";
import { copyDatabase } from "../../support/copy-database.ts";
import { doSetUp, ownDatabase, production } from "../../support/production.ts";
import { importLost, putPhase, restoredEnv } from "../../support/restores.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { FORM, invoicesOf, openShop } from "../checkout/storefront-harness.ts";

const waking = () => openWakingDb(env.DB, env, (work) => void work.catch(() => undefined));

/** Sends a request with the merchant's key to a deployment with this environment. */
async function ask(restored: Env, shop: TestMerchant, method: string, rest: string, body?: object): Promise<Response> {
  const url = `${env.PUBLIC_URL}/api/v1/merchants/merchant/${shop.merchantId}${rest}`;
  const headers = { "x-api-key": shop.secret, "content-type": "application/json" };
  const request = new Request(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return createApp().fetch(request, restored, { waitUntil: () => {}, passThroughOnException: () => {}, props: {} });
}

it("no key works before revocations are repeated, and no invoice is created before the import has ended", async () => {
  const shop = await freshMerchant();
  const restored = restoredEnv(Date.now());
  const order = { name: "Order", rawAmount: 1 };
  const expectRestoring = async (answer: Response) => {
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(await answer.json()).toMatchObject({ code: "RESTORING" });
  };
  await expectRestoring(await ask(restored, shop, "GET", "/invoices"));
  await putPhase(restored, "REVOCATIONS");
  await expectRestoring(await ask(restored, shop, "GET", "/invoices"));
  await expectRestoring(await ask(restored, shop, "POST", "/invoices", order));
  await putPhase(restored, "ADDRESSES");
  expect(await ask(restored, shop, "GET", "/invoices")).toMatchObject({ status: 200 });
  await expectRestoring(await ask(restored, shop, "POST", "/invoices", order));
  await putPhase(restored, "DONE");
  expect(await ask(restored, shop, "POST", "/invoices", order)).toMatchObject({ status: 201 });
});

it("nothing is sold, quoted or shown to payers before revocations are repeated, and no product is sold before the import has ended", async () => {
  const { shop, product } = await openShop();
  const { id } = await expectStatus(shop.post("/invoices", { name: "Order", rawAmount: 1, paymentMethods: [] }), 201);
  const restored = restoredEnv(Date.now());
  const send = deploymentWith(restored);
  const form = { method: "POST", headers: FORM };
  const buy = () => send(`/buy/${product.id}`, { ...form, body: new URLSearchParams({ token: "t" }).toString() });
  const pick = (how: object, body: unknown, path: string) => send(path, { ...how, body });
  const paid = `/api/v1/checkout/${id}`;
  for (const phase of ["WAITING", "REVOCATIONS"] as const) {
    if (phase === "REVOCATIONS") await putPhase(restored, phase);
    for (const answer of [
      await send(paid),
      await pick({ method: "POST" }, BTC, `${paid}/payment-methods`),
      await pick({ method: "POST" }, { network: "BTC", txHash: "0".repeat(64) }, `${paid}/claims`),
    ]) {
      expect(answer).toMatchObject({ status: 503, json: { code: "RESTORING" } });
      expect(answer.headers.get("retry-after")).toBe("30");
    }
    for (const page of [
      await send(`/pay/${id}`),
      await send(`/pay/${id}/state`),
      await pick(form, "method=BTC-BTC", `/pay/${id}/methods`),
      await send(`/buy/${product.id}`),
      await buy(),
    ]) {
      expect(page.status).toBe(503);
      expect(page.headers.get("retry-after")).toBe("30");
      expect(page.text).toContain("Try again in a minute.");
    }
  }
  expect(await invoicesOf(shop)).toBe(1);
  expect((await expectStatus(shop.get(`/invoices/${id}`), 200)).paymentMethods).toEqual([]);
  await putPhase(restored, "ADDRESSES");
  expect(await send(paid)).toMatchObject({ status: 200 });
  expect(await buy()).toMatchObject({ status: 503 });
  await putPhase(restored, "DONE");
  expect(await send(`/buy/${product.id}`)).toMatchObject({ status: 200 });
});

it("a deploy without RESTORE_EPOCH keeps the deployment closed, continues the import, and keeps sequences above the epoch", async () => {
  const shop = await freshMerchant();
  const restored = restoredEnv(Date.now());
  await putPhase(restored, "REVOCATIONS");
  await doSetUp();
  const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices`;
  const create = { method: "POST", key: shop.secret, body: { name: "Order", rawAmount: 1 } };
  const [number = ""] = restored.RESTORE_EPOCH.split("@");
  for (const older of ["", "1@2026-01-01T00:00:00Z"])
    expect(await production({ RESTORE_EPOCH: older })(path, { key: shop.secret })).toMatchObject({ status: 503 });
  const lost = { ...env, RESTORE_EPOCH: "", DB: ownDatabase() };
  const sent: unknown[] = [];
  const JOB_QUEUE = {
    sendBatch: async (messages: readonly { readonly body: unknown }[]) => void sent.push(...messages),
  };
  await dispatchJobs({ ...lost, JOB_QUEUE: JOB_QUEUE as never }, Date.now());
  const message = { job: "restore", minuteMs: expect.any(Number), runs: 0 };
  expect(sent).toContainEqual({ body: message });
  for (let run = 0; run < 100; run++) {
    await runJobMessage(
      { job: "restore", minuteMs: Date.now(), runs: 0 },
      { ...lost, DB: ownDatabase() },
      () => undefined,
    );
    const [row] = await testDb
      .select()
      .from(restores)
      .where(eq(restores.epoch, Number(number)));
    if (row?.phase === "DONE") break;
  }
  const made = await production()(path, create);
  expect(made.status).toBe(201);
  const { data } = await expectStatus(shop.get(`/events?invoiceId=${made.json?.id}`), 200);
  for (const { sequence } of data) expect(sequence).toBeGreaterThan(Number(number) * 1_000_000);
});

it("a malformed RESTORE_EPOCH refuses every request, and an empty one refuses none", async () => {
  const shop = await freshMerchant();
  expect(await ask({ ...env, RESTORE_EPOCH: "17:00" }, shop, "GET", "/invoices")).toMatchObject({ status: 503 });
  expect(await ask({ ...env, RESTORE_EPOCH: "" }, shop, "GET", "/invoices")).toMatchObject({ status: 200 });
});

const findingsOf = async (merchantId: string) => {
  const rows = await testDb.select().from(restoreFindings).where(eq(restoreFindings.merchantId, merchantId));
  return rows.map(({ reason, address, invoiceId }) => ({ reason, address, invoiceId }));
};

it("each address that payers were shown for a lost merchant or wallet is listed once, however often it is imported", async () => {
  const shop = await freshMerchant();
  const before = await copyDatabase();
  const restoredToMs = Date.now();
  const late = await freshMerchant();
  const shown = [];
  for (const each of [shop, late]) {
    await expectStatus(each.post("/wallets", directWallet()), 201);
    await expectStatus(each.post("/wallets", xpubWallet()), 201);
    const order = { name: "Order", rawAmount: 10, paymentMethods: [USDT, BTC] };
    shown.push(await expectStatus(each.post("/invoices", order), 201));
  }
  await before();
  const restored = restoredEnv(restoredToMs);
  await importLost(restored);
  // Sets the state as if every step had crashed before it recorded its progress.
  await env.DB.prepare("update restores set phase = 'REVOCATIONS', at_name = '', at_place = null").run();
  await importLost(restored);
  for (const [n, reason] of ["WALLET_LOST", "MERCHANT_LOST"].entries()) {
    const { id: invoiceId, merchantId, paymentMethods } = shown[n];
    const expected = paymentMethods.map(({ address }: { address: string }) => ({ reason, address, invoiceId }));
    const found = await findingsOf(merchantId);
    expect(found).toHaveLength(2);
    expect(new Set(found)).toEqual(new Set(expected));
  }
});

async function addMember(shop: TestMerchant, role: "OWNER" | "ADMIN" | "MEMBER") {
  const times = { createdAtMs: Date.now(), updatedAtMs: Date.now() };
  const member = { id: freshId("mem"), merchantId: shop.merchantId, userId: freshId("usr"), role, ...times };
  await testDb.insert(members).values(member);
  return member;
}

it("removed members stay removed and lowered roles stay lowered, and ownership of a merchant is left to operators", async () => {
  const shop = await freshMerchant();
  const [owner, admin, member] = [
    await addMember(shop, "OWNER"),
    await addMember(shop, "ADMIN"),
    await addMember(shop, "MEMBER"),
  ];
  const putBack = await copyDatabase();
  const restoredToMs = Date.now();
  await commit(waking(), [deleteMember(testDb, member), setRole(testDb, admin, "VIEWER", Date.now())]);
  await commit(waking(), [setRole(testDb, owner, "ADMIN", Date.now())]);
  await commit(waking(), [deleteMember(testDb, owner)]);
  await putBack();
  await importLost(restoredEnv(restoredToMs));
  const left = await testDb
    .select()
    .from(members)
    .where(and(eq(members.merchantId, shop.merchantId)));
  expect(left.map(({ id, role }) => ({ id, role }))).toEqual([
    { id: owner.id, role: "OWNER" },
    { id: admin.id, role: "VIEWER" },
  ]);
  expect(await findingsOf(shop.merchantId)).toEqual([
    { reason: "OWNER_UNCERTAIN", address: null, invoiceId: null },
    { reason: "OWNER_UNCERTAIN", address: null, invoiceId: null },
  ]);
});
