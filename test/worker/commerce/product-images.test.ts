import { env } from "cloudflare:workers";
import { base64 } from "@scure/base";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { imageName } from "../../../src/accounts/images/image.ts";
import { createProduct } from "../../../src/commerce/products/create-product.ts";
import { productDependencies } from "../../../src/commerce/products/dependencies.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { images, products } from "../../../src/platform/db/schema/products.ts";
import type { Resolution } from "../../../src/platform/resolver/host-resolver-client.ts";
import { send } from "../../support/access.ts";
import { jpeg, png, webp } from "../../support/images.ts";
import { type Answer, freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { made, ORIGIN } from "./products-harness.ts";

describe("a product's image", () => {
  const dataUrl = (bytes: Uint8Array, type: string) => `data:${type};base64,${base64.encode(bytes)}`;
  const urlOf = (shop: TestMerchant, bytes: Uint8Array) => `${ORIGIN}/images/${shop.merchantId}/${imageName(bytes)}`;

  it.each([
    ["image/png", png],
    ["image/jpeg", jpeg],
    ["image/webp", webp],
  ] as const)("of %s in the request is stored and served from our origin", async (type, make) => {
    const shop = await freshMerchant();
    const { image } = await made(shop, { image: dataUrl(make(32_768), type) });
    expect(image).toBe(urlOf(shop, make(32_768)));
    const served = await send(image.slice(ORIGIN.length));
    expect([served.status, served.headers.get("content-type")]).toEqual([200, type]);
  });

  it("can be set by its name or its URL, is kept by other changes, and is removed by null", async () => {
    const shop = await freshMerchant();
    await shop.post("/images", { contentType: "image/png", data: base64.encode(png()) });
    const byName = await made(shop, { image: imageName(png()) });
    expect(byName.image).toBe(urlOf(shop, png()));
    const other = await made(shop, { image: byName.image });
    expect(other.image).toBe(byName.image);
    expect((await shop.patch(`/products/${other.id}`, { ...pick(other), name: "Tea" })).body.image).toBe(other.image);
    expect((await shop.patch(`/products/${other.id}`, { price: 3 })).body.image).toBe(other.image);
    expect((await shop.patch(`/products/${other.id}`, { image: null })).body.image).toBeNull();
    expect((await shop.patch(`/products/${other.id}`, { image: dataUrl(jpeg(), "image/jpeg") })).body.image).toBe(
      urlOf(shop, jpeg()),
    );
  });

  const pick = ({ name, price, image }: Answer["body"]) => ({ name, price: Number(price), image });

  it("of another merchant is not found", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    await other.post("/images", { contentType: "image/png", data: base64.encode(png()) });
    const answer = await shop.post("/products", { name: "a", price: 1, image: imageName(png()) });
    expect([answer.status, answer.body.code]).toEqual([404, "IMAGE_NOT_FOUND"]);
    const theirs = await shop.post("/products", { name: "a", price: 1, image: urlOf(other, png()) });
    expect([theirs.status, theirs.body.code]).toEqual([400, "IMAGE_REFUSED"]);
  });

  it.each([
    ["a JPEG declared as a PNG", dataUrl(jpeg(), "image/png")],
    ["an image one byte over 32 KB", dataUrl(png(32_769), "image/png")],
    ["an SVG", dataUrl(new TextEncoder().encode("<svg/>"), "image/svg+xml")],
    ["a data URL that is not base64", "data:image/png,abc"],
    ["a loopback address", "https://127.0.0.1/a.png"],
    ["a plain http URL", "http://pictures.example/a.png"],
    ["text that is not a URL", "a picture of coffee"],
  ])("is refused with a reason, and no product is created: %s", async (_, image) => {
    const shop = await freshMerchant();
    const answer = await shop.post("/products", { name: "Coffee", price: 1, image });
    expect([answer.status, answer.body.code], answer.text).toEqual([400, "IMAGE_REFUSED"]);
    expect(answer.body.message).toMatch(/^The image was refused: \w+/);
    expect(await testDb.$count(products, eq(products.merchantId, shop.merchantId))).toBe(0);
    expect(await testDb.$count(images, eq(images.merchantId, shop.merchantId))).toBe(0);
  });

  describe("at an https address", () => {
    /** Creates a product while all other hosts answer with `answer`. */
    async function created(
      shop: TestMerchant,
      answer: () => Response | Promise<Response>,
      resolution: Resolution = { kind: "public", addresses: ["203.0.113.7"] },
    ) {
      const resolved: string[] = [];
      const asked: string[] = [];
      const background = () => {};
      const sleep = async () => {};
      const deps = {
        ...productDependencies(env, { db: testDb, nowMs: Date.now(), sleep, background }),
        resolve: async (host: string) => {
          resolved.push(host);
          return resolution;
        },
        fetch: async (url: string, init: RequestInit) => {
          asked.push(url);
          expect([init.redirect, new Headers(init.headers).get("cookie")]).toEqual(["manual", null]);
          return answer();
        },
      };
      const work = createProduct(deps, {
        merchantId: shop.merchantId,
        trail: { actor: { kind: "SYSTEM", id: null }, ip: null, requestId: null },
        wanted: {
          name: "Coffee",
          priceMicros: 1n,
          currency: "USD",
          image: "https://pictures.example/a.png#top",
          isActive: true,
          askForName: false,
          askForAddress: false,
          askForPhoneNumber: false,
        },
        isImageThere: false,
        seat: undefined,
        permission: "product:create",
      });
      const prepared = await work(freshId("prd").slice(4), undefined, 0);
      if (prepared.kind === "ready") {
        const [first, ...more] = prepared.statements;
        if (first !== undefined) await commit(testDb, [first, ...more]);
      }
      expect(resolved).toEqual(["pictures.example"]);
      return { prepared, asked };
    }

    it("is fetched once, without the fragment, and served from our origin afterwards", async () => {
      const shop = await freshMerchant();
      const { prepared, asked } = await created(
        shop,
        () => new Response(png(), { headers: { "content-type": "x/y" } }),
      );
      expect(asked).toEqual(["https://pictures.example/a.png"]);
      expect(prepared).toMatchObject({ kind: "ready", status: 201 });
      const product = (await shop.get("/products")).body.data[0];
      expect([product.image, product.signedImage]).toEqual([urlOf(shop, png()), urlOf(shop, png())]);
      expect((await send(product.image.slice(ORIGIN.length))).headers.get("content-type")).toBe("image/png");
    });

    it.each([
      ["that redirects", () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1/" } })],
      ["that is not found", () => new Response("no", { status: 404 })],
      ["that returns a page", () => new Response("<html></html>")],
      ["that is too large", () => new Response(png(32_769))],
      ["that does not answer", () => Promise.reject(new Error("connection refused"))],
    ] as const)("%s is refused", async (_, answer) => {
      const { prepared } = await created(await freshMerchant(), answer);
      expect(prepared).toMatchObject({ kind: "refused", failure: { code: "IMAGE_REFUSED" } });
    });

    it.each([
      { kind: "refused", why: "the host resolves to 10.0.0.1, which is not a public address" },
      { kind: "unknown", why: "the host could not be resolved (TIMEOUT)" },
    ] as const)("whose host the resolver reports as $kind is refused without a request", async (resolution) => {
      const { prepared, asked } = await created(await freshMerchant(), () => new Response(png()), resolution);
      expect(prepared).toMatchObject({ kind: "refused", failure: { code: "IMAGE_REFUSED", reason: resolution.why } });
      expect(asked).toEqual([]);
    });
  });
});
