// Run by the cron: emails the combined notices with the state at the time of sending. Each run sends a limited number, may overlap another run, and
// may be skipped without harm.

import { type DueNotice, forgetQuietNotices, selectDueNotices, takeNotice } from "../../accounts/notices/store.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import type { Mail, Mailer } from "../../platform/mail/mail.ts";

const NOTICES_A_RUN = 20;

export interface NoticeDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
  readonly mailer: Mailer;
  /** The emails about one notice; empty if the resource was deleted. */
  readonly mailsOf: (notice: DueNotice) => Promise<readonly Mail[]>;
}

export async function sendNotices(deps: NoticeDependencies): Promise<Left> {
  const { db, nowMs } = deps;
  await forgetQuietNotices(db, nowMs);
  const due = await selectDueNotices(db, { nowMs, limit: NOTICES_A_RUN });
  for (const notice of due) {
    const taken = await takeNotice(db, notice, nowMs);
    if (taken.length === 0) continue;
    for (const mail of await deps.mailsOf(notice)) await deps.mailer.post(mail);
  }
  return due.length === NOTICES_A_RUN ? "more" : "nothing";
}
