// Cloudflare's `send_email` binding (developers.cloudflare.com/email-service/api/send-emails/workers-api): `send` resolves with a message id or
// throws an error with a code such as E_RATE_LIMIT_EXCEEDED. Its message may repeat an address and is not read.
import { err, ok, type Result } from "../../lib/result.ts";
import { Cancellation, sleep } from "../../lib/sleep.ts";
import type { Mail, MailClient, MailProblem } from "./mail.ts";
import type { Sender } from "./provider.ts";

interface CloudflareMailSettings {
  readonly binding: Pick<SendEmail, "send">;
  readonly from: Sender;
  readonly timeoutMs: number;
}

export function cloudflareMailClient(of: CloudflareMailSettings): MailClient {
  return { name: "cloudflare", send: (mail) => send(of, mail) };
}

async function send(of: CloudflareMailSettings, mail: Mail): Promise<Result<undefined, MailProblem>> {
  const limit = new Cancellation();
  // The email may have been sent after all. A second email with the same code is better than no email.
  const late = sleep(of.timeoutMs, limit).then(() => err({ reason: "no answer in time", isPassing: true }));
  const { to, subject, text, html } = mail;
  const from = of.from.name === "" ? of.from.email : of.from;
  const sent = of.binding.send({ from, to, subject, text, html }).then(
    () => ok(undefined),
    (error: unknown) => err(problemOf(error)),
  );
  try {
    return await Promise.race([sent, late]);
  } finally {
    limit.cancel();
  }
}

/** Errors that a retry within seconds does not change: a sender, recipient or content that is not allowed, or the daily limit. */
const LASTING = /^E_(VALIDATION|FIELD|TOO_MANY|SENDER|RECIPIENT|HEADER|CONTENT|DAILY)/;

function problemOf(error: unknown): MailProblem {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  const reason = /^[A-Z][A-Z_]{1,60}$/.test(code) ? code : "the binding threw";
  return { reason, isPassing: !LASTING.test(reason) };
}
