// The active invoices of a merchant's own server never exceed their limit (`maxActiveInvoices`), however many are created at once.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { expectRefusal, seedKey } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { directWallet, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const ORDER = { name: "Order", rawAmount: 10 };

async function shopWithRoom(maxActiveInvoices: number, wallets: readonly object[] = []): Promise<TestMerchant> {
  const shop = await freshMerchant();
  for (const wallet of wallets) expect((await shop.post("/wallets", wallet)).status).toBe(201);
  await setRoom(shop, maxActiveInvoices);
  return shop;
}

async function setRoom(shop: TestMerchant, maxActiveInvoices: number): Promise<void> {
  expect((await shop.patch("/settings", { maxActiveInvoices })).status).toBe(200);
}

const orders = (shop: TestMerchant, count: number): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: count }, () => shop.post("/invoices", ORDER)));
const madeOf = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 201);

function expectFull({ status, body }: Pick<Answer, "status" | "body">, limit: number): void {
  expect([status, body.code]).toEqual([422, "TOO_MANY_ACTIVE_INVOICES"]);
  expect(body.message).toContain(`${limit} `);
}

async function activeOf({ merchantId }: TestMerchant): Promise<number | undefined> {
  const [row] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
  return row?.activeInvoices;
}

/** Creates an invoice; `meanwhile` runs between its reads and its write. */
async function orderedAfter(shop: TestMerchant, meanwhile: () => Promise<unknown>) {
  const key = await seedKey(shop.merchantId);
  const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices`;
  return sendBeaten(path, { method: "POST", key, body: ORDER }, meanwhile);
}

describe("the active invoices of a server", () => {
  it.each([
    { room: 1, asked: 12, wallets: [] },
    { room: 3, asked: 12, wallets: [directWallet()] },
    { room: 5, asked: 12, wallets: [xpubWallet()] },
    { room: 7, asked: 5, wallets: [directWallet(), xpubWallet()] },
  ])("are at most $room when $asked are created at once and the limit is $room", async ({ room, asked, wallets }) => {
    const shop = await shopWithRoom(room, wallets);
    const answers = await orders(shop, asked);
    const count = Math.min(room, asked);
    expect(madeOf(answers)).toHaveLength(count);
    for (const refused of answers.filter(({ status }) => status !== 201)) expectFull(refused, room);
    expect(await activeOf(shop)).toBe(count);
  });

  it("leave room for one new invoice for each that has ended, and for no more", async () => {
    const shop = await shopWithRoom(4);
    const made = madeOf(await orders(shop, 6));
    for (const { body } of made.slice(0, 2)) {
      expect((await shop.post(`/invoices/${body.id}/cancel`)).status).toBe(200);
    }
    expect(madeOf(await orders(shop, 6))).toHaveLength(2);
    expect(await activeOf(shop)).toBe(4);
  });

  it("stay within the limit when another request reaches or lowers the limit while an invoice is created", async () => {
    const shop = await shopWithRoom(1);
    const late = await orderedAfter(shop, () => shop.post("/invoices", ORDER));
    expectRefusal(late, 422, "TOO_MANY_ACTIVE_INVOICES");
    await setRoom(shop, 3);
    const lowered = await orderedAfter(shop, () => setRoom(shop, 1));
    expectRefusal(lowered, 422, "TOO_MANY_ACTIVE_INVOICES");
    expect(await activeOf(shop)).toBe(1);
  });

  it("include only one invoice for an Idempotency-Key that is sent many times at once", async () => {
    const shop = await shopWithRoom(1);
    const headers = { "idempotency-key": crypto.randomUUID() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => shop.post("/invoices", ORDER, headers)));
    expect(answers.map(({ status }) => status)).toEqual(new Array(5).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expectFull(await shop.post("/invoices", ORDER), 1);
  });
});
