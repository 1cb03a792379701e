import { eq } from "drizzle-orm";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { directWallet } from "../../support/wallet-bodies.ts";
import { type TestMerchant, testDb } from "../../support/worker-merchant.ts";

/** A merchant's entries with `before` and `after` parsed, oldest first; entries with the same time are sorted by action. */
export async function entriesOf({ merchantId }: Pick<TestMerchant, "merchantId">) {
  const rows = await testDb
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.merchantId, merchantId))
    .orderBy(auditEvents.createdAtMs, auditEvents.action, auditEvents.target);
  return rows.map(({ before, after, ...row }) => ({ ...row, before: parsed(before), after: parsed(after) }));
}

/** The action, and the parsed `before` and `after`, of each entry about `target`. */
export async function entriesAbout(shop: Pick<TestMerchant, "merchantId">, target: string) {
  const entries = (await entriesOf(shop)).filter((entry) => entry.target === target);
  return entries.map(({ action, before, after }) => [action, before, after]);
}

const parsed = (json: string | null) => (json === null ? null : JSON.parse(json));

/** The audit entries that `step` adds. */
export async function added(shop: TestMerchant, step: () => Promise<unknown>) {
  const known = new Set((await entriesOf(shop)).map(({ id }) => id));
  const result = await step();
  const entries = (await entriesOf(shop)).filter(({ id }) => !known.has(id));
  return { result, entries };
}

export const created = (shop: TestMerchant, body: object = {}) =>
  expectStatus(shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [], ...body }), 201);

export const wallet = (shop: TestMerchant, body: object = directWallet()) =>
  expectStatus(shop.post("/wallets", body), 201);
