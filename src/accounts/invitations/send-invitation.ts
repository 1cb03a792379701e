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
 * Emails the invitation that was stored with this token, after its batch has committed. Sends nothing if the email waits because of a daily limit, or
 * if another request with the same Idempotency-Key committed, because that request sends the email. If the email is lost here, the invitation can be
 * resent.
 */
export async function sendInvitation(deps: MailDependencies, token: string): Promise<void> {
  const rows = await readWithRetry(deps.sleep, async () => selectToMail(deps.db, sha256Hex(token)));
  const [toMail] = rows.ok ? rows.value : [];
  if (toMail !== undefined) await deps.mailer.post(invitationMail(toMail, token, deps.publicUrl));
}
