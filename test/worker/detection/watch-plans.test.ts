// The query plans of a watcher's pass use indexes that hold only active or open rows.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { selectUnnamed } from "../../../src/detection/matching/store.ts";
import { selectStoredBlocks } from "../../../src/detection/passes/by-address/store.ts";
import { selectDuePayments, selectUnprovedPayments } from "../../../src/detection/passes/open-payments/store.ts";
import {
  restIfIdle,
  selectExpiring,
  selectNewRecipients,
  selectRecipients,
} from "../../../src/detection/passes/store.ts";
import { lapOf, newQueueOf, selectLaps, selectNewQueues } from "../../../src/detection/passes/turns/store.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { watchTurns } from "../../../src/platform/db/schema/network-cursors.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { planOf } from "../../support/query-plan.ts";
import { watchMethod } from "../../support/watched.ts";
import { testDb } from "../../support/worker-merchant.ts";

const page = { network: "ETH", after: 0, limit: 10 };
const after = { activatedAtMs: 1, position: 1 };
const due = { provenHeight: 1, tipHeight: 1, finalHeight: 1 };

describe("a watcher finds", () => {
  it("rows replaced by another effect of their transaction through the transaction's hash, however many payments their merchant has", async () => {
    const { sql, params } = selectUnnamed(testDb, { network: "ETH", list: "[]" }).toSQL();
    const plan = await planOf({ toSQL: () => ({ sql, params }) });
    expect(plan).toContain("SEARCH heir USING INDEX payments_identity (network=? AND tx_hash=?)");
  });

  it.each([
    [
      "watched recipients",
      selectRecipients(testDb, { ...page, nowMs: 1, after }),
      "method USING INDEX payment_methods_watch",
    ],
    ["new recipients", selectNewRecipients(testDb, "ETH", 1), "method USING INDEX payment_methods_watch"],
    ["whether anything is watched", restIfIdle(testDb, "ETH", 1), "method USING INDEX payment_methods_watch"],
    [
      "open payments that are due",
      selectDuePayments(testDb, { ...page, ...due, hasInvoice: true }),
      "payments USING INDEX payments_open",
    ],
    [
      "payments in unproven blocks",
      selectUnprovedPayments(testDb, { ...page, above: 1, upTo: 2 }),
      "payments USING INDEX payments_open",
    ],
    [
      "invoices about to expire",
      selectExpiring(testDb, { ...page, after: "", fromMs: 1, beforeMs: 2 }),
      "invoice USING INDEX invoices_due",
    ],
    ["the blocks of stored transfers", selectStoredBlocks(testDb, "ETH", "[]"), "paid USING INDEX payments_identity"],
  ] as const)("%s through an index, in the index's order", async (_, query, index) => {
    const plan = await planOf(query);
    expect(plan).toContain(`SEARCH ${index}`);
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN (method|invoice|payments|paid)/);
  });

  it.each([
    [
      "newest",
      selectNewQueues(testDb, "BTC", { nowMs: 1, after: "" }),
      "watch_turns USING COVERING INDEX watch_turns_newest (network=? AND activated_at_ms>?)",
      "(network=? AND merchant_id=? AND activated_at_ms>?)",
    ],
    [
      "next",
      selectLaps(testDb, "BTC", { nowMs: 1, after: "" }),
      "watch_turns USING INDEX sqlite_autoindex_watch_turns_1 (network=? AND merchant_id>?)",
      "(network=? AND merchant_id=? AND activated_at_ms>? AND activated_at_ms<?)",
    ],
  ] as const)(
    "each merchant's %s addresses through an index over its own activations, in their order",
    async (_, query, ring, own) => {
      const plan = await planOf(query);
      expect(plan).toContain(`SEARCH ${ring}`);
      const searches = plan.split("\n").filter((line) => line.startsWith("SEARCH method"));
      for (const line of searches) {
        expect(line).toMatch(/^SEARCH method USING (COVERING )?INDEX payment_methods_turns /);
        expect(line).toContain(own);
      }
      expect(searches.length).toBeGreaterThan(0);
      expect(plan).not.toMatch(/SCAN (method|invoice|watch_turns|stuck)/);
    },
  );

  it("the next addresses of a merchant with 10,000 by reading a bounded number of rows, at any position in its round", async () => {
    const nowMs = 1_800_000_000_000;
    // Merchants of other files may have turns, which would be read too.
    for (const table of [paymentMethods, watchTurns]) await testDb.delete(table);
    const id = await watchMethod(testDb, { network: "BTC", cryptocurrency: "BTC", address: "first", nowMs });
    await copyInvoice(id, 10_000);
    await testDb.update(paymentMethods).set({ activatedAtMs: sql`${nowMs} - rowid`, address: sql`'A' || rowid` });
    const page = { nowMs, after: "" };
    for (const beforeMs of [Number.MAX_SAFE_INTEGER, nowMs - 5_000]) {
      await testDb.update(watchTurns).set({ beforeMs });
      const [[lap], found] = [await selectLaps(testDb, "BTC", page), await selectNewQueues(testDb, "BTC", page)];
      expect([lap && lapOf(lap).found.length, found.map((row) => newQueueOf(row).addresses.length)]).toEqual([
        20,
        [20],
      ]);
      for (const query of [selectLaps(testDb, "BTC", page), selectNewQueues(testDb, "BTC", page)]) {
        const { sql: text, params } = query.toSQL();
        const { meta } = await env.DB.prepare(text)
          .bind(...params)
          .all();
        expect(meta.rows_read).toBeLessThan(1_000);
      }
    }
  });
});
