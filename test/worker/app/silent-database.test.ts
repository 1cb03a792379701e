// Creating invoices, and opening a payer's page, while the database does not answer at all. Each request must give up after one attempt: three
// attempts would end much later, with a different Retry-After.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type Ask, seedKey, sendWith } from "../../support/access.ts";
import { UNKNOWN_ULID } from "../../support/access-attempt.ts";
import { freshOrder } from "../../support/checkouts.ts";
import { ORIGIN } from "../../support/people.ts";
import { USDT } from "../../support/wallet-bodies.ts";

const silent = (): Promise<never> => new Promise(() => {});
const statement = new Proxy(env.DB.prepare("SELECT 1"), {
  get: (_, name, self) => (name === "bind" ? () => self : silent),
});
const DB = new Proxy(env.DB, { get: (_, name) => (name === "prepare" ? () => statement : silent) });

const BODY = { name: "Order", rawAmount: 10 };

it("while the database does not answer, new invoices and pages are refused in less time than three attempts would take", async () => {
  const { id, merchantId } = await freshOrder({ paymentMethods: [USDT] });
  const invoices = `/api/v1/merchants/merchant/${merchantId}/invoices`;
  const session = { cookie: `session=${"a".repeat(43)}`, origin: ORIGIN };
  const callers: Readonly<Record<string, readonly [path: string, ask: Ask]>> = {
    "a server, in the merchant's object": [invoices, { method: "POST", body: BODY, key: await seedKey(merchantId) }],
    "a server whose key does not prove whose it is": [
      invoices,
      { method: "POST", body: BODY, key: `sk_${"a".repeat(38)}` },
    ],
    "a member, at the edge": [invoices, { method: "POST", body: BODY, headers: session }],
    "a person who buys a product": [
      `/buy/prd_${UNKNOWN_ULID}`,
      { method: "POST", body: "name=Ada", headers: { "content-type": "application/x-www-form-urlencoded" } },
    ],
    "a payer who opens the page": [`/pay/${id}`, {}],
  };
  // All requests are sent at once, because the work of each continues for as long as three attempts take.
  const answers = await Promise.all(
    Object.entries(callers).map(async ([caller, [path, ask]]) => {
      const { status, headers } = await sendWith({ DB }, path, ask);
      return `${caller}: ${status}, again after ${headers.get("retry-after")} s`;
    }),
  );
  expect(answers).toEqual(Object.keys(callers).map((caller) => `${caller}: 503, again after 10 s`));
});
