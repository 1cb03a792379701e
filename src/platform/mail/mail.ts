// An email, and the interfaces through which it is sent, independent of the provider.
import type { Result } from "../../lib/result.ts";

export interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends emails. An email may not arrive, so a user can request its content again. */
export interface Mailer {
  /**
   * Accepts an email. In development it is in the mailbox when this resolves. Otherwise it is sent after the response, with at most three attempts,
   * and a failure is logged without the address.
   */
  post(mail: Mail): Promise<void>;
}

/** Why an attempt failed. */
export interface MailProblem {
  /** Our own words, without any content of the email, because it is logged. */
  readonly reason: string;
  /** Whether another attempt may succeed. */
  readonly isPassing: boolean;
}

/** A mail provider. */
export interface MailClient {
  readonly name: string;
  /** Makes one attempt; never throws. `id` is the same for every attempt at one email. */
  send(mail: Mail, id: string): Promise<Result<undefined, MailProblem>>;
}
