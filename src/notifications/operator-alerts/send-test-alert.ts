// Sends a test by each channel in the same way as an alert, and reports what the mail provider and the receiver answered, so that operators know
// whether alerts can arrive. A test is not stored as a sent alert. Only the time at which a test was last accepted is stored, so that an operator can
// confirm its arrival.
import { selectOperators } from "../../accounts/operators/store.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { MailClient } from "../../platform/mail/mail.ts";
import { testAlertMail } from "./alert-mail.ts";
import { type AlertWebhook, testAlertMessage } from "./alert-webhook.ts";
import { type PostAlertDependencies, postAlert } from "./post-alert.ts";
import { upsertProof } from "./store.ts";

export interface TestAlertDependencies extends PostAlertDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  /** Undefined if mail is not configured. */
  readonly client: MailClient | undefined;
  /** Null if no webhook is configured; an error if a setting is wrong. */
  readonly webhook: Result<AlertWebhook | null, string>;
  /** The fingerprint of the settings of alerts. */
  readonly alertSettings: string;
  readonly publicUrl: string;
  newMessageId(): string;
}

interface TestAlert {
  readonly isMailConfigured: boolean;
  readonly mails: readonly { readonly email: string; readonly isAccepted: boolean; readonly problem: string | null }[];
  readonly webhook: {
    readonly host: string | null;
    readonly isAccepted: boolean;
    readonly statusCode: number | null;
    readonly problem: string | null;
  } | null;
}

/** Makes only one attempt for each operator and one for the receiver, so that the result is their first response. */
export async function sendTestAlert(deps: TestAlertDependencies): Promise<Result<TestAlert, Failure>> {
  const operators = await readWithRetry(deps.sleep, async () => selectOperators(deps.db));
  if (!operators.ok) return operators;
  const { client } = deps;
  const [mails, webhook] = await Promise.all([
    client === undefined ? [] : Promise.all(operators.value.map(({ email }) => mailed(deps, client, email))),
    posted(deps),
  ]);
  if (webhook?.isAccepted || mails.some(({ isAccepted }) => isAccepted)) {
    const accepted = { acceptedAtMs: deps.nowMs(), acceptedSettings: deps.alertSettings };
    const stored = await readWithRetry(deps.sleep, async () => batch(deps.db, [upsertProof(deps.db, accepted)]));
    if (!stored.ok) return stored;
  }
  return ok({ isMailConfigured: client !== undefined, mails, webhook });
}

async function mailed(
  { publicUrl, newMessageId }: TestAlertDependencies,
  client: MailClient,
  email: string,
): Promise<TestAlert["mails"][number]> {
  const sent = await client.send(testAlertMail(email, publicUrl), newMessageId());
  return { email, isAccepted: sent.ok, problem: sent.ok ? null : sent.error.reason };
}

async function posted(deps: TestAlertDependencies): Promise<TestAlert["webhook"]> {
  const { webhook, publicUrl } = deps;
  if (!webhook.ok) return { host: null, isAccepted: false, statusCode: null, problem: webhook.error };
  if (webhook.value === null) return null;
  const { host } = new URL(webhook.value.url);
  const message = testAlertMessage({ id: deps.newMessageId(), nowMs: deps.nowMs(), publicUrl });
  const { statusCode, problem } = await postAlert(deps, webhook.value, message);
  return { host, isAccepted: problem === undefined, statusCode, problem: problem?.reason ?? null };
}
