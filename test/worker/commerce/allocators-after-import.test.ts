// A deployment into which rows were imported: its objects start empty, but they must not use any address or amount twice.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { placeName } from "../../../src/commerce/amounts/amount-place.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import { freshEvmAddress, freshShop, register, USDC } from "./amounts-harness.ts";
import { BTC, freshKey, invoice, xpubBody } from "./wallets-harness.ts";

/** Empties an object, because after an import the objects have no storage yet. */
async function forget(stub: DurableObjectStub<undefined>): Promise<void> {
  await runInDurableObject(stub, async (_, { storage }) => {
    await storage.deleteAlarm();
    await storage.deleteAll();
  });
  await evictDurableObject(stub);
}

const keyOf = async (walletId: string) => {
  const [row] = await testDb.select().from(wallets).where(sql`id = ${walletId}`);
  return row?.keyHash ?? "";
};

async function shopWithKey() {
  const shop = await freshMerchant();
  const key = freshKey();
  const wallet = await shop.post("/wallets", xpubBody(key));
  expect(wallet.status).toBe(201);
  const keyHash = await keyOf(wallet.body.id);
  const create = async () => {
    const { status, body } = await shop.post("/invoices", invoice(BTC));
    expect(status).toBe(201);
    return body.paymentMethods[0].address as string;
  };
  return {
    shop,
    key,
    walletId: wallet.body.id as string,
    keyHash,
    create,
    stub: env.ADDRESS_ALLOCATOR.getByName(keyHash),
  };
}

describe("a new address allocator for an old key", () => {
  it("continues after the addresses in the rows, and after those that the import skipped", async () => {
    const { key, walletId, create, stub } = await shopWithKey();
    expect([await create(), await create(), await create()]).toEqual([0, 1, 2].map(key.address));
    await forget(stub);
    expect(await create()).toBe(key.address(3));
    await testDb.update(wallets).set({ nextIndex: 104 }).where(sql`id = ${walletId}`);
    await forget(stub);
    expect(await create()).toBe(key.address(104));
    expect(await stub.nextIndex()).toEqual({ nextIndex: 105 });
  });

  it("continues after the addresses of a deleted wallet, and of another merchant", async () => {
    const first = await shopWithKey();
    await first.create();
    const other = await freshMerchant();
    expect((await other.post("/wallets", xpubBody(first.key))).status).toBe(201);
    const { body } = await other.post("/invoices", invoice(BTC));
    expect(body.paymentMethods[0].address).toBe(first.key.address(1));
    await testDb.update(wallets).set({ deletedAtMs: Date.now() }).where(eq(wallets.keyHash, first.keyHash));
    await forget(first.stub);
    expect(await first.stub.nextIndex()).toEqual({ nextIndex: 2 });
  });

  it("gives concurrent calls different addresses", async () => {
    const { key, create, stub } = await shopWithKey();
    await create();
    await forget(stub);
    const given = await Promise.all(Array.from({ length: 12 }, () => create()));
    expect(given.sort()).toEqual(Array.from({ length: 12 }, (_, at) => key.address(at + 1)).sort());
  });
});

describe("a new amount allocator for an old address", () => {
  async function shopWithAddress() {
    const shop = await freshShop();
    const wallet = await register(shop, USDC, freshEvmAddress());
    const stub = env.AMOUNT_ALLOCATOR.getByName(placeName({ ...USDC, address: wallet.address }));
    const create = async (rawAmount: number) => {
      const { status, json } = await shop.create(rawAmount, USDC);
      expect(status).toBe(201);
      return json.paymentMethods[0].amount as string;
    };
    return { shop, wallet, create, stub };
  }

  it("gives no amount twice, and none that an invoice already asks for", async () => {
    const { create, stub } = await shopWithAddress();
    const given: string[] = [];
    for (let round = 0; round < 3; round++) {
      given.push(...(await Promise.all([create(10), create(10), create(10.01), create(20)])));
      if (round === 0) await forget(stub);
      // In later rounds the object answers from its own storage.
      else await evictDurableObject(stub);
    }
    expect(new Set(given).size).toBe(given.length);
  });

  it("reuses a released amount", async () => {
    const { wallet, create, stub } = await shopWithAddress();
    const plain = await create(10);
    await testDb
      .update(methodAmounts)
      .set({ releasedAtMs: Date.now() })
      .where(eq(methodAmounts.address, wallet.address));
    await forget(stub);
    expect(await create(10)).toBe(plain);
  });
});
