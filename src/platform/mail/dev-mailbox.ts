// The development mailbox keeps the emails that would have been sent, for `/dev/mail`. It is a Durable Object, so that a code or link in an email is
// never stored in plain text in the database. Only available with ENVIRONMENT=development (decisions 1).
import { DurableObject } from "cloudflare:workers";
import { parseJson } from "../../lib/typed-json.ts";
import type { Mail } from "./mail.ts";

/** The number of emails that are kept; older ones are deleted. */
const KEPT = 500;

export interface KeptMail extends Mail {
  /** ISO 8601. */
  readonly at: string;
}

interface MailboxRpc {
  keep(mail: KeptMail): Promise<void>;
  /** Newest first; `to` may be in upper or lower case. */
  list(to: string | undefined): Promise<KeptMail[]>;
}

export class DevMailbox extends DurableObject implements MailboxRpc {
  readonly #sql: SqlStorage;

  constructor(state: DurableObjectState, env: Cloudflare.Env) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec("create table if not exists mails (n integer primary key autoincrement, recipient text, mail text)");
  }

  async keep(mail: KeptMail): Promise<void> {
    this.#sql.exec("insert into mails (recipient, mail) values (?, ?)", mail.to.toLowerCase(), JSON.stringify(mail));
    this.#sql.exec("delete from mails where n <= (select max(n) from mails) - ?", KEPT);
  }

  async list(to: string | undefined): Promise<KeptMail[]> {
    const rows =
      to === undefined
        ? this.#sql.exec<{ mail: string }>("select mail from mails order by n desc")
        : this.#sql.exec<{ mail: string }>(
            "select mail from mails where recipient = ? order by n desc",
            to.toLowerCase(),
          );
    return rows.toArray().map(({ mail }) => parseJson<KeptMail>(mail));
  }
}
