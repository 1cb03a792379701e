// A mail as Edgetill sends it, whatever carries it.
import type { Result } from "../../lib/result.ts";

export interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends mails. Nobody can promise that one arrives: what a mail says can be requested again. */
export interface Mailer {
  /**
   * Hands a mail over. In development it is in the mailbox when this resolves; elsewhere it is sent after the answer, is tried three
   * times, and a failure is logged without the address.
   */
  post(mail: Mail): Promise<void>;
}

/** Why a try failed. */
export interface MailProblem {
  /** In our own words: nothing of the mail is in it, for it goes to the log. */
  readonly reason: string;
  /** Whether another try may succeed. */
  readonly isPassing: boolean;
}

/** A provider. */
export interface MailClient {
  readonly name: string;
  /** One try; never throws. `id` is the same for every try of one mail. */
  send(mail: Mail, id: string): Promise<Result<undefined, MailProblem>>;
}
