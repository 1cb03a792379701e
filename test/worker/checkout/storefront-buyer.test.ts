import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { send, sendWith } from "../../support/access.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { bought, customersOf, type Fields, FORM, invoicesOf, openShop, post } from "./storefront-harness.ts";

describe("the buyer", () => {
  const ASKING = { askForName: true, askForAddress: true, askForPhoneNumber: true };
  const JANE = { name: "Jane Doe", address: "1 Main St", phone: "+1 555 0100" };

  it("without an email becomes a new customer each time, with the fields that the product asks for", async () => {
    const { shop, product } = await openShop(ASKING);
    const { customer } = await bought(shop, product.id, JANE);
    expect(customer).toMatchObject({ email: null, name: "Jane Doe", address: "1 Main St", phoneNumber: "+1 555 0100" });
    const again = await bought(shop, product.id, JANE);
    expect(again.customer.id).not.toBe(customer.id);
  });

  it("with a new email becomes a new customer, with only the fields the product asks for", async () => {
    const { shop, product } = await openShop({ askForName: true });
    const invoice = await bought(shop, product.id, { ...JANE, email: "Jane@Example.com" });
    expect(invoice).toMatchObject({
      customer: { email: "Jane@Example.com", name: "Jane Doe", address: null, phoneNumber: null },
      metadata: null,
    });
  });

  it("with a known email leaves that customer unchanged; differing fields go to the invoice's metadata", async () => {
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

  it("is erased, with everything they typed, when the customer is deleted; the merchant's own metadata stays", async () => {
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

  it("with a new email in concurrent purchases keeps every name, on the customer or in an invoice's metadata", async () => {
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
  it("allow ten forms a minute from one IP address, valid or not, and do not affect other addresses", async () => {
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
    // The IP address is counted, but not stored where the merchant can read it.
    const own = and(eq(auditEvents.action, "invoice.created"), eq(auditEvents.merchantId, shop.merchantId));
    const entries = await testDb.select().from(auditEvents).where(own);
    expect(entries).toHaveLength(5);
    expect(JSON.stringify(entries)).not.toContain(ip);
    expect((await send(`/buy/${product.id}`, { headers: { "cf-connecting-ip": ip } })).status).toBe(200);
    expect((await post(product.id, {}, { ip: "203.0.113.78" })).status).toBe(303);
  });

  it("let a form through when the rate limiter is unavailable", async () => {
    const { product } = await openShop();
    const broken = { getByName: () => ({ take: () => Promise.reject(new Error("gone")) }) };
    const headers = { ...FORM, "cf-connecting-ip": "203.0.113.79" };
    const ask = { method: "POST", headers, body: "email=" };
    const answer = await sendWith({ RATE_LIMITER: broken as never }, `/buy/${product.id}`, ask);
    expect(answer.status).toBe(303);
  });

  it("on a merchant's active public invoices apply, and the page says so", async () => {
    const { shop, product } = await openShop();
    await shop.patch("/settings", { maxPublicInvoices: 1 });
    await bought(shop, product.id);
    const page = await post(product.id, {});
    expect([page.status, page.text.includes("This way to pay is busy")]).toEqual([409, true]);
    expect(await invoicesOf(shop)).toBe(1);
  });

  it("on unpaid addresses of public keys apply: after twenty, an invoice is created without an address", async () => {
    const { shop, product } = await openShop();
    const made = await Promise.all(Array.from({ length: 22 }, () => bought(shop, product.id)));
    const active = made.filter(({ paymentMethods }) => paymentMethods[0].status === "ACTIVE");
    expect(active).toHaveLength(20);
  });
});
