// What a change of a team reads, however large the team and however busy its merchant (decisions 1 "Constant cost").
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { selectMailsOver } from "../../src/invitations/store.ts";
import { selectMembers } from "../../src/teams/store.ts";
import { testDb } from "../support/worker-merchant.ts";

async function planOf(query: { toSQL(): { readonly sql: string; readonly params: readonly unknown[] } }) {
  const { sql, params } = query.toSQL();
  const plan = await env.DB.prepare(`explain query plan ${sql}`)
    .bind(...params)
    .all<{ detail: string }>();
  return plan.results.map(({ detail }) => detail).join("\n");
}

it("looks members up by their ids, and does not walk through the team", async () => {
  const plan = await planOf(selectMembers(testDb, "mer_1", ["mem_1", "mem_2"]));
  expect(plan).toMatch(/SEARCH members USING INDEX sqlite_autoindex_members_1 \(id=\?\)/);
});

it("counts the day's mails among the mails alone, not among all that was recorded that day", async () => {
  const plan = await planOf(selectMailsOver(testDb, "mer_1", 1_000));
  expect(plan).toContain("audit_events_action (merchant_id=? AND action=? AND created_at_ms>?)");
});
