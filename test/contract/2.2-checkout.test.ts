// Interface 2.2 (`checkoutUrl`, `redirectUrl`) and security.md 4: the checkout page, used as by a browser without scripts, and the checkout as JSON
// for shops that have their own page.
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, createInvoice, expectOk, expectRefusal, registerWallet, removeWallets, shop, unique } from "./client.ts";
import { extendedKey, freshDirectWallet, xpubWallet } from "./key-material.ts";
import type { Invoice, PaymentMethod } from "./shapes.ts";

const key = extendedKey();
beforeAll(async () => {
  await removeWallets(shop);
  await registerWallet(shop, xpubWallet(key));
  await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
});
afterAll(() => removeWallets(shop));

const USDT = { cryptocurrency: "USDT", network: "ETH" };
const BTC = { cryptocurrency: "BTC", network: "BTC" };
const redirectUrl = "https://shop.example/thanks";
const privately = () => ({
  customerEmail: `${unique("ann")}@example.com`,
  customerName: "Annabel Canary",
  customerAddress: "1 Canary Street",
  externalId: unique("canary-order"),
  metadata: { note: "canary-note" },
});

const pathOf = ({ checkoutUrl }: Invoice) => {
  const { pathname } = new URL(checkoutUrl);
  return pathname;
};
const sendForm = (path: string, fields: Record<string, string>) =>
  call(path, {
    method: "POST",
    raw: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });

test("checkoutUrl is a page that anyone can open; it shows what the invoice is for, but nothing about the customer", async () => {
  const invoice = await createInvoice(shop, { name: "Two <b>coffees</b>", redirectUrl, ...privately() });
  const page = await call(pathOf(invoice));
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.text).toContain("Two &lt;b&gt;coffees&lt;/b&gt;");
  for (const secret of ["canary", "Annabel", "@example.com", "shop.example"])
    expect(page.text.toLowerCase()).not.toContain(secret.toLowerCase());
  expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

test("a plain form picks a payment method, and the page then shows its address", async () => {
  const invoice = await createInvoice(shop);
  const path = pathOf(invoice);
  const picked = await sendForm(`${path}/methods`, { method: "USDT_ETH" });
  expect(picked.status).toBe(303);
  const page = await call(picked.headers.get("location") ?? "");
  const { paymentMethods } = expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200);
  const [method] = paymentMethods;
  expect(method).toMatchObject({ ...USDT, status: "ACTIVE" });
  // Shown in groups that together form the whole address, and once unbroken for copying.
  expect(page.text).toContain(method?.address);
  expect(page.text.replaceAll(/<[^>]*>/g, "")).toContain(method?.address);
});

test("until payment neither the page, its JSON nor the return route reveals the shop's redirectUrl", async () => {
  const invoice = await createInvoice(shop, { redirectUrl });
  const path = pathOf(invoice);
  for (const rest of ["", "/state", "/receipt"])
    expect((await call(`${path}${rest}`)).text).not.toContain("shop.example");
  const back = await call(`${path}/return`);
  expect([back.status, back.headers.get("location")]).toEqual([303, path]);
  const json = await call<Invoice>(`/api/v1/checkout/${invoice.id}`);
  expect(expectOk(json, 200).redirectUrl).toBeNull();
});

test("a shop's own page can read the checkout and pick a method with only the invoice id, from any origin", async () => {
  const invoice = await createInvoice(shop, privately());
  const path = `/api/v1/checkout/${invoice.id}`;
  const headers = { origin: "https://shop.example" };
  const shown = await call<Invoice & { merchant: unknown }>(path, { headers });
  expect(shown.headers.get("access-control-allow-origin")).toBe("*");
  expect(shown.body).toMatchObject({
    id: invoice.id,
    customer: null,
    customerId: null,
    metadata: null,
    externalId: null,
  });
  expect(shown.body.paymentMethods.map(({ status }) => status)).toEqual(["AVAILABLE", "AVAILABLE"]);
  expect(shown.body.merchant).toMatchObject({ name: expect.any(String) });
  expect(shown.text).not.toMatch(/canary|Annabel/i);
  const ask = { method: "POST", body: BTC, headers: { ...headers, "idempotency-key": unique("pick") } };
  const first = await call<PaymentMethod>(`${path}/payment-methods`, ask);
  const again = await call<PaymentMethod>(`${path}/payment-methods`, ask);
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
  expect(first.body).toMatchObject({ ...BTC, status: "ACTIVE", address: expect.stringMatching(/^bc1/) });
});

test("an unknown invoice id is a 404", async () => {
  const unknown = `inv_${"0".repeat(26)}`;
  expect((await call(`/pay/${unknown}`)).status).toBe(404);
  expectRefusal(await call(`/api/v1/checkout/${unknown}`), 404, "INVOICE_NOT_FOUND");
});
