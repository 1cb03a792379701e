// POSTs an alert to the operators' receiver, with the same checks of the URL and its host, the same client and the same signature as merchants'
// webhooks. It is retried as often as an email, with the same time limits.
import { ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { MailProblem } from "../../platform/mail/mail.ts";
import { type DeliveryDependencies, TRY_LIMIT_MS, trySending } from "../../platform/mail/send-mail.ts";
import type { Resolution } from "../../platform/resolver/host-resolver-client.ts";
import type { ReceiverAnswer, ReceiverRequest } from "../webhooks/receiver-client.ts";
import { judge } from "../webhooks/retry-schedule.ts";
import { standardHeaders } from "../webhooks/signature.ts";
import type { AlertMessage, AlertWebhook } from "./alert-webhook.ts";

/** The time limit of one attempt is divided between resolving the host and the POST. */
export const RESOLVE_LIMIT_MS = 2 * SECOND_MS;
const POST_LIMIT_MS = TRY_LIMIT_MS - RESOLVE_LIMIT_MS;

export interface PostAlertDependencies {
  readonly nowMs: () => number;
  readonly resolve: (host: string) => Promise<Resolution>;
  readonly post: (request: ReceiverRequest) => Promise<ReceiverAnswer>;
}

interface Posted {
  /** The status of the receiver's answer; null if there was none. */
  readonly statusCode: number | null;
  /** Undefined if the receiver accepted the message. */
  readonly problem: MailProblem | undefined;
}

/** Makes one attempt. Resolves the host each time, because its addresses may have changed. */
export async function postAlert(
  deps: PostAlertDependencies,
  { url, host, secret }: AlertWebhook,
  { id, body }: AlertMessage,
): Promise<Posted> {
  const resolved = host === null ? undefined : await deps.resolve(host);
  if (resolved !== undefined && resolved.kind !== "public")
    return { statusCode: null, problem: { reason: resolved.why, isPassing: resolved.kind === "unknown" } };
  const timestampSeconds = Math.floor(deps.nowMs() / SECOND_MS);
  const secrets = secret === null ? [] : [secret];
  const headers = await standardHeaders({ eventId: id, body, timestampSeconds, secrets });
  const answer = await deps.post({ url, headers, body, timeoutMs: POST_LIMIT_MS });
  return { statusCode: answer.statusCode, problem: problemOf(answer) };
}

/** Never rejects. A message that was not accepted is reported. */
export async function postAlertRepeatedly(
  deps: PostAlertDependencies & DeliveryDependencies,
  webhook: AlertWebhook,
  message: AlertMessage,
): Promise<void> {
  const { problem, tries } = await trySending(deps, async (): Promise<Result<undefined, MailProblem>> => {
    const posted = await postAlert(deps, webhook, message);
    return posted.problem === undefined ? ok(undefined) : { ok: false, error: posted.problem };
  });
  if (problem !== undefined) deps.report("an alert by webhook was lost", { reason: problem.reason, tries });
}

function problemOf(answer: ReceiverAnswer): MailProblem | undefined {
  const { statusCode, error } = answer;
  if (judge(answer) === "SUCCESS") return undefined;
  if (statusCode !== null)
    return { reason: `the receiver answered with status ${statusCode}`, isPassing: isPassing(statusCode) };
  const isLate = error === "TIMEOUT";
  const reason = isLate ? `no answer within ${POST_LIMIT_MS / SECOND_MS} seconds` : "no connection to the receiver";
  return { reason, isPassing: true };
}

function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408 || status === 425;
}
