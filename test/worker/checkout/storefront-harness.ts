// Shared by tests of a product's page: a shop with a product, its page and its form.
import { exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { requestOf, send } from "../../support/access.ts";
import { xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

export const FORM = { "content-type": "application/x-www-form-urlencoded" };

export type Fields = Readonly<Record<string, string>>;

export async function made(shop: TestMerchant, fields: object = {}): Promise<Answer["body"]> {
  const answer = await shop.post("/products", { name: "Coffee", price: 19.5, ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

export async function openShop(fields: object = {}) {
  const shop = await freshMerchant();
  expect((await shop.post("/wallets", xpubWallet())).status).toBe(201);
  return { shop, product: await made(shop, fields) };
}

export const show = (productId: string, query = "", headers: Fields = {}) =>
  send(`/buy/${productId}${query}`, { headers });

/** Sends the form of a page as a browser does, without following the redirect. */
export async function post(
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

export const tokenOf = (html: string): string => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? "";

export async function bought(shop: TestMerchant, productId: string, fields: Fields = {}): Promise<Answer["body"]> {
  const token = tokenOf((await show(productId)).text);
  const answer = await post(productId, { token, ...fields });
  const id = /^\/pay\/(inv_[0-9A-Z]{26})$/.exec(answer.headers.get("location") ?? "")?.[1];
  expect([answer.status, id], answer.text).toEqual([303, expect.any(String)]);
  const invoice = await shop.get(`/invoices/${id}`);
  expect(invoice.status).toBe(200);
  return invoice.body;
}

export const invoicesOf = ({ merchantId }: TestMerchant) =>
  testDb.$count(invoices, eq(invoices.merchantId, merchantId));

export const customersOf = ({ merchantId }: TestMerchant) =>
  testDb.$count(customers, eq(customers.merchantId, merchantId));
