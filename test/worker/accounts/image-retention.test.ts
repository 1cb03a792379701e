// An unused image is removed after a week, but not before.
import { base64 } from "@scure/base";
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { forgetImages } from "../../../src/accounts/images/forget-images.ts";
import { imageName } from "../../../src/accounts/images/image.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/time.ts";
import { imageFacts, images, products } from "../../../src/platform/db/schema/products.ts";
import { send } from "../../support/access.ts";
import { png } from "../../support/images.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { freshUser } from "../../support/teams.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const upload = (size: number) => ({ contentType: "image/png", data: base64.encode(png(size)) });
const namesOf = async (shop: TestMerchant) =>
  (await testDb.select({ name: images.name }).from(images).where(eq(images.merchantId, shop.merchantId)))
    .map(({ name }) => name)
    .toSorted();
const factsOf = (shop: TestMerchant) =>
  testDb.select().from(imageFacts).where(eq(imageFacts.merchantId, shop.merchantId));

/** Runs the job twice, `ageMs` apart: the first run marks unused images, the second deletes those marked a week ago. */
async function sweptAfter(ageMs: number, beganMs = Date.now() + 25 * HOUR_MS) {
  await forgetAll(beganMs);
  await forgetAll(beganMs + ageMs);
}

/** Runs the job until nothing is left: a run deletes at most a hundred images, and other tests leave images too. */
async function forgetAll(nowMs: number) {
  while ((await forgetImages(testDb, nowMs)) === "more");
}

describe("an image", () => {
  it("that is unused is removed after seven days; a logo and a product's image stay", async () => {
    const shop = await freshMerchant();
    for (const size of [70, 71, 72]) await shop.post("/images", upload(size));
    const [logo, shown, unused] = [70, 71, 72].map((size) => imageName(png(size)));
    expect((await shop.patch("/settings", { brand: { logo } })).status).toBe(200);
    expect((await shop.post("/products", { name: "a", price: 1, image: shown })).status).toBe(201);
    const beganMs = Date.now() + 25 * HOUR_MS;
    await sweptAfter(7 * DAY_MS - 1, beganMs);
    expect(await namesOf(shop)).toEqual([logo, shown, unused].toSorted());
    await sweptAfter(7 * DAY_MS, beganMs);
    expect(await namesOf(shop)).toEqual([logo, shown].toSorted());
    expect(await factsOf(shop)).toHaveLength(2);
    expect((await send(`/images/${shop.merchantId}/${unused}`)).status).toBe(404);
  });

  it("that is due for removal is removed by the cron job", async () => {
    const shop = await freshMerchant();
    await shop.post("/images", upload(70));
    const longAgo = Date.now() - 8 * DAY_MS;
    await testDb
      .update(imageFacts)
      .set({ sweptAtMs: longAgo, unusedSinceMs: longAgo })
      .where(eq(imageFacts.merchantId, shop.merchantId));
    await runJobs();
    expect(await namesOf(shop)).toEqual([]);
  });

  it("that is uploaded or used again is kept for another week", async () => {
    const shop = await freshMerchant();
    for (const size of [70, 71]) await shop.post("/images", upload(size));
    await forgetAll(Date.now() + 25 * HOUR_MS);
    expect((await factsOf(shop)).every(({ unusedSinceMs }) => unusedSinceMs !== null)).toBe(true);
    await shop.post("/images", upload(70));
    await shop.post("/products", { name: "a", price: 1, image: imageName(png(71)) });
    await forgetAll(Date.now() + 25 * HOUR_MS + 7 * DAY_MS);
    expect(await namesOf(shop)).toEqual([imageName(png(70)), imageName(png(71))].toSorted());
  });

  it("of a deleted product stays while an invoice for the product may be open, and is removed after that", async () => {
    const shop = await freshMerchant();
    const image = `data:image/png;base64,${base64.encode(png())}`;
    const { id } = (await shop.post("/products", { name: "a", price: 1, image })).body;
    expect((await shop.delete(`/products/${id}`)).status).toBe(200);
    const deletedAt = (days: number) =>
      testDb
        .update(products)
        .set({ deletedAtMs: Date.now() - days * DAY_MS })
        .where(eq(products.id, id));
    await deletedAt(20);
    await sweptAfter(8 * DAY_MS);
    expect(await namesOf(shop)).toHaveLength(1);
    await deletedAt(40);
    await sweptAfter(8 * DAY_MS, Date.now() + 11 * DAY_MS);
    expect(await namesOf(shop)).toEqual([]);
    expect(await testDb.select({ image: products.image }).from(products).where(eq(products.id, id))).toEqual([
      { image: null },
    ]);
  });

  it("is deleted with its merchant", async () => {
    const user = await freshUser();
    const { id, name } = (await user.as.post("/api/v1/merchants", { name: "Shop" })).body;
    const path = `/api/v1/merchants/merchant/${id}`;
    expect((await user.as.post(`${path}/images`, upload(70))).status).toBe(201);
    expect((await user.as.delete(path, { name })).status).toBe(204);
    expect(await testDb.$count(images, eq(images.merchantId, id))).toBe(0);
    expect(await testDb.$count(imageFacts, eq(imageFacts.merchantId, id))).toBe(0);
  });
});

describe("a cleanup run", () => {
  /** Inserts images that were last checked `ageMs` ago, and have been unused for `unusedMs`. */
  const plant = (shop: TestMerchant, count: number, ageMs: number, unusedMs: number | null = null) => {
    const atMs = Date.now() - ageMs;
    const unusedSinceMs = unusedMs === null ? null : Date.now() - unusedMs;
    return testDb.run(sql`insert into image_facts (merchant_id, name, size, swept_at_ms, unused_since_ms)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      select ${shop.merchantId}, 'planted ' || i, 1, ${atMs}, ${unusedSinceMs} from n`);
  };
  /** Runs the job until it reports "nothing"; returns all reports. Tests empty the table first, so that runs find only their images. */
  const runsUntilNothing = async (nowMs: number): Promise<readonly string[]> => {
    const runs: string[] = [];
    while (runs.at(-1) !== "nothing" && runs.length < 10) runs.push(await forgetImages(testDb, nowMs));
    return runs;
  };
  const clear = () => testDb.delete(imageFacts);

  it("that checked 1,000 images reports that there are more, and one that checked fewer does not", async () => {
    await clear();
    const shop = await freshMerchant();
    await plant(shop, 1_001, 2 * DAY_MS);
    expect(await runsUntilNothing(Date.now())).toEqual(["more", "nothing"]);
    const unchecked = (await factsOf(shop)).filter(({ unusedSinceMs }) => unusedSinceMs === null);
    expect(unchecked).toEqual([]);
  });

  it("that deleted 100 images reports that there are more, and the last run leaves none", async () => {
    await clear();
    const shop = await freshMerchant();
    await plant(shop, 250, HOUR_MS, 8 * DAY_MS);
    expect(await runsUntilNothing(Date.now())).toEqual(["more", "more", "nothing"]);
    expect(await factsOf(shop)).toEqual([]);
  });

  it("that stays within its limits reports that nothing is left to do", async () => {
    await clear();
    const shop = await freshMerchant();
    await plant(shop, 99, HOUR_MS, 8 * DAY_MS);
    expect(await runsUntilNothing(Date.now())).toEqual(["nothing"]);
    expect(await factsOf(shop)).toEqual([]);
  });
});
