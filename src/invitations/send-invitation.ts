import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import { sha256Hex } from "../lib/bytes.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Mailer } from "../mail/mail.ts";
import { invitationMail } from "./invitation-mail.ts";
import { selectToMail } from "./store.ts";

export interface MailEffects {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly mailer: Mailer;
  readonly publicUrl: string;
}

/**
 * Mails the invitation that stands with this very token, after its batch. None stands when the batch was another's with the same
 * Idempotency-Key: then somebody else has sent the mail. What is lost here is sent anew by the resend route.
 */
export async function sendInvitation(fx: MailEffects, token: string): Promise<void> {
  const rows = await readWithRetry(fx.sleep, async () => selectToMail(fx.db, sha256Hex(token)));
  const [toMail] = rows.ok ? rows.value : [];
  if (toMail !== undefined) await fx.mailer.post(invitationMail(toMail, token, fx.publicUrl));
}
