// Logos: small images whose bytes are checked, served from our origin so that our pages load none from another site (security.md 4).
import { exports } from "cloudflare:workers";
import { base64 } from "@scure/base";
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { imageName } from "../../../src/accounts/images/image.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { images } from "../../../src/platform/db/schema/products.ts";
import { type Ask, expectRefusal, seedKey, seedMerchant, send } from "../../support/access.ts";
import { jpeg, png, webp } from "../../support/images.ts";
import { seedMember, seedUser } from "../../support/people.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const ORIGIN = "http://localhost:8787";
const bodyOf = (bytes: Uint8Array, contentType: string) => ({ contentType, data: base64.encode(bytes) });
const KINDS = [
  ["image/png", png],
  ["image/jpeg", jpeg],
  ["image/webp", webp],
] as const;

async function upload(merchantId: string, ask: Ask) {
  return send(`/api/v1/merchants/merchant/${merchantId}/images`, { method: "POST", ...ask });
}

describe("an uploaded image", () => {
  it.each(KINDS)(
    "of type %s is served with that type, byte for byte, to anyone, and may be cached forever",
    async (type, make) => {
      const merchantId = await seedMerchant();
      const bytes = make(32_768);
      const made = await upload(merchantId, { key: await seedKey(merchantId), body: bodyOf(bytes, type) });
      const name = imageName(bytes);
      expect([made.status, made.json], made.text).toEqual([
        201,
        { name, url: `${ORIGIN}/images/${merchantId}/${name}`, contentType: type },
      ]);
      const served = await exports.default.fetch(new Request(`${ORIGIN}/images/${merchantId}/${name}`));
      expect(served.status).toBe(200);
      expect(new Uint8Array(await served.arrayBuffer())).toEqual(bytes);
      expect(Object.fromEntries(served.headers)).toMatchObject({
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      });
    },
  );

  it("is stored as one row, however often it is uploaded, with an audit entry for each upload", async () => {
    const merchantId = await seedMerchant();
    const key = await seedKey(merchantId);
    const body = bodyOf(png(), "image/png");
    const made = await Promise.all(Array.from({ length: 6 }, () => upload(merchantId, { key, body })));
    expect(new Set(made.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await testDb.$count(images, eq(images.merchantId, merchantId))).toBe(1);
    const entries = await testDb
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.merchantId, merchantId), eq(auditEvents.action, "image.uploaded")));
    expect(entries.map(({ target }) => target)).toEqual(new Array(6).fill(imageName(png())));
    expect(entries.map(({ after }) => JSON.parse(after ?? ""))).toEqual(
      new Array(6).fill({ contentType: "image/png", size: 70 }),
    );
  });

  it("that is sent again under the same Idempotency-Key gets the same response and no second audit entry", async () => {
    const shop = await freshMerchant();
    const headers = { "idempotency-key": "logo" };
    const body = bodyOf(png(), "image/png");
    const answers = [await shop.post("/images", body, headers), await shop.post("/images", body, headers)];
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await testDb.$count(auditEvents, eq(auditEvents.merchantId, shop.merchantId))).toBe(1);
  });

  it("is not served under another merchant, another name or an invalid path", async () => {
    const [merchantId, other] = [await seedMerchant(), await seedMerchant()];
    await upload(merchantId, { key: await seedKey(merchantId), body: bodyOf(png(), "image/png") });
    const name = imageName(png());
    for (const path of [`${other}/${name}`, `${merchantId}/${"0".repeat(64)}`, `${merchantId}/x`, `x/${name}`]) {
      expectRefusal(await send(`/images/${path}`), 404, "IMAGE_NOT_FOUND");
    }
  });
});

describe("an upload that is not a valid image", () => {
  it.each([
    ["an SVG", bodyOf(new TextEncoder().encode("<svg onload='alert(1)'/>"), "image/svg+xml")],
    ["an SVG declared as a PNG", bodyOf(new TextEncoder().encode("<svg onload='alert(1)'/>"), "image/png")],
    ["a JPEG declared as a PNG", bodyOf(jpeg(), "image/png")],
    ["a PNG declared as an SVG", bodyOf(png(), "image/svg+xml")],
    ["an image one byte over 32 KB", bodyOf(png(32_769), "image/png")],
    ["no bytes", bodyOf(new Uint8Array(), "image/png")],
    ["text that is not base64", { contentType: "image/png", data: "<svg/>" }],
    ["truncated base64", { contentType: "image/png", data: base64.encode(png()).slice(0, -1) }],
  ])("is refused: %s", async (_, body) => {
    const shop = await freshMerchant();
    const answer = await shop.post("/images", body);
    expect([answer.status, answer.body.code], answer.text).toEqual([400, "IMAGE_REFUSED"]);
    expect(await testDb.$count(images, eq(images.merchantId, shop.merchantId))).toBe(0);
  });
});

describe("uploading an image", () => {
  it.each([
    ["OWNER", 201],
    ["ADMIN", 201],
    ["MEMBER", 403],
    ["VIEWER", 403],
  ] as const)("as %s is answered with %i", async (role, status) => {
    const merchantId = await seedMerchant();
    const { userId, headers } = await seedUser();
    await seedMember(merchantId, userId, role);
    const answer = await upload(merchantId, { headers, body: bodyOf(webp(), "image/webp") });
    expect(answer.status, answer.text).toBe(status);
  });
});
