// Every id contains the number of its row's database (architecture.md "Room to grow"): ids derived from an operation, and ids created by SQL.
import { expect, it } from "vitest";
import { type Ask, seedKey, send } from "../../support/access.ts";
import { allTexts, makeKey, type Seated, seated } from "../../support/api-keys.ts";
import { directWallet } from "../../support/wallet-bodies.ts";

const ID = /^[a-z]{3}_[0-9A-Z]{10}(..)[0-9A-Z]{14}$/;

async function post(by: Seated, rest: string, ask: Ask): Promise<void> {
  const answer = await send(`/api/v1/merchants/merchant/${by.merchantId}${rest}`, { method: "POST", ...ask });
  expect(answer.status, answer.text).toBe(201);
}

it("the ids of all of a shop's rows contain database number 0", async () => {
  const owner = await seated("OWNER");
  await makeKey(owner);
  const key = await seedKey(owner.merchantId);
  const { headers } = owner;
  await post(owner, "/webhooks", { headers, body: { url: "http://127.0.0.1:9/hook", events: ["*"] } });
  await post(owner, "/wallets", { key, body: directWallet() });
  await post(owner, "/invoices", { key, body: { name: "Order", rawAmount: 5, customerEmail: "ann@example.com" } });
  const ids = (await allTexts()).filter(({ place, value }) => place.endsWith(".id") && ID.test(value));
  const tables = new Set(ids.map(({ place }) => place.replace(".id", "")));
  const expected = ["merchants", "members", "users", "sessions", "api_keys", "wallets", "invoices", "customers"];
  const derived = ["timeline_items", "events", "deliveries", "audit_events", "webhooks", "webhook_secrets"];
  expect([...expected, ...derived].filter((table) => !tables.has(table))).toEqual([]);
  expect(ids.filter(({ value }) => ID.exec(value)?.[1] !== "00")).toEqual([]);
});
