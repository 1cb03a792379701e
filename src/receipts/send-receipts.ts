// The cron's part: receipts that are owed go out. A claim is a lease, so that a run which dies in the middle costs a pause and no receipt; what
// is sent twice after that has the same id. Bounded in count and time.
import type { Db } from "../db/client.ts";
import { SECOND_MS } from "../lib/time.ts";
import type { MailClient, MailProblem } from "../mail/mail.ts";
import { type DeliveryEffects, trySending } from "../mail/send-mail.ts";
import { nextAttemptMs, planReceipt, type ReceiptMail } from "./receipt.ts";
import {
  type ClaimedReceipt,
  claimReceipts,
  finishReceipt,
  postponeReceipt,
  type ReceiptRow,
  selectReceiptFacts,
  withdrawReceipt,
} from "./store.ts";

export interface ReceiptEffects extends Omit<DeliveryEffects, "log"> {
  readonly db: Db;
  readonly nowMs: () => number;
  readonly client: MailClient;
  /** Origin of our pages, without a slash at its end. */
  readonly publicUrl: string;
  /** For the log: ids and words of our own, nothing of a mail. */
  readonly report: (alert: string, facts: Readonly<Record<string, string | number>>) => void;
}

/** Sent at once: an invocation has six connections. */
const PIECE = 5;
const MOST_A_RUN = 100;
/** Nothing more is begun after it. */
const RUN_MS = 40 * SECOND_MS;

/** Sends what is due. Throws where the database does; every mail that could not be sent is tried again. */
export async function sendReceipts(fx: ReceiptEffects): Promise<void> {
  const beganMs = fx.nowMs();
  for (let claimed = 0; claimed < MOST_A_RUN && fx.nowMs() - beganMs < RUN_MS; claimed += PIECE) {
    const receipts = await claimReceipts(fx.db, { limit: PIECE, nowMs: fx.nowMs() });
    if (receipts.length === 0) return;
    const rows = await selectReceiptFacts(
      fx.db,
      receipts.map(({ invoiceId }) => invoiceId),
    );
    const done = await Promise.allSettled(
      receipts.map(async (receipt) =>
        sendReceipt(
          fx,
          receipt,
          rows.find(({ invoiceId }) => invoiceId === receipt.invoiceId),
        ),
      ),
    );
    for (const each of done) if (each.status === "rejected") throw each.reason;
    if (receipts.length < PIECE) return;
  }
}

async function sendReceipt(fx: ReceiptEffects, receipt: ClaimedReceipt, row: ReceiptRow | undefined): Promise<void> {
  const plan = row === undefined ? "UNWANTED" : planOf(fx, receipt, row);
  if (typeof plan !== "string") return post(fx, receipt, plan);
  switch (plan) {
    case "REVERSED":
      await withdrawReceipt(fx.db, receipt);
      return;
    case "UNWANTED":
      await finishReceipt(fx.db, receipt, null);
      return;
    case "UNWRITABLE":
      return fail(fx, receipt, "it cannot be written");
  }
}

/** Facts that no mail can be made of are a bug, told of as every failure is, and keep no other receipt waiting. */
function planOf(fx: ReceiptEffects, { recipient }: ClaimedReceipt, { brand, ...row }: ReceiptRow) {
  const facts = { ...row, shopName: brand.name ?? row.merchantName, supportUrl: brand.supportUrl ?? null };
  try {
    return planReceipt(recipient, facts, fx);
  } catch {
    return "UNWRITABLE";
  }
}

/**
 * Sent is sent where one of its mails is out: were all of a team mailed again for the sake of one whose mailbox refuses, they would get it
 * day after day. The log says that some were lost.
 */
async function post(fx: ReceiptEffects, receipt: ClaimedReceipt, mails: readonly ReceiptMail[]): Promise<void> {
  const problems: MailProblem[] = [];
  let sent = 0;
  for (const { mail, id } of mails) {
    const { problem } = await trySending(fx, fx.client, mail, id);
    if (problem === undefined) sent += 1;
    else problems.push(problem);
    // The provider is out of order: the next mail would fare no better.
    if (problem?.isPassing === true && sent === 0) break;
  }
  const [first] = problems;
  if (sent === 0) return fail(fx, receipt, first?.reason ?? "it has no mail");
  await finishReceipt(fx.db, receipt, fx.nowMs());
  if (first === undefined) return;
  const { invoiceId, recipient } = receipt;
  fx.report("mails of a receipt were lost", { invoiceId, recipient, lost: problems.length, reason: first.reason });
}

async function fail(fx: ReceiptEffects, receipt: ClaimedReceipt, reason: string): Promise<void> {
  const { invoiceId, recipient, attempts } = receipt;
  const next = nextAttemptMs(attempts, fx.nowMs());
  await postponeReceipt(fx.db, receipt, next);
  const alert = next === null ? "a receipt was given up" : "a receipt could not be sent yet";
  fx.report(alert, { invoiceId, recipient, attempts, reason });
}
