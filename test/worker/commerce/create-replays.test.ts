// A create's response is stored as part of its event. A replay must be the original response, byte for byte, whatever has happened to the invoice
// since.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { operations } from "../../../src/platform/db/schema/operations.ts";
import { seedKey, seedShop, send } from "../../support/access.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const ORDER = { name: "Order", rawAmount: 10, paymentMethods: [] };
const EMOJI = "👋";
const LONG = {
  ...ORDER,
  paymentMethods: [USDT, BTC],
  name: EMOJI.repeat(200),
  description: EMOJI.repeat(1_000),
  redirectUrl: `https://shop.example/${"a".repeat(2_000)}`,
  customerName: EMOJI.repeat(200),
  customerAddress: EMOJI.repeat(500),
  customerEmail: "payer@shop.example",
  metadata: Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, "€".repeat(165)])),
  externalId: "€".repeat(200),
};

async function shop() {
  const { merchantId, secretKey, publicKey } = await seedShop();
  const base = `/api/v1/merchants/merchant/${merchantId}`;
  for (const body of [directWallet(), xpubWallet()]) {
    expect((await send(`${base}/wallets`, { method: "POST", key: secretKey, body })).status).toBe(201);
  }
  const create = async (body: object, key: string, idempotencyKey: string) => {
    const headers = { "idempotency-key": idempotencyKey };
    const answer = await send(`${base}/invoices`, { method: "POST", key, body, headers });
    expect(answer.status, answer.text).toBe(201);
    return { ...answer, isReplay: answer.headers.get("idempotent-replayed") === "true" };
  };
  return { base, merchantId, secretKey, publicKey, create };
}

describe("the replay of a creation", () => {
  it.each([
    ["without a method", ORDER, true],
    ["with two methods", { ...ORDER, paymentMethods: [USDT, BTC] }, true],
    ["in any script", { ...ORDER, name: `ü€${EMOJI}`, metadata: { [EMOJI]: '"},{' } }, true],
    ["of an invoice that its event contains only in part", LONG, false],
  ])("%s has the same bytes as the first response", async (_, body, isInEvent) => {
    const { create, merchantId, secretKey, base } = await shop();
    const first = await create(body, secretKey, "once");
    const patch = { name: "Another", description: "Changed since" };
    const changed = await send(`${base}/invoices/${first.json?.id}`, { method: "PATCH", key: secretKey, body: patch });
    expect(changed.status, changed.text).toBe(200);
    const again = await create(body, secretKey, "once");
    expect([first.isReplay, again.isReplay, again.text]).toEqual([false, true, first.text]);
    const stored = await testDb.select().from(operations).where(eq(operations.merchantId, merchantId));
    const creates = stored.filter(({ body: text }) => text === "" || text === first.text);
    expect(creates.map(({ body: text, bodyAt }) => [text, bodyAt !== null])).toEqual([
      [isInEvent ? "" : first.text, isInEvent],
    ]);
  });

  it("with a public key is stored in full, because the response contains less than the event", async () => {
    const { create, merchantId, publicKey } = await shop();
    const first = await create({ ...ORDER, paymentMethods: [USDT] }, publicKey, "once");
    const again = await create({ ...ORDER, paymentMethods: [USDT] }, publicKey, "once");
    expect([again.isReplay, again.text]).toEqual([true, first.text]);
    const stored = await testDb.select().from(operations).where(eq(operations.merchantId, merchantId));
    expect(stored.filter(({ body }) => body === first.text).map(({ bodyAt }) => bodyAt)).toEqual([null]);
  });

  it("is never given to another merchant", async () => {
    const [one, other] = [await shop(), await shop()];
    const first = await one.create(ORDER, one.secretKey, "once");
    const theirs = await other.create(ORDER, await seedKey(other.merchantId), "once");
    expect([theirs.isReplay, theirs.json?.id === first.json?.id]).toEqual([false, false]);
  });
});
