import { logAlert } from "../../lib/log.ts";
import type { Mail, Mailer } from "./mail.ts";

/** Sends emails about a committed change. A lost email does not undo the change; the loss is logged without an address. */
export async function postAll<Reader>(
  mailer: Mailer,
  what: string,
  readers: readonly Reader[],
  mailTo: (reader: Reader) => Mail,
): Promise<void> {
  const posted = await Promise.allSettled(readers.map(async (reader) => mailer.post(mailTo(reader))));
  const lost = posted.filter(({ status }) => status === "rejected").length;
  if (lost > 0) logAlert(`mails about ${what} could not be sent`, { lost });
}
