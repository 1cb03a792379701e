// Run by the cron: sends invitation emails that waited because of a daily limit. The token of a waiting invitation was never sent, so each gets a
// new token with its email, and its seven days start then. Each run is limited, and may overlap with another or be skipped.

import { sha256Hex } from "../../lib/bytes.ts";
import { commit } from "../../platform/db/batch.ts";
import { commitBatch } from "../../platform/db/commit-batch.ts";
import type { Left } from "../../platform/jobs/left.ts";
import { INVITATION_LIFETIME_MS, type Invitation, invitationStatus } from "./invitation.ts";
import { postponed } from "./mail-room.ts";
import { type MailDependencies, sendInvitation } from "./send-invitation.ts";
import {
  assertOpen,
  countMail,
  forgetMails,
  selectInvitation,
  selectMailRoom,
  selectMailsDue,
  updateInvitation,
} from "./store.ts";

const MAILS_A_RUN = 20;

export interface WaitingDependencies extends MailDependencies {
  readonly nowMs: number;
  readonly newToken: () => string;
}

export async function sendWaiting(deps: WaitingDependencies): Promise<Left> {
  const { db, nowMs } = deps;
  await forgetMails(db, nowMs);
  const due = await selectMailsDue(db, { nowMs, limit: MAILS_A_RUN });
  for (const invitation of due) await mailOne(deps, invitation);
  return due.length === MAILS_A_RUN ? "more" : "nothing";
}

async function mailOne(
  deps: WaitingDependencies,
  invitation: Invitation & { readonly isMerchantLive: boolean },
): Promise<void> {
  const { db, nowMs } = deps;
  const { merchantId, invitedBy: userId, emailKey } = invitation;
  const mail = { merchantId, userId, emailKey, nowMs };
  if (!invitation.isMerchantLive || invitationStatus(invitation, nowMs) !== "pending") {
    await commit(db, [updateInvitation(db, invitation, { mailDueAtMs: null }, nowMs)]);
    return;
  }
  const [room] = await selectMailRoom(db, mail);
  const later = room === undefined ? null : postponed(room);
  if (later !== null) {
    await commit(db, [updateInvitation(db, invitation, later, nowMs)]);
    return;
  }
  const token = deps.newToken();
  const tokenHash = sha256Hex(token);
  const times = { mailedAtMs: nowMs, mailDueAtMs: null, expiresAtMs: nowMs + INVITATION_LIFETIME_MS };
  const marker = async () =>
    (await selectInvitation(db, merchantId, invitation.id)).filter((stored) => stored.tokenHash === tokenHash);
  const committed = await commitBatch(deps, marker, [
    assertOpen(db, invitation),
    ...countMail(db, mail),
    updateInvitation(db, invitation, { tokenHash, ...times }, nowMs),
  ]);
  // Otherwise the invitation has changed, a limit was reached or storage failed; the next run reads the invitation again.
  if (committed.kind === "committed") await sendInvitation(deps, token);
}
