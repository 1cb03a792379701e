// How D1 finds what a watcher asks for at each look: by indexes that hold only what is active or open.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  restIfIdle,
  selectDuePayments,
  selectExpiring,
  selectNewRecipients,
  selectRecipients,
  selectUnprovedPayments,
} from "../../src/watchers/store.ts";
import { testDb } from "../support/worker-merchant.ts";

interface Template {
  _prepare(): { getQuery(): { readonly sql: string; readonly params: readonly unknown[] } };
}

async function planOf(query: Template): Promise<string> {
  const { sql, params } = query._prepare().getQuery();
  const plan = await env.DB.prepare(`explain query plan ${sql}`)
    .bind(...params)
    .all<{ detail: string }>();
  return plan.results.map(({ detail }) => detail).join("\n");
}

const page = { network: "ETH", after: 0, limit: 10 };
const after = { activatedAtMs: 1, position: 1 };
const due = { provenHeight: 1, tipHeight: 1, finalHeight: 1 };

describe("a watcher finds", () => {
  it.each([
    [
      "what is watched",
      selectRecipients(testDb, { ...page, nowMs: 1, after }),
      "method USING INDEX payment_methods_watch",
    ],
    ["what is new", selectNewRecipients(testDb, "ETH", 1), "method USING INDEX payment_methods_watch"],
    ["whether anything is watched", restIfIdle(testDb, "ETH", 1), "method USING INDEX payment_methods_watch"],
    ["open payments to look at", selectDuePayments(testDb, { ...page, ...due }), "payments USING INDEX payments_open"],
    [
      "payments in blocks that nothing has proved",
      selectUnprovedPayments(testDb, { ...page, above: 1, upTo: 2 }),
      "payments USING INDEX payments_open",
    ],
    [
      "invoices about to expire",
      selectExpiring(testDb, { ...page, fromMs: 1, beforeMs: 2 }),
      "invoice USING INDEX invoices_due",
    ],
  ] as const)("%s by its index, in its order", async (_, query, index) => {
    const plan = await planOf(query);
    expect(plan).toContain(`SEARCH ${index}`);
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN (method|invoice|payments)/);
  });
});
