// A change to a team reads its rows through indexes, however large the team and however busy its merchant (decisions 1 "Constant cost").
import { expect, it } from "vitest";
import { selectMailRoom, selectMailsDue } from "../../../src/accounts/invitations/store.ts";
import { selectMembers } from "../../../src/accounts/teams/store.ts";
import { planOf } from "../../support/query-plan.ts";
import { testDb } from "../../support/worker-merchant.ts";

it("members are looked up by their ids, without a scan of the team", async () => {
  const plan = await planOf(selectMembers(testDb, "mer_1", ["mem_1", "mem_2"]));
  expect(plan).toMatch(/SEARCH members USING INDEX sqlite_autoindex_members_1 \(id=\?\)/);
});

it("a day's emails for a merchant, a user or a mailbox, and waiting emails, are found through indexes", async () => {
  const plan = await planOf(
    selectMailRoom(testDb, { merchantId: "mer_1", userId: "usr_1", emailKey: "a@b.example", nowMs: 1_000 }),
  );
  for (const index of [
    "invitation_mails_merchant (merchant_id=? AND at_ms>?)",
    "invitation_mails_user (user_id=? AND at_ms>?)",
    "invitations_mail_due_of_merchant (merchant_id=?",
    "invitation_mails_mailbox (email_key=? AND at_ms>?)",
    "invitations_mail_due_of_inviter (invited_by=?",
    "invitations_mail_due_of_mailbox (email_key=?",
  ])
    expect(plan).toContain(index);
  expect(await planOf(selectMailsDue(testDb, { nowMs: 1_000, limit: 1 }))).toContain(
    "invitations_mail_due (mail_due_at_ms<?)",
  );
});
