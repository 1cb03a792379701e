import { selectLiveMerchant } from "../../accounts/merchant-records/store.ts";
import { recordNotice } from "../../accounts/notices/record-notice.ts";
import type { DueNotice } from "../../accounts/notices/store.ts";
import { selectStewards } from "../../accounts/teams/store.ts";
import type { MerchantId } from "../../lib/ids.ts";
import { logAlert } from "../../lib/log.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Mail, Mailer } from "../../platform/mail/mail.ts";
import { postAll } from "../../platform/mail/post-all.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import type { ChangeDependencies } from "./change-invoice.ts";
import { markMail } from "./mark-mail.ts";

export interface MarkDependencies {
  readonly mailer: Mailer;
}

/**
 * Emails every OWNER and ADMIN. Marks that follow within ten minutes are combined into one email. Losing an email is harmless, because the marks are
 * also in the audit log.
 */
export async function mailMark(deps: ChangeDependencies & MarkDependencies, invoice: Invoice): Promise<void> {
  const { merchantId, id } = invoice;
  const { kind, id: actor } = deps.trail.actor;
  const author = kind === "API_KEY" ? `The API key ${actor}` : `The user ${actor}`;
  const notice = { kind: "INVOICE_MARKED", thing: merchantId, actor: author, merchantId, isLinked: false } as const;
  if (!(await recordNotice(deps, notice))) return;
  const rows = await readWithRetry(deps.sleep, async () => selectReaders(deps.db, merchantId));
  if (!rows.ok) return logAlert("mails about a marked invoice were not sent", { invoiceId: id });
  const [stewards, [merchant]] = rows.value;
  if (merchant === undefined) return;
  const mark = { merchantName: merchant.name, author, marked: invoice, nowMs: deps.nowMs };
  await postAll(deps.mailer, `the invoice ${id}`, stewards, ({ email }) => markMail(email, mark));
}

/** The emails about marks that were held back to be combined. */
export async function readMarkMails(
  { db, nowMs }: { readonly db: Db; readonly nowMs: number },
  { merchantId, actor: author, waiting: marked }: DueNotice,
): Promise<readonly Mail[]> {
  const [stewards, [merchant]] = await selectReaders(db, merchantId);
  if (merchant === undefined) return [];
  return stewards.map(({ email }) => markMail(email, { merchantName: merchant.name, author, marked, nowMs }));
}

function selectReaders(db: Db, merchantId: MerchantId) {
  return batch(db, [selectStewards(db, merchantId), selectLiveMerchant(db, merchantId)]);
}
