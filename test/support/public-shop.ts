// A shop with public orders: from a browser with a public key, and through the form of its product page.
import { exports } from "cloudflare:workers";
import { expect } from "vitest";
import { requestOf, type Answer as Sent, seedKey, sendWith } from "./access.ts";
import { directWallet, xpubWallet } from "./wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant } from "./worker-merchant.ts";

const UNLIMITED: Partial<Env> = { RATE_LIMIT_PER_MINUTE: "0" };

export async function made(shop: TestMerchant, path: string, body: object): Promise<Answer["body"]> {
  const answer = await shop.post(path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** A shop, a browser with its public key, and the form of its product. `env` is the Worker's except for the rate limits. */
export async function openShop(
  settings: object = {},
  {
    price = 10,
    wallets = [xpubWallet(), directWallet()],
    env = UNLIMITED,
  }: { readonly price?: number; readonly wallets?: readonly object[]; readonly env?: Partial<Env> } = {},
) {
  const shop = await freshMerchant();
  for (const wallet of wallets) await made(shop, "/wallets", wallet);
  if (Object.keys(settings).length > 0) expect((await shop.patch("/settings", settings)).status).toBe(200);
  const product = await made(shop, "/products", { name: "Coffee", price });
  const key = await seedKey(shop.merchantId, { kind: "PUBLIC" });
  const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices`;
  const ask = (ip: string, rest: string, body: object): Promise<Sent> =>
    sendWith(env, `${path}${rest}`, { method: "POST", key, headers: { "cf-connecting-ip": ip }, body });
  const browse = (ip: string, body: object = {}) => ask(ip, "", { name: "Order", rawAmount: price, ...body });
  const pick = (ip: string, invoiceId: unknown, pair: object) => ask(ip, `/${invoiceId}/payment-methods`, pair);
  const buy = async (ip: string): Promise<number> => {
    const headers = { "content-type": "application/x-www-form-urlencoded", "cf-connecting-ip": ip };
    const request = requestOf(`/buy/${product.id}`, { method: "POST", headers, body: "email=" });
    return (await exports.default.fetch(new Request(request, { redirect: "manual" }))).status;
  };
  return { shop, product, key, browse, pick, buy };
}

export type OpenShop = Awaited<ReturnType<typeof openShop>>;

export const statusesOf = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status);
export const countOf = (answers: readonly { readonly status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

/** Calls `each` `count` times, all at once. */
export const several = <T>(count: number, each: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => each(n)));

/** Calls `each` `count` times, ten at a time. */
export async function inTens<T>(count: number, each: (n: number) => Promise<T>): Promise<readonly T[]> {
  const got: T[] = [];
  for (let from = 0; from < count; from += 10)
    got.push(...(await several(Math.min(10, count - from), (n) => each(from + n))));
  return got;
}
