// The page of a product (GET and POST /buy/{productId}): what it shows, what it asks for, and the single invoice that a form creates.
import { base64 } from "@scure/base";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { send } from "../../support/access.ts";
import { png } from "../../support/images.ts";
import { directWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, testDb } from "../../support/worker-merchant.ts";
import {
  bought,
  customersOf,
  type Fields,
  invoicesOf,
  made,
  openShop,
  post,
  show,
  tokenOf,
} from "./storefront-harness.ts";

const asked = (html: string) => [...html.matchAll(/<(?:input|textarea)[^>]* name="(\w+)"/g)].map(([, name]) => name);

const inputOf = (html: string, name: string) =>
  new RegExp(`<(?:input|textarea)[^>]* name="${name}"[^>]*>`).exec(html)?.[0] ?? "";

describe("a product's page", () => {
  it("shows the product, its seller, its price, and its image from our own origin", async () => {
    const { shop, product } = await openShop({
      name: "Coffee, 1 kg",
      description: "Whole beans",
      image: `data:image/png;base64,${base64.encode(png())}`,
    });
    await shop.patch("/settings", { brand: { name: "Bean & Co" } });
    const page = await show(product.id);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    for (const text of ["Coffee, 1 kg", "Whole beans", "$19.50", "Bean &amp; Co", 'method="post"'])
      expect(page.text).toContain(text);
    expect(page.text).toMatch(new RegExp(`<img[^>]* src="/images/${shop.merchantId}/[0-9a-f]{64}"`));
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
  });

  it("creates nothing when it is only opened, as by link previews and mail scanners", async () => {
    const { shop, product } = await openShop();
    const tokens = await Promise.all([1, 2, 3].map(async () => tokenOf((await show(product.id)).text)));
    expect(new Set(tokens).size).toBe(3);
    expect([await invoicesOf(shop), await customersOf(shop)]).toEqual([0, 0]);
  });

  it("may be framed only by the origins that the merchant names", async () => {
    const { shop, product } = await openShop();
    await shop.patch("/settings", { frameAncestors: ["https://shop.example"] });
    const page = await show(product.id);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors https://shop.example");
  });

  it.each([
    ["an unknown product", freshId("prd")],
    ["a malformed id", "coffee"],
  ])("of %s is a 404 page", async (_, id) => {
    for (const page of [await show(id), await post(id, {})]) {
      expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
      expect(page.text).toContain("There is no such page");
    }
  });

  it("is 404 once its product or its merchant is deleted", async () => {
    const first = await openShop();
    await first.shop.delete(`/products/${first.product.id}`);
    const second = await openShop();
    await testDb.update(merchants).set({ deletedAtMs: Date.now() }).where(eq(merchants.id, second.shop.merchantId));
    for (const { shop, product } of [first, second]) {
      expect((await show(product.id)).status).toBe(404);
      expect((await post(product.id, {})).status).toBe(404);
      expect(await invoicesOf(shop)).toBe(0);
    }
  });

  it("of an inactive product is 410, says it is not for sale, and creates no invoice", async () => {
    const { shop, product } = await openShop({ isActive: false });
    for (const page of [await show(product.id), await post(product.id, {})]) {
      expect(page.status).toBe(410);
      expect(page.text).toContain("This is not for sale at the moment.");
    }
    expect(await invoicesOf(shop)).toBe(0);
  });

  it("shows hostile names as text, without control and bidi characters", async () => {
    const { product } = await openShop({
      name: `<script>alert(1)</script>\u202e"onload='x'`,
      description: "</main><img src=x onerror=alert(1)>\u0007",
    });
    const { text } = await show(product.id);
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(text).toContain("&lt;/main&gt;&lt;img src=x onerror=alert(1)&gt;");
    for (const hostile of ["<script>alert", "<img src=x", "\u202e", "\u0007"]) expect(text).not.toContain(hostile);
  });

  it.each([
    ["?lang=de", {}, "de", "19,50\u00a0$", "Weiter"],
    ["", { "accept-language": "ar" }, "ar", "US$", ""],
    ["?lang=xx", { "accept-language": "fr;q=0.9, en;q=0.1" }, "fr", "19,50\u00a0$", ""],
  ])("with query %j and headers %j is in %s", async (query, headers, language, price, text) => {
    const { product } = await openShop();
    const page = await show(product.id, query, headers);
    expect(page.text).toContain(`<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}"`);
    for (const each of [price, text]) expect(page.text).toContain(each);
  });

  it("keeps the language of its URL through the form to the invoice", async () => {
    const { product } = await openShop();
    const page = await show(product.id, "?lang=de");
    expect(page.text).toContain(`action="/buy/${product.id}?sent=1&amp;lang=de"`);
    const answer = await post(product.id, { token: tokenOf(page.text) }, { query: "?lang=de" });
    expect(answer.headers.get("location")).toMatch(/^\/pay\/inv_[0-9A-Z]{26}\?lang=de$/);
    const refused = await post(product.id, { email: "no" }, { query: "?lang=de" });
    expect([refused.status, refused.text.includes('<html lang="de"')]).toEqual([400, true]);
  });
});

describe("the form", () => {
  it.each([
    ["an email only", {}, ["token", "email"]],
    ["a name", { askForName: true }, ["token", "name", "email"]],
    ["an address", { askForAddress: true }, ["token", "email", "address"]],
    ["a phone number", { askForPhoneNumber: true }, ["token", "email", "phone"]],
    ["an amount", { price: 0 }, ["token", "amount", "email"]],
  ])("asks for the fields that the product is set to collect: %s", async (_, fields, names) => {
    const { product } = await openShop(fields);
    const { text } = await show(product.id);
    expect(asked(text)).toEqual(names);
    for (const name of ["name", "address", "phone"].filter((each) => names.includes(each)))
      expect(inputOf(text, name)).toMatch(/ required/);
    expect(inputOf(text, "email")).not.toMatch(/ required/);
  });

  it("is shown again with errors next to the fields, the values that were typed, and focus on the first error", async () => {
    const { shop, product } = await openShop({ askForName: true, askForAddress: true, askForPhoneNumber: true });
    const typed = { name: " ", email: "jane", address: '1 "Main" St', phone: "1".repeat(51) };
    const token = tokenOf((await show(product.id)).text);
    const page = await post(product.id, { ...typed, token });
    expect(page.status).toBe(400);
    expect(page.text).toContain("This field is required.");
    expect(page.text).toContain("Write it like name@example.com.");
    expect(page.text).toContain("This is too long. Please shorten it.");
    expect(inputOf(page.text, "name")).toMatch(/ aria-invalid="true"/);
    expect(inputOf(page.text, "name")).toMatch(/ autofocus/);
    expect(inputOf(page.text, "email")).toContain(' value="jane"');
    expect(inputOf(page.text, "email")).toMatch(/ aria-describedby="[^"]*email-error"/);
    expect(inputOf(page.text, "address")).not.toMatch(/aria-invalid|autofocus/);
    expect(page.text).toContain("1 &quot;Main&quot; St</textarea>");
    expect(tokenOf(page.text)).toBe(token);
    expect(await invoicesOf(shop)).toBe(0);
  });

  it("refuses other content types, and a private key without showing it", async () => {
    const { product } = await openShop({ askForName: true });
    const json = await send(`/buy/${product.id}`, { method: "POST", body: { name: "Jane" } });
    expect(json.status).toBeGreaterThanOrEqual(400);
    const key = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ";
    const page = await post(product.id, { name: key });
    expect([page.status, page.text.includes(key)]).toEqual([400, false]);
  });
});

describe("an invoice created through the form", () => {
  it("has the product's terms and an active method, and is audited as a system action", async () => {
    const { shop, product } = await openShop({ currency: "EUR" });
    const invoice = await bought(shop, product.id);
    expect(invoice).toMatchObject({
      name: "Coffee",
      rawAmount: "19.500000",
      currency: "EUR",
      product: { id: product.id },
      customer: null,
      metadata: null,
      paymentMethods: [{ cryptocurrency: "BTC", status: "ACTIVE" }],
    });
    const [entry] = await testDb.select().from(auditEvents).where(eq(auditEvents.target, invoice.id));
    expect(entry).toMatchObject({ action: "invoice.created", actorKind: "SYSTEM", actorId: null });
  });

  it("is not created again when the buyer goes back, because browsers may cache the form page with its token, but not the error page", async () => {
    const { product } = await openShop();
    const page = await show(product.id);
    expect(page.headers.get("cache-control")).toBe("private, no-cache");
    // A form that is sent to the page's own URL would make browsers remove the page from their cache.
    expect(page.text).toContain(`action="/buy/${product.id}?sent=1"`);
    expect((await post(product.id, { email: "no" })).headers.get("cache-control")).toBe("no-store");
  });

  it("is created once for each rendered form, however often the form is sent, even at the same time", async () => {
    const { shop, product } = await openShop({ askForName: true });
    const token = tokenOf((await show(product.id)).text);
    const form = { token, name: "Jane", email: "jane@example.com" };
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(product.id, form)));
    const later = await post(product.id, form);
    expect(new Set([...answers, later].map(({ status, headers }) => `${status} ${headers.get("location")}`)).size).toBe(
      1,
    );
    expect(later.status).toBe(303);
    expect([await invoicesOf(shop), await customersOf(shop)]).toEqual([1, 1]);
  });

  it("is a new one if the form is rendered again, its values differ, or its token is used for another product", async () => {
    const { shop, product } = await openShop({ askForName: true });
    const other = await made(shop, { askForName: true });
    const token = tokenOf((await show(product.id)).text);
    const ways: readonly (readonly [string, Fields])[] = [
      [product.id, { token, name: "Jane" }],
      [product.id, { token, name: "Janet" }],
      [product.id, { token: tokenOf((await show(product.id)).text), name: "Jane" }],
      [other.id, { token, name: "Jane" }],
      [product.id, { name: "Jane" }],
      [product.id, { name: "Jane", token: "x" }],
    ];
    const places = await Promise.all(ways.map(async ([id, form]) => (await post(id, form)).headers.get("location")));
    expect(new Set(places).size).toBe(ways.length);
  });

  it("is not confused with a server's invoice under the same Idempotency-Key", async () => {
    const { shop, product } = await openShop();
    const token = tokenOf((await show(product.id)).text);
    const byServer = await shop.post("/invoices", { productId: product.id }, { "idempotency-key": token });
    expect(byServer.status).toBe(201);
    const answer = await post(product.id, { token });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).not.toContain(byServer.body.id);
  });

  it.each([
    ["12.5", "12.500000"],
    ["12,50", "12.500000"],
    ["1,234", "1234.000000"],
    ["1,234.50", "1234.500000"],
    ["1.234,50", "1234.500000"],
    ["", "0.000000"],
  ])("for a product without a price has the typed amount: %j", async (amount, rawAmount) => {
    const { shop, product } = await openShop({ price: 0 });
    expect(await bought(shop, product.id, { amount })).toMatchObject({ rawAmount });
  });

  it("is not created for an amount that can be read in two ways: the page shows both", async () => {
    const { shop, product } = await openShop({ price: 0, currency: "EUR" });
    const page = await post(product.id, { amount: "1.234" });
    expect(page.status).toBe(400);
    expect(page.text).toContain("€1.234 or €1,234.00? Write a number from 0 to 1,000,000, such as 1.23 or 1234.");
    expect(await invoicesOf(shop)).toBe(0);
  });

  it("costs the product's price, whatever amount is sent", async () => {
    const { shop, product } = await openShop();
    expect(await bought(shop, product.id, { amount: "0.01" })).toMatchObject({ rawAmount: "19.500000" });
  });

  it("is not created without an amount if the address is shared: the form asks for the amount", async () => {
    const shop = await freshMerchant();
    expect((await shop.post("/wallets", directWallet())).status).toBe(201);
    const product = await made(shop, { price: 0 });
    const page = await post(product.id, {});
    expect([page.status, page.text.includes("This field is required.")]).toEqual([400, true]);
    expect(inputOf(page.text, "amount")).toContain('aria-invalid="true"');
    expect(await invoicesOf(shop)).toBe(0);
    expect(await bought(shop, product.id, { amount: "5" })).toMatchObject({ paymentMethods: [{ status: "ACTIVE" }] });
  });
});
