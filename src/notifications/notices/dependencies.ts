// Dependencies of the cron's notices: for each kind of email, a function that writes its text.

import { readMarkMails } from "../../commerce/invoices/send-mark-mail.ts";
import { readWalletMails } from "../../commerce/wallet-alerts/read-wallet-mails.ts";
import { sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import { readEndpointMails } from "../deliveries/read-endpoint-mails.ts";
import type { NoticeDependencies } from "./send-notices.ts";

export function noticeDependencies(
  env: Env,
  given: { readonly db: Db; readonly nowMs: number; readonly background: (work: Promise<unknown>) => void },
): NoticeDependencies {
  const { db, nowMs } = given;
  const macKeys = keyringOf(env, "ROW_MAC_KEY");
  const deps = { db, nowMs, sleep, publicUrl: publicUrl(env), macKeys: macKeys.ok ? macKeys.value : undefined };
  return {
    db,
    nowMs,
    sleep,
    mailer: mailerOf(env, given),
    mailsOf: (notice) => {
      if (notice.kind === "ENDPOINT_DISABLED") return readEndpointMails(deps, notice);
      return notice.kind === "INVOICE_MARKED" ? readMarkMails(deps, notice) : readWalletMails(deps, notice);
    },
  };
}
