import { sha256Hex } from "../../lib/bytes.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { invitationMail } from "./invitation-mail.ts";
import { selectToMail } from "./store.ts";

export interface MailDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly mailer: Mailer;
  readonly publicUrl: string;
}

/**
 * Emails the invitation that was stored with this token, after its batch has committed. There is none if another request with the same
 * Idempotency-Key committed, which then sends the email. The resend route can replace an email that is lost here.
 */
export async function sendInvitation(deps: MailDependencies, token: string): Promise<void> {
  const rows = await readWithRetry(deps.sleep, async () => selectToMail(deps.db, sha256Hex(token)));
  const [toMail] = rows.ok ? rows.value : [];
  if (toMail !== undefined) await deps.mailer.post(invitationMail(toMail, token, deps.publicUrl));
}
