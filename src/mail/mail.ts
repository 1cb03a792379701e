// A mail as Edgetill sends it, whatever carries it (security.md 1 "Mail goes through one interface").

export interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends mails. Whether one arrives is nobody's to promise: what a mail says can be asked for again. */
export interface Mailer {
  /**
   * Hands a mail over. In development it stands in the mailbox when this resolves; elsewhere it goes out behind the answer, is tried three
   * times, and a failure is logged without the address.
   */
  post(mail: Mail): Promise<void>;
}
