// Run by the cron: sends due receipts. A receipt is leased while it is sent, so that a crashed run delays it but does not lose it. If an email is
// then sent twice, both have the same id. Each run is limited in count and time, and alternates between merchants.

import { SECOND_MS } from "../../lib/time.ts";
import { inTurns } from "../../lib/turns.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import type { MailClient, MailProblem } from "../../platform/mail/mail.ts";
import { type DeliveryDependencies, trySending } from "../../platform/mail/send-mail.ts";
import { mailboxOf, roomAtMs } from "./mail-room.ts";
import { nextAttemptMs, planReceipt, type ReceiptMail } from "./receipt.ts";
import {
  type ClaimedReceipt,
  claimReceipts,
  deferReceipt,
  finishReceipt,
  forgetMails,
  postponeReceipt,
  type ReceiptRow,
  selectDueReceipts,
  selectMailRoom,
  selectReceiptFacts,
  takeMail,
  withdrawReceipt,
} from "./store.ts";

export interface ReceiptDependencies extends DeliveryDependencies {
  readonly db: Db;
  readonly nowMs: () => number;
  readonly client: MailClient;
  /** Origin of our pages, without a trailing slash. */
  readonly publicUrl: string;
}

/** Emails sent at once: an invocation has six connections. */
const CHUNK = 5;
const MOST_A_RUN = 100;
/** The time after which a run starts no more emails. */
const RUN_MS = 40 * SECOND_MS;

/** Throws only if the database does. A receipt is tried again, for about three days, if none of its emails could be sent. */
export async function sendReceipts(deps: ReceiptDependencies): Promise<Left> {
  const beganMs = deps.nowMs();
  await forgetMails(deps.db, beganMs);
  const found = await selectDueReceipts(deps.db, { limit: MOST_A_RUN, nowMs: beganMs });
  const due = inTurns(found, MOST_A_RUN);
  for (let at = 0; at < due.length && deps.nowMs() - beganMs < RUN_MS; at += CHUNK) {
    const receipts = await claimReceipts(deps.db, { keys: due.slice(at, at + CHUNK), nowMs: deps.nowMs() });
    const rows = await selectReceiptFacts(
      deps.db,
      receipts.map(({ invoiceId }) => invoiceId),
    );
    const done = await Promise.allSettled(
      receipts.map(async (receipt) =>
        sendReceipt(
          deps,
          receipt,
          rows.find(({ invoiceId }) => invoiceId === receipt.invoiceId),
        ),
      ),
    );
    for (const each of done) if (each.status === "rejected") throw each.reason;
  }
  return due.length === MOST_A_RUN ? "more" : "nothing";
}

async function sendReceipt(
  deps: ReceiptDependencies,
  receipt: ClaimedReceipt,
  row: ReceiptRow | undefined,
): Promise<void> {
  const plan = row === undefined ? "UNWANTED" : planOf(deps, receipt, row);
  if (row !== undefined && typeof plan !== "string") {
    const waitsUntilMs = await countMail(deps, receipt, row);
    if (waitsUntilMs === null) return post(deps, receipt, plan);
    await deferReceipt(deps.db, receipt, waitsUntilMs);
    return;
  }
  switch (plan) {
    case "REVERSED":
      await withdrawReceipt(deps.db, receipt);
      return;
    case "UNWANTED":
      await finishReceipt(deps.db, receipt, null);
      return;
    case "UNWRITABLE":
      return fail(deps, receipt, "no mail can be made from its data");
  }
}

/** Counts the email that is about to be sent. Returns null, or, if a daily limit is reached, when the limits allow the email. */
async function countMail(
  { db, nowMs: clock }: ReceiptDependencies,
  receipt: ClaimedReceipt,
  { merchantId, customerEmail }: ReceiptRow,
): Promise<number | null> {
  const nowMs = clock();
  const mailbox = receipt.recipient === "CUSTOMER" && customerEmail !== null ? mailboxOf(customerEmail) : null;
  const mail = { ...receipt, merchantId, mailbox, nowMs };
  const [taken, [room]] = await batch(db, [takeMail(db, mail), selectMailRoom(db, mail)]);
  if (taken.length > 0) return null;
  if (room === undefined) throw new Error("a select of one row returned none");
  return roomAtMs(room, nowMs);
}

/** An exception here is a bug: no email can be made from the facts. It is reported like every failure, and does not block other receipts. */
function planOf(deps: ReceiptDependencies, { recipient }: ClaimedReceipt, { brand, ...row }: ReceiptRow) {
  const facts = { ...row, shopName: brand.name ?? row.merchantName, supportUrl: brand.supportUrl ?? null };
  try {
    return planReceipt(recipient, facts, deps);
  } catch {
    return "UNWRITABLE";
  }
}

/**
 * A receipt counts as sent once one of its emails was sent. Otherwise one team member's mailbox that refuses emails would make us email the whole
 * team on every try. The log says how many emails were lost.
 */
async function post(deps: ReceiptDependencies, receipt: ClaimedReceipt, mails: readonly ReceiptMail[]): Promise<void> {
  const problems: MailProblem[] = [];
  let sent = 0;
  for (const { mail, id } of mails) {
    const { problem } = await trySending(deps, () => deps.client.send(mail, id));
    if (problem === undefined) sent += 1;
    else problems.push(problem);
    // If the provider is down, the next email would fail too.
    if (problem?.isPassing === true && sent === 0) break;
  }
  const [first] = problems;
  if (sent === 0) return fail(deps, receipt, first?.reason ?? "it has no mails");
  await finishReceipt(deps.db, receipt, deps.nowMs());
  if (first === undefined) return;
  const { invoiceId, recipient } = receipt;
  deps.report("mails of a receipt were not sent", {
    invoiceId,
    recipient,
    lost: problems.length,
    reason: first.reason,
  });
}

async function fail(deps: ReceiptDependencies, receipt: ClaimedReceipt, reason: string): Promise<void> {
  const { invoiceId, recipient, attempts } = receipt;
  const next = nextAttemptMs(attempts, deps.nowMs());
  await postponeReceipt(deps.db, receipt, next);
  const alert = next === null ? "a receipt was given up" : "a receipt could not be sent yet";
  deps.report(alert, { invoiceId, recipient, attempts, reason });
}
