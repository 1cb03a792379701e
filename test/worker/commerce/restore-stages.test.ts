// Who is served while an import goes on, and what it leaves to operators.
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { deleteMember, setRole } from "../../../src/accounts/teams/store.ts";
import { createApp } from "../../../src/app/app.ts";
import { insertRestore } from "../../../src/commerce/restores/store.ts";
import { newOperationId } from "../../../src/lib/ids.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { openWakingDb } from "../../../src/platform/db/client.ts";
import { restoreFindings } from "../../../src/platform/db/schema/restores.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { parseRestoreEpoch } from "../../../src/platform/restores/restore-epoch.ts";
import { copyDatabase } from "../../support/copy-database.ts";
import { importLost, restoredEnv } from "../../support/restores.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const waking = () => openWakingDb(env.DB, env, (work) => void work.catch(() => undefined));

/** What a deployment with this environment answers to a merchant's key. */
async function ask(restored: Env, shop: TestMerchant, method: string, rest: string, body?: object): Promise<Response> {
  const url = `${env.PUBLIC_URL}/api/v1/merchants/merchant/${shop.merchantId}${rest}`;
  const headers = { "x-api-key": shop.secret, "content-type": "application/json" };
  const request = new Request(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return createApp().fetch(request, restored, { waitUntil: () => {}, passThroughOnException: () => {}, props: {} });
}

async function phase(restored: Env, to: "REVOCATIONS" | "ADDRESSES" | "DONE"): Promise<void> {
  const epoch = parseRestoreEpoch(restored.RESTORE_EPOCH);
  if (!epoch.ok || epoch.value === undefined) throw new Error("no epoch");
  const { number, restoredToMs } = epoch.value;
  await env.DB.prepare("delete from restores where epoch = ?").bind(number).run();
  const row = { epoch: number, restoredToMs, operationId: newOperationId(), atName: "", beganAtMs: Date.now() };
  await insertRestore(testDb, { ...row, phase: to });
}

it("nobody with a key is served before revocations are repeated, and no invoice made before the import has ended", async () => {
  const shop = await freshMerchant();
  const restored = restoredEnv(Date.now());
  const order = { name: "Order", rawAmount: 1 };
  const expectRestoring = async (answer: Response) => {
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(await answer.json()).toMatchObject({ code: "RESTORING" });
  };
  await expectRestoring(await ask(restored, shop, "GET", "/invoices"));
  await phase(restored, "REVOCATIONS");
  await expectRestoring(await ask(restored, shop, "GET", "/invoices"));
  await expectRestoring(await ask(restored, shop, "POST", "/invoices", order));
  await phase(restored, "ADDRESSES");
  expect(await ask(restored, shop, "GET", "/invoices")).toMatchObject({ status: 200 });
  await expectRestoring(await ask(restored, shop, "POST", "/invoices", order));
  await phase(restored, "DONE");
  expect(await ask(restored, shop, "POST", "/invoices", order)).toMatchObject({ status: 201 });
});

it("a wrong epoch serves nobody, and an empty one everybody", async () => {
  const shop = await freshMerchant();
  expect(await ask({ ...env, RESTORE_EPOCH: "17:00" }, shop, "GET", "/invoices")).toMatchObject({ status: 503 });
  expect(await ask({ ...env, RESTORE_EPOCH: "" }, shop, "GET", "/invoices")).toMatchObject({ status: 200 });
});

const findingsOf = async (merchantId: string) => {
  const rows = await testDb.select().from(restoreFindings).where(eq(restoreFindings.merchantId, merchantId));
  return rows.map(({ reason, address, invoiceId }) => ({ reason, address, invoiceId }));
};

it("what was shown for a lost merchant or a lost wallet is listed with its address, once however often it is imported", async () => {
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
  // As if every step had died before its place was noted.
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

it("removed members stay removed and lowered roles low, and who owns a merchant is left to operators", async () => {
  const shop = await freshMerchant();
  const [owner, admin, member] = [
    await addMember(shop, "OWNER"),
    await addMember(shop, "ADMIN"),
    await addMember(shop, "MEMBER"),
  ];
  const putBack = await copyDatabase();
  const restoredToMs = Date.now();
  await batch(waking(), [deleteMember(testDb, member), setRole(testDb, admin, "VIEWER", Date.now())]);
  await batch(waking(), [setRole(testDb, owner, "ADMIN", Date.now())]);
  await batch(waking(), [deleteMember(testDb, owner)]);
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
