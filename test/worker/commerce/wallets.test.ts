import { env } from "cloudflare:workers";
import { and, asc, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { isWalletIntact } from "../../../src/commerce/wallet-records/wallet.ts";
import { deleteWallet } from "../../../src/commerce/wallets/delete-wallet.ts";
import { walletDependencies } from "../../../src/commerce/wallets/dependencies.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { operations } from "../../../src/platform/db/schema/operations.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { dbBefore } from "../../support/before-write.ts";
import { keyringOf } from "../../support/keyrings.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { type Answer, freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import {
  BTC,
  created,
  directBody,
  expectStatus,
  freshKey,
  invoice,
  PATH,
  registered,
  rowOf,
  xpubBody,
} from "./wallets-harness.ts";

async function cancelled(shop: TestMerchant, ...made: { id: string }[]) {
  for (const { id } of made) expectStatus(await shop.post(`/invoices/${id}/cancel`), 200);
}

async function eventsOf(shop: TestMerchant, walletId: string) {
  const rows = await testDb
    .select({ type: events.type, data: events.data })
    .from(events)
    .where(and(eq(events.merchantId, shop.merchantId), sql`${events.type} like 'wallet.%'`))
    .orderBy(asc(events.createdAtMs), asc(sql`rowid`));
  return rows.filter((row) => JSON.parse(row.data).walletId === walletId).map((row) => row.type);
}

describe("registering a wallet", () => {
  it("returns it, signs it with an HMAC and records its event, for an address and for an extended key", async () => {
    const shop = await freshMerchant();
    const key = freshKey();
    const direct = await registered(shop, { ...directBody(), network: "ethereum" });
    const xpub = await registered(shop, xpubBody(key));
    expect(direct).toMatchObject({ network: "ETH", xpub: null, nextIndex: null, gap: null, scheme: null });
    expect(direct).not.toHaveProperty("firstAddress");
    expect(xpub).toMatchObject({ address: null, lastUsedIndex: 0, nextIndex: 0, gap: 0, scheme: "BIP84" });
    expect(xpub).toMatchObject({ xpub: key.zpub, derivationPath: PATH, firstAddress: key.address(0) });
    expect(xpub.warnings).toEqual(["LOW_CONFIRMATIONS", "NETWORK_NOT_WATCHED"]);
    const macKeys = keyringOf(env.ROW_MAC_KEY);
    for (const { id } of [direct, xpub]) {
      expect(isWalletIntact(macKeys, await rowOf(id))).toBe(true);
      expect(await eventsOf(shop, id)).toEqual(["wallet.created"]);
    }
    const { firstAddress: _, ...shown } = xpub;
    expect((await shop.get("/wallets")).body).toEqual([direct, shown]);
  });

  it("accepts a regtest network on a development server", async () => {
    const body = directBody("BTC", "BTC_REGTEST", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080");
    expect(await registered(await freshMerchant(), body)).toMatchObject({ network: "BTC_REGTEST" });
  });

  it("refuses a private key in any field, and stores or returns no part of it", async () => {
    const shop = await freshMerchant();
    const key = freshKey();
    const bodies = [
      { ...xpubBody(key), xpub: key.zprv },
      { ...directBody(), address: key.zprv },
      { ...directBody(), note: { deep: [key.zprv] } },
      { ...directBody(), [key.zprv]: 1 },
      { ...directBody(), cryptocurrency: randomHex(32) },
      { ...xpubBody(key), derivationPath: `${"abandon ".repeat(11)}about` },
    ];
    for (const body of bodies) {
      const answer = await shop.post("/wallets", body, { "idempotency-key": crypto.randomUUID() });
      expectStatus(answer, 400, "PRIVATE_KEY_REFUSED");
      expect(answer.text).not.toContain(key.zprv);
    }
    const mine = (table: typeof wallets | typeof events | typeof operations) =>
      testDb.$count(table, eq(table.merchantId, shop.merchantId));
    expect(await Promise.all([mine(wallets), mine(events), mine(operations)])).toEqual([0, 0, 0]);
  });

  it("succeeds for one of twenty requests sent at once, and the refusals of the others have that wallet's id", async () => {
    const shop = await freshMerchant();
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.post("/wallets", directBody())));
    const [winner, ...more] = answers.filter((answer) => answer.status === 201);
    expect(more).toEqual([]);
    for (const answer of answers.filter((each) => each.status !== 201)) {
      expect(expectStatus(answer, 409, "WALLET_EXISTS").walletId).toBe(winner?.body.id);
    }
    expect(await eventsOf(shop, winner?.body.id)).toEqual(["wallet.created"]);
  });

  it("gives twenty repeats of one request the same response and creates one wallet", async () => {
    const shop = await freshMerchant();
    const [body, headers] = [xpubBody(freshKey()), { "idempotency-key": "again" }];
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.post("/wallets", body, headers)));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get("idempotent-replayed") === "true")).toHaveLength(19);
    expect((await shop.get("/wallets")).body).toHaveLength(1);
  });
});

describe("changing a wallet", () => {
  it("writes one event for a change, and none when nothing changes", async () => {
    const shop = await freshMerchant();
    const { id } = await registered(shop, directBody());
    expect(expectStatus(await shop.patch(`/wallets/${id}`, { isEnabled: true }), 200).isEnabled).toBe(true);
    expect(await eventsOf(shop, id)).toEqual(["wallet.created"]);
    expect(expectStatus(await shop.patch(`/wallets/${id}`, { isEnabled: false }), 200).isEnabled).toBe(false);
    expect(await eventsOf(shop, id)).toEqual(["wallet.created", "wallet.updated"]);
  });

  it("keeps both of two concurrent changes, and one of the responses shows both", async () => {
    const shop = await freshMerchant();
    const { id } = await registered(shop, directBody());
    const changes = [{ isEnabled: false }, { requiredConfirmations: 7 }];
    const answers = await Promise.all(changes.map((change) => shop.patch(`/wallets/${id}`, change)));
    const both = { isEnabled: false, requiredConfirmations: 7 };
    expect((await shop.get(`/wallets/${id}`)).body).toMatchObject(both);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(answers.some(({ body }) => body.isEnabled === false && body.requiredConfirmations === 7)).toBe(true);
  });
});

describe("deleting a wallet", () => {
  it.each([
    ["direct", () => directBody()],
    ["extended key", () => xpubBody(freshKey())],
  ])("is refused while a %s wallet has active invoices, and keeps the row", async (_, bodyOf) => {
    const shop = await freshMerchant();
    const { firstAddress: __, ...wallet } = await registered(shop, bodyOf());
    const made = [await created(shop), await created(shop)];
    expect(made.map((each) => each.paymentMethods[0]?.status)).toEqual(["ACTIVE", "ACTIVE"]);
    await shop.patch(`/wallets/${wallet.id}`, { isEnabled: false });
    const refusal = expectStatus(await shop.delete(`/wallets/${wallet.id}`), 409, "WALLET_HAS_ACTIVE_PAYMENTS");
    expect(refusal.message).toBe("Cannot delete a wallet with active payments");
    expect(refusal).toMatchObject({ invoiceIds: expect.arrayContaining(made.map(({ id }) => id)) });
    await cancelled(shop, ...made);
    const deleted = expectStatus(await shop.delete(`/wallets/${wallet.id}`), 200);
    expect(deleted).toMatchObject({ id: wallet.id, isEnabled: false, address: wallet.address, xpub: wallet.xpub });
    expectStatus(await shop.get(`/wallets/${wallet.id}`), 404, "WALLET_NOT_FOUND");
    expectStatus(await shop.delete(`/wallets/${wallet.id}`), 404, "WALLET_NOT_FOUND");
    expect((await rowOf(wallet.id)).deletedAtMs).not.toBeNull();
    const types = (await eventsOf(shop, wallet.id)).filter((type) => type !== "wallet.gap_limit_warning");
    expect(types).toEqual(["wallet.created", "wallet.updated", "wallet.deleted"]);
  });

  it("is refused while another coin's invoice uses the same address, but not for another merchant's invoice", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const address = `0x${randomHex(20)}`;
    const usdt = await registered(shop, directBody("USDT", "ETH", address));
    const usdc = await registered(shop, directBody("USDC", "ETH", address));
    const theirs = await registered(other, directBody("USDT", "ETH", address));
    await created(shop, { cryptocurrency: "USDT", network: "ETH" });
    expectStatus(await shop.delete(`/wallets/${usdc.id}`), 409, "WALLET_HAS_ACTIVE_PAYMENTS");
    expectStatus(await shop.delete(`/wallets/${usdt.id}`), 409, "WALLET_HAS_ACTIVE_PAYMENTS");
    expectStatus(await other.delete(`/wallets/${theirs.id}`), 200);
  });

  it("and creating an invoice at the same time never both succeed", async () => {
    const shop = await freshMerchant();
    for (let round = 0; round < 5; round++) {
      const { id } = await registered(shop, xpubBody(freshKey()));
      const [deletion, ...made] = await Promise.all([
        shop.delete(`/wallets/${id}`),
        ...Array.from({ length: 4 }, () => shop.post("/invoices", invoice())),
      ]);
      const active = made.filter(({ body }) =>
        body.paymentMethods.some((each: Answer["body"]) => each.status === "ACTIVE"),
      );
      expect(made.map((answer) => answer.status)).toEqual([201, 201, 201, 201]);
      if (deletion.status === 200) expect(active).toEqual([]);
      else expectStatus(deletion, 409, "WALLET_HAS_ACTIVE_PAYMENTS");
      await cancelled(shop, ...made.map(({ body }) => body));
      if (deletion.status !== 200) expectStatus(await shop.delete(`/wallets/${id}`), 200);
    }
  });

  it.each([
    [
      "an invoice starts to pay to the wallet",
      async (shop: TestMerchant) => ({
        code: "WALLET_HAS_ACTIVE_PAYMENTS",
        invoiceIds: [(await created(shop)).id],
      }),
    ],
    [
      "another request deletes it",
      async (shop: TestMerchant, id: string) => {
        await shop.delete(`/wallets/${id}`);
        return { code: "WALLET_NOT_FOUND" };
      },
    ],
  ])("is refused by a second check when, after the first, %s", async (_, meanwhile) => {
    const shop = await freshMerchant();
    const { id } = await registered(shop, xpubBody(freshKey()));
    let batches = 0;
    let error: { readonly code: string } | undefined;
    const late = dbBefore(async () => {
      if (batches++ === 0) error = await meanwhile(shop, id);
    });
    const given = { db: testDb, nowMs: Date.now(), sleep, background: () => {} };
    const audience = { merchantName: "Shop", author: "somebody", readers: [] };
    const deps = { ...walletDependencies(env, given), db: late, trail: SYSTEM_TRAIL, audience };
    const refused = await deleteWallet(deps, { merchantId: shop.merchantId, walletId: id, read: await rowOf(id) });
    expect(refused).toEqual({ ok: false, error });
    // Two batches: the refused delete, and the read that found the reason.
    expect(batches).toBe(2);
    expect(await eventsOf(shop, id)).toHaveLength(error?.code === "WALLET_NOT_FOUND" ? 2 : 1);
  });

  it("succeeds for one of two requests sent at once, and the other gets 404", async () => {
    const shop = await freshMerchant();
    const { id } = await registered(shop, directBody());
    const answers = await Promise.all([shop.delete(`/wallets/${id}`), shop.delete(`/wallets/${id}`)]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 404]);
    expect(await eventsOf(shop, id)).toEqual(["wallet.created", "wallet.deleted"]);
  });
});

describe("the addresses of an extended key", () => {
  it("restart at 0 with a new key after a rotation", async () => {
    const shop = await freshMerchant();
    const [before, after] = [freshKey(), freshKey()];
    const old = await registered(shop, xpubBody(before));
    const open = await created(shop);
    await shop.patch(`/wallets/${old.id}`, { isEnabled: false });
    expectStatus(await shop.delete(`/wallets/${old.id}`), 409, "WALLET_HAS_ACTIVE_PAYMENTS");
    await cancelled(shop, open);
    expectStatus(await shop.delete(`/wallets/${old.id}`), 200);
    expect(await registered(shop, xpubBody(after))).toMatchObject({ lastUsedIndex: 0, nextIndex: 0, gap: 0 });
    expect((await created(shop)).paymentMethods[0].address).toBe(after.address(0));
  });

  it("continue at the key's next index when the key is registered again", async () => {
    const shop = await freshMerchant();
    const key = freshKey();
    const old = await registered(shop, xpubBody(key));
    await cancelled(shop, await created(shop), await created(shop));
    await shop.delete(`/wallets/${old.id}`);
    expect(await registered(shop, xpubBody(key))).toMatchObject({ lastUsedIndex: 0, nextIndex: 2, gap: 0 });
    expect((await created(shop)).paymentMethods[0].address).toBe(key.address(2));
  });

  it("are never the same for two merchants who registered the same key", async () => {
    const shops = [await freshMerchant(), await freshMerchant()];
    const key = freshKey();
    for (const shop of shops) await registered(shop, xpubBody(key));
    // Each shop creates two invoices, because an unproven merchant may hold two addresses of a shared key.
    const made = await Promise.all(shops.flatMap((shop) => Array.from({ length: 2 }, () => created(shop))));
    const handedOut = made.map((each) => each.paymentMethods[0].address);
    expect(new Set(handedOut)).toEqual(new Set(Array.from({ length: 4 }, (_, index) => key.address(index))));
    expect(handedOut).toHaveLength(4);
  });

  it("can be previewed without using any of them up, up to the last possible index", async () => {
    const shop = await freshMerchant();
    const key = freshKey();
    const { id } = await registered(shop, xpubBody(key));
    const page = expectStatus(await shop.get(`/wallets/${id}/addresses?from=5&count=2`), 200);
    expect(page).toEqual({
      data: [5, 6].map((index) => ({ index, address: key.address(index), path: `m/84'/0'/0'/0/${index}` })),
    });
    const last = expectStatus(await shop.get(`/wallets/${id}/addresses?from=2147483647&count=3`), 200);
    expect(last.data).toHaveLength(1);
    expectStatus(await shop.get(`/wallets/${id}/addresses?from=2147483648`), 400, "VALIDATION_FAILED");
    expect((await created(shop)).paymentMethods[0].address).toBe(key.address(0));
    const { id: direct } = await registered(shop, directBody());
    expectStatus(await shop.get(`/wallets/${direct}/addresses`), 400, "WALLET_IS_NOT_XPUB");
  });
});

describe("the recovery export", () => {
  it("lists the addresses of the merchant's own invoices, across every registration of the key", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const key = freshKey();
    const old = await registered(shop, xpubBody(key));
    const first = await created(shop);
    await registered(other, xpubBody(key));
    await created(other);
    await cancelled(shop, first);
    await shop.delete(`/wallets/${old.id}`);
    const { id } = await registered(shop, xpubBody(key));
    const third = await created(shop);
    const exported = expectStatus(await shop.get(`/wallets/${id}/recovery`), 200);
    expect(exported).toMatchObject({ nextIndex: 3, gapLimit: 23 });
    expect(exported.descriptor).toMatch(/^wpkh\(xpub\w+\/0\/\*\)#[a-z0-9]{8}$/);
    const row = (index: number, made: Answer["body"]) => ({
      index,
      address: key.address(index),
      path: `m/84'/0'/0'/0/${index}`,
      invoiceId: made.id,
      createdAt: made.createdAt,
    });
    expect(exported.addresses).toEqual([row(0, first), row(2, third)]);
    const csv = await shop.get(`/wallets/${id}/recovery`, { accept: "text/csv" });
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(csv.headers.get("content-disposition")).toBe(`attachment; filename="${id}-recovery.csv"`);
    expect(csv.text.split("\r\n")).toEqual([
      "index,address,path,invoiceId,createdAt,descriptor,nextIndex,gapLimit",
      `,,,,,${exported.descriptor},3,23`,
      ...exported.addresses.map((each: Record<string, string>) => `${Object.values(each).join(",")},,,`),
      "",
    ]);
    expectStatus(await shop.get(`/wallets/${id}/recovery?format=xml`), 400, "VALIDATION_FAILED");
  });

  it("shows no address of an altered row, and is complete over several pages", async () => {
    const shop = await freshMerchant();
    const { id } = await registered(shop, xpubBody(freshKey()));
    const count = 4_001;
    await env.DB.prepare(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?1)
       insert into payment_methods (invoice_id, cryptocurrency, network, merchant_id, wallet_id, wallet_type, status, address,
         address_index, required_confirmations, mac, mac_key_id, activated_at_ms)
       select 'inv_' || ?2 || i, 'BTC', 'BTC', ?3, ?4, 'XPUB_WALLET', 'ACTIVE', 'bc1forged', i, 1, 'forged', 'test', 0 from n`,
    )
      .bind(count, id, shop.merchantId, id)
      .run();
    const exported = expectStatus(await shop.get(`/wallets/${id}/recovery`), 200);
    expect(exported.addresses.map((each: { index: number }) => each.index)).toEqual(
      Array.from({ length: count }, (_, i) => i),
    );
    expect(new Set(exported.addresses.map((each: { address: null }) => each.address))).toEqual(new Set([null]));
    const csv = await shop.get(`/wallets/${id}/recovery?format=csv`);
    expect(csv.text.split("\r\n")).toHaveLength(count + 3);
    expect(csv.text).not.toContain("forged");
  });

  it("has a gap limit beyond the longest run of addresses without payments", async () => {
    const shop = await freshMerchant();
    const { id } = await registered(shop, xpubBody(freshKey()));
    expect((await shop.get(`/wallets/${id}/recovery`)).body).toMatchObject({
      nextIndex: 0,
      gapLimit: 20,
      addresses: [],
    });
    const made: Answer["body"][] = [];
    for (let n = 0; n < 8; n++) made.push(await created(shop));
    expect((await shop.get(`/wallets/${id}/recovery`)).body.gapLimit).toBe(28);
    const paid = (index: number, status: "CONFIRMED" | "DROPPED") =>
      testDb.insert(payments).values({
        id: freshId("pay"),
        merchantId: shop.merchantId,
        invoiceId: made[index].id,
        ...BTC,
        txHash: freshId("pay"),
        outputIndex: "0",
        toAddress: made[index].paymentMethods[0].address,
        amountUnits: 1n,
        status,
        confirmations: 1,
        requiredConfirmations: 1,
        isLate: false,
        receivedAtMs: 0,
        createdAtMs: 0,
        updatedAtMs: 0,
      });
    await testDb.batch([paid(1, "CONFIRMED"), paid(4, "DROPPED"), paid(6, "CONFIRMED")]);
    // The unpaid runs are index 0, 2 to 5, and 7. A dropped payment does not count.
    expect((await shop.get(`/wallets/${id}/recovery`)).body.gapLimit).toBe(24);
  });
});
