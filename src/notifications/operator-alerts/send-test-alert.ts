// Emails every operator as an alert does, by the same provider and from the same sender, and says what the provider answered: an alert is worth nothing if
// nobody gets it. Nothing is stored, and no alert counts as sent.
import { selectOperators } from "../../accounts/operators/store.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { MailClient } from "../../platform/mail/mail.ts";
import { testAlertMail } from "./alert-mail.ts";

export interface TestAlertDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  /** Undefined where mail is not configured. */
  readonly client: MailClient | undefined;
  readonly publicUrl: string;
  newMailId(): string;
}

interface TestAlert {
  readonly isMailConfigured: boolean;
  readonly mails: readonly { readonly email: string; readonly isAccepted: boolean; readonly problem: string | null }[];
}

/** One attempt for each operator, so that the answer is the provider's first. */
export async function sendTestAlert(deps: TestAlertDependencies): Promise<Result<TestAlert, Failure>> {
  const { db, sleep, client, publicUrl, newMailId } = deps;
  if (client === undefined) return ok({ isMailConfigured: false, mails: [] });
  const operators = await readWithRetry(sleep, async () => selectOperators(db));
  if (!operators.ok) return operators;
  const mails = operators.value.map(async ({ email }) => {
    const sent = await client.send(testAlertMail(email, publicUrl), newMailId());
    return { email, isAccepted: sent.ok, problem: sent.ok ? null : sent.error.reason };
  });
  return ok({ isMailConfigured: true, mails: await Promise.all(mails) });
}
