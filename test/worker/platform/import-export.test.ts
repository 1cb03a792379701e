// A merchant that was exported, and whose rows and objects are gone, is served again after the import's statements have run, on real D1.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { insertsOf } from "../../../scripts/import-export/statements.ts";
import { refreshIndex } from "../../../src/commerce/search-index/refresh-index.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import type { Manifest, NightIndex } from "../../../src/platform/merchant-exports/manifest.ts";
import type { StoredRow } from "../../../src/platform/merchant-exports/store.ts";
import { EXPORTED } from "../../../src/platform/merchant-exports/tables.ts";
import { at, emptyBucket, jsonIn, linesIn, NIGHT, runNight } from "../../support/export-night.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import { BTC, freshKey, invoice, xpubBody } from "../commerce/wallets-harness.ts";

const BUCKET = env.TEST_EXPORTS;
beforeAll(() => emptyBucket(BUCKET));

describe("a merchant imported into an empty database", () => {
  it("has the same invoices, wallets and events in the same order, and new invoices get new addresses", async () => {
    const shop = await freshMerchant();
    const key = freshKey();
    const wallet = await shop.post("/wallets", xpubBody(key));
    const orders = ["It's; -- 1", "日本語 🎉", "line\\nbreak"].map((name) => ({ ...invoice(BTC), name }));
    for (const order of orders) expect((await shop.post("/invoices", order)).status).toBe(201);
    const read = () => Promise.all(["/invoices", "/wallets", "/events", "/audit-events"].map((path) => shop.get(path)));
    const before = await read();
    await at(NIGHT, () => runNight(BUCKET));
    const index = await jsonIn<NightIndex>(BUCKET, "exports/2027-01-02/merchants.json");
    const own = index.merchants.find(({ merchantId }) => merchantId === shop.merchantId);
    const { parts } = await jsonIn<Manifest>(BUCKET, own?.manifest ?? "");
    const [row] = await testDb.select().from(wallets).where(sql`id = ${wallet.body.id}`);
    const allocator = env.ADDRESS_ALLOCATOR.getByName(row?.keyHash ?? "");
    await runInDurableObject(allocator, (_, { storage }) => storage.deleteAll());
    await evictDurableObject(allocator);
    for (const table of [...EXPORTED, "search_words"]) await env.DB.prepare(`DELETE FROM ${table}`).run();
    expect((await shop.get("/invoices")).status).toBe(401);
    for (let round = 0; round < 2; round++) {
      for (const { table, key: part } of parts) {
        for (const statement of insertsOf(table, await linesIn<StoredRow>(BUCKET, part)))
          await env.DB.prepare(statement).run();
      }
    }
    const after = await read();
    expect(after.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
    expect((await shop.get("/search?q=NBREAK")).body.invoices).toEqual([]);
    expect(await refreshIndex(testDb)).toBe("nothing");
    expect((await shop.get("/search?q=NBREAK")).body.invoices).toMatchObject([{ name: orders[2]?.name }]);
    const next = await shop.post("/invoices", orders[0]);
    expect(next.body.paymentMethods[0].address).toBe(key.address(3));
  });
});
