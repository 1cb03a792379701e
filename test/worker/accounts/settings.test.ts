// A merchant's settings: who may change them, that parallel changes are all applied, and that no existing invoice changes (decisions 4).
import { base64 } from "@scure/base";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { settingsBody } from "../../../src/accounts/merchants/contract.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { expectRefusal, seedMerchant, send } from "../../support/access.ts";
import { expectDocumented } from "../../support/documented.ts";
import { png } from "../../support/images.ts";
import { seedMember, seedUser } from "../../support/people.ts";
import { type Answer, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const CHANGE = {
  invoiceLifetimeSeconds: 900,
  rateLockSeconds: 600,
  underpaidTolerancePercent: 2.5,
  underpaidToleranceMax: 7.25,
  overpaidTolerancePercent: 0,
  monitorSeconds: 3_600,
  latePaymentPolicy: "ACCEPT",
  lateGraceSeconds: 1_200,
  quorumAboveAmount: "2500",
  maxActiveInvoices: 3,
  maxPublicInvoices: 7,
  mailReceiptsToCustomers: false,
  mailReceiptsToMerchant: true,
  brand: { name: "Corner", color: "#aabbcc", supportUrl: "https://shop.example/help" },
  frameAncestors: ["https://shop.example"],
  formerStoreId: "CoffeeStore1",
};
const SHOWN = {
  ...CHANGE,
  underpaidToleranceMax: "7.250000",
  quorumAboveAmount: "2500.000000",
  brand: { ...CHANGE.brand, logo: null, logoUrl: null },
  walletChangeDelayHours: 0,
  pendingWalletChangeDelay: null,
  warnings: ["QUORUM_IGNORED"],
};

async function patched(shop: TestMerchant, body: object): Promise<Answer["body"]> {
  const answer = await shop.patch("/settings", body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const entriesOf = async (shop: TestMerchant) => {
  const rows = await testDb.select().from(auditEvents).where(eq(auditEvents.merchantId, shop.merchantId));
  return rows.filter(({ action }) => action === "settings.updated");
};

describe("settings", () => {
  it("are returned as they were set, and read back the same", async () => {
    const shop = await freshMerchant();
    const { updatedAt, ...changed } = await patched(shop, CHANGE);
    expectDocumented(settingsBody, { ...changed, updatedAt });
    expect(changed).toEqual(SHOWN);
    expect((await shop.get("/settings")).body).toEqual({ ...SHOWN, updatedAt });
  });

  it("that change are recorded in the audit log with their old and new values and who changed them", async () => {
    const shop = await freshMerchant();
    await patched(shop, {
      rateLockSeconds: 600,
      monitorSeconds: 86_400,
      brand: { color: "#aabbcc" },
      mailReceiptsToCustomers: true,
      mailReceiptsToMerchant: true,
    });
    const [entry, ...more] = await entriesOf(shop);
    expect(more).toEqual([]);
    expect([entry?.actorKind, entry?.target]).toEqual(["API_KEY", shop.merchantId]);
    expect(JSON.parse(entry?.before ?? "")).toEqual({
      rateLockSeconds: 3_600,
      "brand.color": null,
      mailReceiptsToMerchant: false,
    });
    expect(JSON.parse(entry?.after ?? "")).toEqual({
      rateLockSeconds: 600,
      "brand.color": "#aabbcc",
      mailReceiptsToMerchant: true,
    });
  });

  it("write nothing when nothing changes", async () => {
    const shop = await freshMerchant();
    const before = (await shop.get("/settings")).body;
    expect(await patched(shop, { rateLockSeconds: 3_600, brand: null, underpaidToleranceMax: 5 })).toEqual(before);
    expect(await entriesOf(shop)).toEqual([]);
  });

  it("do not change an existing invoice; only later invoices use them", async () => {
    const shop = await freshMerchant();
    const create = async () => {
      const answer = await shop.post("/invoices", { name: "Order", rawAmount: 1_000 });
      expect(answer.status, answer.text).toBe(201);
      const [row] = await testDb.select().from(invoices).where(eq(invoices.id, answer.body.id));
      if (row === undefined) throw new Error("no invoice");
      return row;
    };
    const before = await create();
    await patched(shop, CHANGE);
    const [same] = await testDb.select().from(invoices).where(eq(invoices.id, before.id));
    expect(same).toEqual(before);
    expect(before.lateGraceUntilMs).toBeNull();
    expect(before).toMatchObject({ underpaidToleranceMicros: 5_000_000n, overpaidToleranceMicros: 50_000_000n });
    const after = await create();
    expect(after).toMatchObject({
      underpaidToleranceMicros: 7_250_000n,
      overpaidToleranceMicros: 0n,
      latePaymentPolicy: "ACCEPT",
      rateLockSeconds: 600,
      monitorSeconds: 3_600,
      expiresAtMs: after.createdAtMs + 900_000,
      lateGraceUntilMs: after.expiresAtMs + 1_200_000,
    });
    await patched(shop, { lateGraceSeconds: 3_601, maxActiveInvoices: 10 });
    const longest = await create();
    expect(longest.lateGraceUntilMs).toBe(longest.monitorUntilMs);
    await patched(shop, { lateGraceSeconds: 0 });
    expect((await create()).lateGraceUntilMs).toBeNull();
    expect((await shop.get(`/invoices/${before.id}`)).body.expiresAt).toBe(new Date(before.expiresAtMs).toISOString());
  });

  it.each([
    ["USD", 1_000, 5_000_000n],
    ["JPY", 1_000, 5_000_000n],
    ["BTC", 1_000, 5_000_000n],
    ["BTC", 1, 10_000n],
  ])("limit the forgiven shortfall in each invoice's currency: %s %d", async (currency, rawAmount, most) => {
    const shop = await freshMerchant();
    const { status, body } = await shop.post("/invoices", { name: "Order", rawAmount, currency, paymentMethods: [] });
    expect(status).toBe(201);
    const [row] = await testDb.select().from(invoices).where(eq(invoices.id, body.id));
    expect(row?.underpaidToleranceMicros).toBe(most);
  });

  it("keep all four parallel changes to separate columns and to parts of the brand", async () => {
    const shop = await freshMerchant();
    for (let round = 1; round <= 5; round++) {
      const changes = [
        { rateLockSeconds: 60 + round },
        { monitorSeconds: 60 + round },
        { brand: { name: `Shop ${round}` } },
        { brand: { color: `#0000${String(round).padStart(2, "0")}` } },
      ];
      const answers = await Promise.all(changes.map((change) => shop.patch("/settings", change)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const all = {
        rateLockSeconds: 60 + round,
        monitorSeconds: 60 + round,
        brand: { name: `Shop ${round}`, color: `#0000${String(round).padStart(2, "0")}` },
      };
      expect((await shop.get("/settings")).body).toMatchObject(all);
      // The answer to the last request has all four changes.
      expect(
        answers.filter(
          ({ body }) =>
            body.brand.name === all.brand.name &&
            body.brand.color === all.brand.color &&
            body.rateLockSeconds === all.rateLockSeconds &&
            body.monitorSeconds === all.monitorSeconds,
        ),
      ).not.toEqual([]);
    }
    expect(await entriesOf(shop)).toHaveLength(20);
  });

  it("accept only one of the merchant's own images as the logo", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const image = { contentType: "image/png", data: base64.encode(png()) };
    const { name: logo, url } = (await other.post("/images", image)).body;
    const refused = await shop.patch("/settings", { brand: { logo } });
    expect([refused.status, refused.body.code]).toEqual([404, "IMAGE_NOT_FOUND"]);
    expect((await other.patch("/settings", { brand: { logo } })).body.brand).toMatchObject({ logo, logoUrl: url });
    expect((await send(url.replace("http://localhost:8787", ""))).status).toBe(200);
    expect((await other.patch("/settings", { brand: { logo: null } })).body.brand.logo).toBeNull();
  });

  it.each([
    ["OWNER", 200],
    ["ADMIN", 200],
    ["MEMBER", 403],
    ["VIEWER", 403],
  ] as const)("can be read by every member; a change by %s is answered with %i", async (role, status) => {
    const merchantId = await seedMerchant();
    const { userId, headers } = await seedUser();
    await seedMember(merchantId, userId, role);
    const path = `/api/v1/merchants/merchant/${merchantId}/settings`;
    expect((await send(path, { headers })).status).toBe(200);
    const answer = await send(path, { method: "PATCH", headers, body: { rateLockSeconds: 60 } });
    expect(answer.status, answer.text).toBe(status);
    if (status === 403) expect(expectRefusal(answer, 403, "PERMISSION_DENIED").permission).toBe("merchant:update");
  });

  it("are refused with the path of every invalid field", async () => {
    const shop = await freshMerchant();
    const { body } = await shop.patch("/settings", {
      underpaidTolerancePercent: 10.5,
      brand: { color: "red", slogan: "x" },
      frameAncestors: ["https://shop.example;script-src *"],
    });
    const paths = body.details.map(({ path }: { path: string }) => path).toSorted();
    expect(paths).toEqual(["brand.color", "brand.slogan", "frameAncestors.0", "underpaidTolerancePercent"]);
  });
});
