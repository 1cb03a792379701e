// The mail about an invoice that was marked as settled by hand: a shop delivers then, although the money has not come.
import { selectLiveMerchant } from "../../accounts/merchant-records/store.ts";
import { selectStewards } from "../../accounts/teams/store.ts";
import { logAlert } from "../../lib/log.ts";
import { formatMicros } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { linkless, subjectNaming } from "../../platform/mail/names.ts";
import { postAll } from "../../platform/mail/post-all.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import type { ChangeDependencies } from "./change-invoice.ts";

export interface MarkDependencies {
  readonly mailer: Mailer;
}

/** Mails every OWNER and ADMIN. Losing it is harmless, because the audit log says it too. */
export async function mailMark(deps: ChangeDependencies & MarkDependencies, invoice: Invoice): Promise<void> {
  const { merchantId, id } = invoice;
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [selectStewards(deps.db, merchantId), selectLiveMerchant(deps.db, merchantId)]),
  );
  if (!rows.ok) return logAlert("mails about a marked invoice were not sent", { invoiceId: id });
  const [stewards, [merchant]] = rows.value;
  if (merchant === undefined) return;
  const { kind, id: actor } = deps.trail.actor;
  const author = kind === "API_KEY" ? `The API key ${actor}` : `The user ${actor}`;
  const paragraphs = [
    `${author} marked the invoice ${id} of ${linkless(merchant.name)} as settled at ${isoTime(deps.nowMs)}.`,
    `Received and confirmed by then: ${formatMicros(invoice.confirmedMicros)} of ${formatMicros(invoice.amountMicros)} ${invoice.currency}. Your shop may deliver all the same.`,
    "If you do not expect this, sign in, look at the invoice, and delete the key or check the members of the team.",
  ];
  const naming = (name: string) => `An invoice of ${name} was marked as settled by hand`;
  const subject = subjectNaming(merchant.name, naming, "An invoice was marked as settled by hand");
  await postAll(deps.mailer, `the invoice ${id}`, stewards, ({ email: to }) =>
    composeMail({ to, subject, paragraphs }),
  );
}
