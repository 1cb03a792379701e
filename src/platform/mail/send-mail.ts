// Sends an email through a provider: at most three attempts with full-jitter pauses between them. The log records that an email was lost and why, but
// never its recipient or content, which may contain a code.
import { fullJitterMs } from "../../lib/backoff.ts";
import type { Report } from "../../lib/log.ts";
import type { Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Mail, MailClient, MailProblem } from "./mail.ts";

/** The time limit for one attempt. Three attempts and their pauses fit into the 30 seconds that the platform allows after a response. */
export const TRY_LIMIT_MS = 8 * SECOND_MS;
const TRIES = 3;
const PAUSE = { baseMs: SECOND_MS, capMs: 2 * SECOND_MS };

export interface DeliveryDependencies {
  readonly sleep: Sleep;
  /** In [0, 1). */
  readonly random: () => number;
  /** Called without any content of the email. */
  readonly report: Report;
}

/** Never rejects; an email that could not be sent is reported. */
export async function sendMail(deps: DeliveryDependencies, client: MailClient, mail: Mail, id: string): Promise<void> {
  const { problem, tries } = await trySending(deps, () => client.send(mail, id));
  if (problem === undefined) return;
  deps.report("a mail was lost", { provider: client.name, reason: problem.reason, tries });
}

/** Calls `send` until it succeeds or a retry is useless, at most three times. `problem` is undefined if an attempt succeeded. */
export async function trySending(
  deps: Omit<DeliveryDependencies, "report">,
  send: () => Promise<Result<undefined, MailProblem>>,
): Promise<{ readonly problem: MailProblem | undefined; readonly tries: number }> {
  let problem: MailProblem = { reason: "never tried", isPassing: true };
  let tries = 0;
  while (tries < TRIES && problem.isPassing) {
    if (tries > 0) await deps.sleep(fullJitterMs({ ...PAUSE, attempt: tries, random: deps.random() }));
    const sent = await send();
    tries += 1;
    if (sent.ok) return { problem: undefined, tries };
    problem = sent.error;
  }
  return { problem, tries };
}
