// Limits per user and per merchant, which bound the costs that a new account can cause.
import { base64 } from "@scure/base";
import { and, eq, inArray, isNull } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { imageName } from "../../../src/accounts/images/image.ts";
import type { MerchantId, UserId } from "../../../src/lib/ids.ts";
import { LIMITS, type LimitName } from "../../../src/lib/limits.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { imageFacts } from "../../../src/platform/db/schema/products.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { seedKey, seedMerchant } from "../../support/access.ts";
import { SERVER_KEY } from "../../support/api-keys.ts";
import { png } from "../../support/images.ts";
import { seedMember } from "../../support/people.ts";
import { ACCEPT, acceptById, freshTeam, freshUser, invited, tally } from "../../support/teams.ts";
import { type Answer, freshId, freshMerchant, testDb } from "../../support/worker-merchant.ts";

const MERCHANTS = "/api/v1/merchants";

function expectLimit(answer: Answer | undefined, name: LimitName): void {
  expect(answer?.body).toMatchObject({ statusCode: 422, code: "LIMIT_REACHED", name, limit: LIMITS[name] });
}

const refusedOf = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 422);

/** Creates a merchant that the user owns. */
async function seedOwned(userId: UserId): Promise<MerchantId> {
  const merchantId = await seedMerchant();
  await seedMember(merchantId, userId, "OWNER");
  return merchantId;
}

describe("a user", () => {
  it("can create at most 20 merchants a day, even in parallel requests; deleted ones count too", async () => {
    const user = await freshUser();
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) => user.as.post(MERCHANTS, { name: `Shop ${i}` })),
    );
    expect(tally(answers)).toEqual({ "201": 20, "422 LIMIT_REACHED": 4 });
    for (const answer of refusedOf(answers)) expectLimit(answer, "merchantsMadePerUserAndDay");
    const [made] = answers.filter(({ status }) => status === 201);
    const { id, name } = made?.body ?? {};
    const gone = await user.as.delete(`${MERCHANTS}/merchant/${id}`, { name });
    expect(gone.status, gone.text).toBe(204);
    // Otherwise, creating and deleting merchants could fill the storage.
    expectLimit(await user.as.post(MERCHANTS, { name: "Too many" }), "merchantsMadePerUserAndDay");
    const ids = answers.map(({ body }) => body?.id).filter((each) => typeof each === "string");
    await testDb
      .update(merchants)
      .set({ createdAtMs: Date.now() - DAY_MS - 1 })
      .where(inArray(merchants.id, ids as MerchantId[]));
    expect((await user.as.post(MERCHANTS, { name: "The next day" })).status).toBe(201);
  });

  it("may receive the ownership of any number of merchants and join any number of teams", async () => {
    const { team, owner } = await freshTeam();
    const rich = await team.join("ADMIN");
    for (let i = 0; i < 21; i++) await seedOwned(rich.userId);
    expect((await owner.as.post(`${team.path}/members/${rich.memberId}/transfer-ownership`)).status).toBe(200);
    const { team: other, owner: host } = await freshTeam();
    const { token } = await invited(other, host, rich.email, "ADMIN");
    expect((await rich.as.post(ACCEPT, { token })).status).toBe(200);
  });
});

describe("a merchant", () => {
  it("can have at most 100 keys, even in parallel requests; deleted keys do not count, and a rotated key counts once", async () => {
    const { team, owner } = await freshTeam();
    const keys = `${team.merchant}/api-keys`;
    for (let i = 0; i < 97; i++) await seedKey(team.merchantId);
    await seedKey(team.merchantId, { revokedAtMs: 1 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => owner.as.post(keys, SERVER_KEY)));
    expect(tally(answers)).toEqual({ "201": 3, "422 LIMIT_REACHED": 3 });
    for (const answer of refusedOf(answers)) expectLimit(answer, "keysPerMerchant");
    const live = and(eq(apiKeys.merchantId, team.merchantId), isNull(apiKeys.revokedAtMs));
    expect(await testDb.$count(apiKeys, live)).toBe(100);
    const made = answers.find(({ status }) => status === 201)?.body;
    expect((await owner.as.post(`${keys}/${made.id}/rotate`, { overlapHours: 1 })).status).toBe(200);
    expect((await owner.as.delete(`${keys}/${made.id}`)).status).toBe(204);
    expect((await owner.as.post(keys, SERVER_KEY)).status).toBe(201);
    expectLimit(await owner.as.post(keys, SERVER_KEY), "keysPerMerchant");
  });

  it("can gain at most 500 new members a day, whether they accept by token or by id, and can still send invitations", async () => {
    const { team, owner } = await freshTeam();
    const guests = await Promise.all([freshUser(), freshUser(), freshUser()]);
    const offers: { id: string; token: string }[] = [];
    for (const { email } of guests) offers.push(await invited(team, owner, email, "VIEWER"));
    const nowMs = Date.now();
    const seats = Array.from({ length: 498 }, () => ({
      id: freshId("mem"),
      merchantId: team.merchantId,
      userId: freshId("usr"),
      role: "VIEWER" as const,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }));
    for (let at = 0; at < seats.length; at += 16) await testDb.insert(members).values(seats.slice(at, at + 16));
    const answers = await Promise.all(
      guests.map(({ as }, i) =>
        i === 0 ? as.post(acceptById(offers[i]?.id ?? "")) : as.post(ACCEPT, { token: offers[i]?.token }),
      ),
    );
    expect(tally(answers)).toEqual({ "200": 1, "422 LIMIT_REACHED": 2 });
    for (const answer of refusedOf(answers)) expectLimit(answer, "membersJoinedPerMerchantAndDay");
    expect(await testDb.$count(members, eq(members.merchantId, team.merchantId))).toBe(500);
    await invited(team, owner, `${freshId("usr").toLowerCase()}@example.com`, "VIEWER");
    await testDb
      .update(members)
      .set({ createdAtMs: nowMs - DAY_MS - 1 })
      .where(eq(members.id, seats[0]?.id ?? "mem_"));
    // Members who joined more than a day ago do not count, because the size of a team is not limited.
    const late = answers.findIndex(({ status }) => status === 422);
    expect((await guests[late]?.as.post(acceptById(offers[late]?.id ?? "")))?.status).toBe(200);
  });
});

describe("a merchant's images", () => {
  const upload = (size: number) => ({ contentType: "image/png", data: base64.encode(png(size)) });
  const dataUrl = (size: number) => `data:image/png;base64,${base64.encode(png(size))}`;
  async function seedImages(merchantId: MerchantId, count: number, size = 1) {
    const rows = Array.from({ length: count }, () => ({
      merchantId,
      name: freshId("aud"),
      size,
      sweptAtMs: Date.now(),
    }));
    for (let at = 0; at < rows.length; at += 16) await testDb.insert(imageFacts).values(rows.slice(at, at + 16));
  }

  it("are limited to 200, no matter how they are uploaded, even in parallel; uploading a stored image again adds none", async () => {
    const shop = await freshMerchant();
    await shop.post("/images", upload(70));
    const product = (await shop.post("/products", { name: "Coffee", price: 1 })).body;
    await seedImages(shop.merchantId, 196);
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => shop.post("/images", upload(100 + i))));
    expect(tally(answers)).toEqual({ "201": 3, "422 LIMIT_REACHED": 3 });
    for (const answer of refusedOf(answers)) expectLimit(answer, "imagesPerMerchant");
    expectLimit(await shop.post("/products", { name: "a", price: 1, image: dataUrl(200) }), "imagesPerMerchant");
    expectLimit(await shop.patch(`/products/${product.id}`, { image: dataUrl(201) }), "imagesPerMerchant");
    expect(await testDb.$count(imageFacts, eq(imageFacts.merchantId, shop.merchantId))).toBe(200);
    expect((await shop.post("/images", upload(70))).status).toBe(201);
    expect((await shop.post("/products", { name: "a", price: 1, image: dataUrl(70) })).status).toBe(201);
    expect((await shop.patch(`/products/${product.id}`, { image: imageName(png(70)) })).status).toBe(200);
  });

  it("take up at most 20 MB in total", async () => {
    const shop = await freshMerchant();
    await seedImages(shop.merchantId, 1, LIMITS.imageBytesPerMerchant - 300);
    expect((await shop.post("/images", upload(100))).status).toBe(201);
    expectLimit(await shop.post("/images", upload(201)), "imageBytesPerMerchant");
    expectLimit(await shop.post("/products", { name: "a", price: 1, image: dataUrl(202) }), "imageBytesPerMerchant");
    expect((await shop.post("/images", upload(200))).status).toBe(201);
  });
});
