// The page of a product (GET and POST /buy/{productId}): what it shows, what it asks, and the one invoice that a form makes.
import { exports } from "cloudflare:workers";
import { base64 } from "@scure/base";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { requestOf, send, sendWith } from "../../support/access.ts";
import { png } from "../../support/images.ts";
import { directWallet, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };

type Fields = Readonly<Record<string, string>>;

async function made(shop: TestMerchant, fields: object = {}): Promise<Answer["body"]> {
  const answer = await shop.post("/products", { name: "Coffee", price: 19.5, ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function openShop(fields: object = {}) {
  const shop = await freshMerchant();
  expect((await shop.post("/wallets", xpubWallet())).status).toBe(201);
  return { shop, product: await made(shop, fields) };
}

const show = (productId: string, query = "", headers: Fields = {}) => send(`/buy/${productId}${query}`, { headers });

/** What a browser sends with the form of a page; where the answer leads is not followed. */
async function post(
  productId: string,
  fields: Fields,
  { query = "", ip }: { readonly query?: string; readonly ip?: string } = {},
) {
  const headers = { ...FORM, ...(ip === undefined ? {} : { "cf-connecting-ip": ip }) };
  const body = new URLSearchParams(fields).toString();
  const request = requestOf(`/buy/${productId}${query}`, { method: "POST", headers, body });
  const response = await exports.default.fetch(new Request(request, { redirect: "manual" }));
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const tokenOf = (html: string): string => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? "";

async function bought(shop: TestMerchant, productId: string, fields: Fields = {}): Promise<Answer["body"]> {
  const token = tokenOf((await show(productId)).text);
  const answer = await post(productId, { token, ...fields });
  const id = /^\/pay\/(inv_[0-9A-Z]{26})$/.exec(answer.headers.get("location") ?? "")?.[1];
  expect([answer.status, id], answer.text).toEqual([303, expect.any(String)]);
  const invoice = await shop.get(`/invoices/${id}`);
  expect(invoice.status).toBe(200);
  return invoice.body;
}

const invoicesOf = ({ merchantId }: TestMerchant) => testDb.$count(invoices, eq(invoices.merchantId, merchantId));
const customersOf = ({ merchantId }: TestMerchant) => testDb.$count(customers, eq(customers.merchantId, merchantId));
const asked = (html: string) => [...html.matchAll(/<(?:input|textarea)[^>]* name="(\w+)"/g)].map(([, name]) => name);
const inputOf = (html: string, name: string) =>
  new RegExp(`<(?:input|textarea)[^>]* name="${name}"[^>]*>`).exec(html)?.[0] ?? "";

describe("the page of a product", () => {
  it("shows what is sold, by whom and for how much, with the shop's own image from our origin", async () => {
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

  it("makes nothing, however often it is looked at: previews of links and scanners of mails look too", async () => {
    const { shop, product } = await openShop();
    const tokens = await Promise.all([1, 2, 3].map(async () => tokenOf((await show(product.id)).text)));
    expect(new Set(tokens).size).toBe(3);
    expect([await invoicesOf(shop), await customersOf(shop)]).toEqual([0, 0]);
  });

  it("may be framed by the origins that the merchant names, and by no other", async () => {
    const { shop, product } = await openShop();
    await shop.patch("/settings", { frameAncestors: ["https://shop.example"] });
    const page = await show(product.id);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors https://shop.example");
  });

  it.each([
    ["an unknown product", freshId("prd")],
    ["a malformed id", "coffee"],
  ])("of %s is a page that says so, 404", async (_, id) => {
    for (const page of [await show(id), await post(id, {})]) {
      expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
      expect(page.text).toContain("There is no such page");
    }
  });

  it("is gone with its product, and with its merchant", async () => {
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

  it("says that an inactive product is not for sale, 410, and makes no invoice of it", async () => {
    const { shop, product } = await openShop({ isActive: false });
    for (const page of [await show(product.id), await post(product.id, {})]) {
      expect(page.status).toBe(410);
      expect(page.text).toContain("This is not for sale at the moment.");
    }
    expect(await invoicesOf(shop)).toBe(0);
  });

  it("shows hostile names as text, without characters that reorder what is read", async () => {
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
  ])("at %j asked with %j is in %s", async (query, headers, language, price, text) => {
    const { product } = await openShop();
    const page = await show(product.id, query, headers);
    expect(page.text).toContain(`<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}"`);
    for (const each of [price, text]) expect(page.text).toContain(each);
  });

  it("keeps the language that its address names, through the form to the invoice", async () => {
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
    ["nothing more", {}, ["token", "email"]],
    ["a name", { askForName: true }, ["token", "name", "email"]],
    ["an address", { askForAddress: true }, ["token", "email", "address"]],
    ["a phone number", { askForPhoneNumber: true }, ["token", "email", "phone"]],
    ["how much", { price: 0 }, ["token", "amount", "email"]],
  ])("asks %s where the product does", async (_, fields, names) => {
    const { product } = await openShop(fields);
    const { text } = await show(product.id);
    expect(asked(text)).toEqual(names);
    for (const name of ["name", "address", "phone"].filter((each) => names.includes(each)))
      expect(inputOf(text, name)).toMatch(/ required/);
    expect(inputOf(text, "email")).not.toMatch(/ required/);
  });

  it("comes back with what is wrong beside its fields, what was typed in them, and the cursor at the first", async () => {
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

  it("refuses what is no form, and a private key in it, without showing it again", async () => {
    const { product } = await openShop({ askForName: true });
    const json = await send(`/buy/${product.id}`, { method: "POST", body: { name: "Jane" } });
    expect(json.status).toBeGreaterThanOrEqual(400);
    const key = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ";
    const page = await post(product.id, { name: key });
    expect([page.status, page.text.includes(key)]).toEqual([400, false]);
  });
});

describe("an invoice of the form", () => {
  it("has the product's terms, a method ready to pay, and says that a page made it", async () => {
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

  it("is the same one for who goes back: browsers keep the form with its token, but not what was wrong in it", async () => {
    const { product } = await openShop();
    const page = await show(product.id);
    expect(page.headers.get("cache-control")).toBe("private, no-cache");
    // A form that is sent to the address of its own page makes browsers forget the page.
    expect(page.text).toContain(`action="/buy/${product.id}?sent=1"`);
    expect((await post(product.id, { email: "no" })).headers.get("cache-control")).toBe("no-store");
  });

  it("is one for one rendering, however often and at once its form is sent", async () => {
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

  it("is another one for another rendering, for something else typed into the same, and for the same token at another product", async () => {
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

  it("does not meet a server's invoice under the same Idempotency-Key", async () => {
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
    ["", "0.000000"],
  ])("of a product without a price asks for the %j that was typed", async (amount, rawAmount) => {
    const { shop, product } = await openShop({ price: 0 });
    expect(await bought(shop, product.id, { amount })).toMatchObject({ rawAmount });
  });

  it("costs what the product does, whatever amount is sent along", async () => {
    const { shop, product } = await openShop();
    expect(await bought(shop, product.id, { amount: "0.01" })).toMatchObject({ rawAmount: "19.500000" });
  });

  it("of any amount is not made where nothing could tell its payment: then the amount is asked for", async () => {
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

describe("the buyer", () => {
  const ASKING = { askForName: true, askForAddress: true, askForPhoneNumber: true };
  const JANE = { name: "Jane Doe", address: "1 Main St", phone: "+1 555 0100" };

  it("who leaves no email is a customer of this invoice all the same, with what the product asked for", async () => {
    const { shop, product } = await openShop(ASKING);
    const { customer } = await bought(shop, product.id, JANE);
    expect(customer).toMatchObject({ email: null, name: "Jane Doe", address: "1 Main St", phoneNumber: "+1 555 0100" });
    const again = await bought(shop, product.id, JANE);
    expect(again.customer.id).not.toBe(customer.id);
  });

  it("of a new email is a new customer, and keeps to what the product asks for", async () => {
    const { shop, product } = await openShop({ askForName: true });
    const invoice = await bought(shop, product.id, { ...JANE, email: "Jane@Example.com" });
    expect(invoice).toMatchObject({
      customer: { email: "Jane@Example.com", name: "Jane Doe", address: null, phoneNumber: null },
      metadata: null,
    });
  });

  it("of a known email stays as they are: what was typed differently stands at the invoice, for the merchant", async () => {
    const { shop, product } = await openShop(ASKING);
    const known = await shop.post("/customers", { email: "jane@example.com", name: "Jane Doe", address: "Elsewhere" });
    expect(known.status, known.text).toBe(201);
    const invoice = await bought(shop, product.id, { ...JANE, email: "jane@example.com" });
    expect(invoice.customer).toMatchObject({
      id: known.body.id,
      name: "Jane Doe",
      address: "Elsewhere",
      phoneNumber: null,
    });
    expect(invoice.metadata).toEqual({ customerAddress: "1 Main St", customerPhoneNumber: "+1 555 0100" });
    expect((await shop.get(`/customers/${known.body.id}`)).body).toEqual({ ...known.body, location: null });
  });

  it("who is deleted is forgotten with what they typed, and what a merchant noted stays", async () => {
    const { shop, product } = await openShop(ASKING);
    const email = "jane@example.com";
    const known = await shop.post("/customers", { email });
    const [first, noted, other] = [
      await bought(shop, product.id, { ...JANE, email }),
      await bought(shop, product.id, { ...JANE, email }),
      await bought(shop, product.id, { ...JANE, email: "joe@example.com" }),
    ];
    const metadata = { ...noted.metadata, parcel: "7" };
    expect((await shop.patch(`/invoices/${noted.id}`, { metadata })).status).toBe(200);
    const own = await shop.post("/invoices", {
      productId: product.id,
      customerEmail: email,
      metadata: { customerName: "J" },
    });
    expect((await shop.delete(`/customers/${known.body.id}`)).status).toBe(200);
    const kept = await Promise.all(
      [first, noted, own.body].map(async ({ id }) => (await shop.get(`/invoices/${id}`)).body.metadata),
    );
    expect(kept).toEqual([null, { parcel: "7" }, { customerName: "J" }]);
    expect((await shop.get(`/invoices/${other.id}`)).body.customer).toMatchObject({ name: "Jane Doe" });
  });

  it("of an email that becomes known while they buy is not lost either", async () => {
    const { shop, product } = await openShop(ASKING);
    const forms = await Promise.all(
      ["Jane", "Janet", "Janice"].map((name) => bought(shop, product.id, { ...JANE, name, email: "j@example.com" })),
    );
    expect(await customersOf(shop)).toBe(1);
    const names = forms.map(({ customer, metadata }) => metadata?.customerName ?? customer.name);
    expect(names).toEqual(["Jane", "Janet", "Janice"]);
  });
});

describe("limits", () => {
  it("are ten forms a minute from one address, counted whether they are right or wrong, and others are not held up", async () => {
    const { shop, product } = await openShop();
    const ip = "203.0.113.77";
    for (let i = 0; i < 10; i++) {
      const form: Fields = i % 2 === 0 ? {} : { email: "no" };
      expect((await post(product.id, form, { ip })).status).toBe(i % 2 === 0 ? 303 : 400);
    }
    const refused = await post(product.id, {}, { ip });
    expect([refused.status, refused.headers.get("content-type")]).toEqual([429, "text/html; charset=utf-8"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await invoicesOf(shop)).toBe(5);
    // Counted by it, and never written down where the merchant reads.
    const told = await testDb.select().from(auditEvents).where(eq(auditEvents.action, "invoice.created"));
    expect(told.length).toBeGreaterThan(4);
    expect(JSON.stringify(told)).not.toContain(ip);
    expect((await send(`/buy/${product.id}`, { headers: { "cf-connecting-ip": ip } })).status).toBe(200);
    expect((await post(product.id, {}, { ip: "203.0.113.78" })).status).toBe(303);
  });

  it("let the page open where the limiter cannot be asked", async () => {
    const { product } = await openShop();
    const broken = { getByName: () => ({ take: () => Promise.reject(new Error("gone")) }) };
    const headers = { ...FORM, "cf-connecting-ip": "203.0.113.79" };
    const ask = { method: "POST", headers, body: "email=" };
    const answer = await sendWith({ RATE_LIMITER: broken as never }, `/buy/${product.id}`, ask);
    expect(answer.status).toBe(303);
  });

  it("of active invoices hold for a merchant, and the page says so in words", async () => {
    const { shop, product } = await openShop();
    await shop.patch("/settings", { maxPublicInvoices: 1 });
    await bought(shop, product.id);
    const page = await post(product.id, {});
    expect([page.status, page.text.includes("This way to pay is busy")]).toEqual([409, true]);
    expect(await invoicesOf(shop)).toBe(1);
  });

  it("of public keys hold: beyond twenty unpaid addresses an invoice is made, and shows none", async () => {
    const { shop, product } = await openShop();
    const made = await Promise.all(Array.from({ length: 22 }, () => bought(shop, product.id)));
    const active = made.filter(({ paymentMethods }) => paymentMethods[0].status === "ACTIVE");
    expect(active).toHaveLength(20);
  });
});
