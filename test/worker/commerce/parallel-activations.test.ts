// The methods of one create are activated concurrently, with the same result as one after another.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import type { AllocateRequest } from "../../../src/commerce/wallets/allocations.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { eventData } from "../../../src/platform/events/store.ts";
import { seedKey, seedMerchant, sendWith } from "../../support/access.ts";
import { BTC, LTC, litecoinWallet, xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

/** Allocators that answer only once `count` calls are pending, the latest call first. */
function allocatorsOf(count: number) {
  const begun: string[] = [];
  const answered: string[] = [];
  const isTurn = (network: string) => begun.length === count && begun[count - 1 - answered.length] === network;
  const getByName = (name: string) => ({
    allocateEach: async (requests: readonly AllocateRequest[]) => {
      const network = requests[0]?.network ?? "";
      begun.push(network);
      await expect.poll(() => isTurn(network)).toBe(true);
      const answers = await env.ADDRESS_ALLOCATOR.getByName(name).allocateEach(requests);
      answered.push(network);
      return answers;
    },
  });
  return { bindings: { ADDRESS_ALLOCATOR: { getByName } } as unknown as Partial<Env>, begun, answered };
}

it("the payment methods of a new invoice are activated at the same time, and keep their order in the response and in the events", async () => {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId);
  const { bindings, begun, answered } = allocatorsOf(2);
  const post = (given: Partial<Env>, rest: string, body: object) =>
    sendWith(given, `/api/v1/merchants/merchant/${merchantId}${rest}`, { method: "POST", key, body });
  for (const wallet of [xpubWallet(), litecoinWallet()]) {
    expect((await post({}, "/wallets", wallet)).status).toBe(201);
  }
  const order = { name: "Order", rawAmount: 10, paymentMethods: [LTC, BTC] };
  const { status, json } = await post(bindings, "/invoices", order);
  expect(status).toBe(201);
  expect([begun, answered]).toEqual([
    ["LTC", "BTC"],
    ["BTC", "LTC"],
  ]);
  const methods = [
    { ...LTC, status: "ACTIVE", address: expect.stringMatching(/^ltc1|^L|^M/) },
    { ...BTC, status: "ACTIVE", address: expect.stringMatching(/^bc1/) },
  ];
  expect(json?.paymentMethods).toMatchObject(methods);
  const rows = await testDb
    .select({ data: eventData("events").as("whole_data") })
    .from(events)
    .where(eq(events.invoiceId, json?.id as InvoiceId))
    .orderBy(events.sequence);
  expect(rows.slice(1).map(({ data }) => JSON.parse(data).paymentMethod)).toMatchObject(methods);
});
