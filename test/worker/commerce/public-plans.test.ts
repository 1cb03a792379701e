// What a browser's wish for an address reads: nothing that grows with the payments of a network or the past of a merchant.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { selectHold } from "../../../src/commerce/public-holds/store.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

it("finds the last paid address by the invoices of the latest addresses, and what a network holds by its hash", async () => {
  const of = { merchantId: freshId("mer"), invoiceId: freshId("inv"), keyHash: "k", sinceMs: 0 };
  const { sql, params } = selectHold(testDb, of, [{ hashes: ["a"] }]).toSQL();
  const plan = await env.DB.prepare(`explain query plan ${sql}`)
    .bind(...params)
    .all<{ detail: string }>();
  const text = plan.results.map(({ detail }) => detail).join("\n");
  for (const index of ["wallets_of_key", "payment_methods_wallet", "payments_invoice", "payment_methods_public"])
    expect(text).toContain(`USING INDEX ${index} (`);
  expect(text).toContain("USING INDEX public_holds_network (merchant_id=? AND kind=? AND network=?)");
  expect(text).not.toMatch(/SCAN (payment|wallets|public_holds|invoices)|payments_transaction/);
});
