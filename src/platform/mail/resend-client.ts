// Resend `POST /emails` (resend.com/docs/api-reference/emails/send-email): a bearer key, JSON, 200 with an id. Its Idempotency-Key makes a
// repeat safe for 24 hours. It refuses a request without a User-Agent. The response body is not read, because it may repeat the email.
import { err, ok, type Result } from "../../lib/result.ts";
import { abortedAfter } from "../../lib/sleep.ts";
import type { Mail, MailClient, MailProblem } from "./mail.ts";
import { type Sender, senderText } from "./provider.ts";

interface ResendSettings {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly from: Sender;
  readonly timeoutMs: number;
}

export function resendClient(of: ResendSettings): MailClient {
  return { name: "resend", send: (mail, id) => abortedAfter(of.timeoutMs, (signal) => post(of, mail, { id, signal })) };
}

interface Sending {
  readonly id: string;
  readonly signal: AbortSignal;
}

async function post(of: ResendSettings, mail: Mail, { id, signal }: Sending): Promise<Result<undefined, MailProblem>> {
  const { to, subject, text, html } = mail;
  try {
    const response = await of.fetch(`${of.baseUrl.replace(/\/+$/, "")}/emails`, {
      method: "POST",
      redirect: "manual",
      signal,
      headers: {
        authorization: `Bearer ${of.apiKey}`,
        "content-type": "application/json",
        "user-agent": "edgetill",
        "idempotency-key": id,
      },
      body: JSON.stringify({ from: senderText(of.from), to: [to], subject, text, html }),
    });
    await response.body?.cancel();
    if (response.ok) return ok(undefined);
    return err({ reason: `status ${response.status}`, isPassing: isPassing(response.status) });
  } catch {
    // The error's message may contain anything, so it is not logged. It is enough to distinguish a timeout from a failed connection.
    return err({ reason: signal.aborted ? "no answer in time" : "no connection", isPassing: true });
  }
}

/** 409: another attempt with the same key is still running. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408 || status === 409;
}
