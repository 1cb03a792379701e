// The query for a browser's address must read nothing that grows with a network's payments or a merchant's history.
import { expect, it } from "vitest";
import { selectHold } from "../../../src/commerce/public-holds/store.ts";
import { planOf } from "../../support/query-plan.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

it("the last paid address is found through the latest addresses' invoices, and a network's unpaid addresses by its hash", async () => {
  const of = { merchantId: freshId("mer"), invoiceId: freshId("inv"), keyHash: "k", sinceMs: 0 };
  const text = await planOf(selectHold(testDb, of, [{ hashes: ["a"] }]));
  for (const index of ["wallets_of_key", "payment_methods_wallet", "payments_invoice", "payment_methods_public"])
    expect(text).toContain(`USING INDEX ${index} (`);
  expect(text).toContain("USING COVERING INDEX public_holds_network (merchant_id=? AND kind=? AND network=?)");
  expect(text).not.toMatch(/SCAN (payment|wallets|public_holds|invoices)|payments_identity/);
});
