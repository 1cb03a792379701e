// Receipts by email: who gets one, when it is sent, and when it is no longer due. The batch that makes an invoice PAID or OVERPAID also records that
// a receipt is due (store.ts). The cron sends the emails at least once, each with the same id however often it is tried.

import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { isLanguage } from "../../platform/texts/languages.ts";
import type { PaidWith, ReceiptFacts } from "./receipt-mail.ts";
import { customerMail, merchantMail } from "./receipt-mail.ts";

/** CUSTOMER: the payer. MERCHANT: every OWNER and ADMIN. */
export type Recipient = "CUSTOMER" | "MERCHANT";

export interface ReceiptMail {
  /** Unique to the email, and the same on every try. */
  readonly id: string;
  readonly mail: Mail;
}

/** `REVERSED`: not due now, but due again when the invoice is paid again. `UNWANTED`: no longer due. */
type ReceiptPlan = "REVERSED" | "UNWANTED" | readonly [ReceiptMail, ...ReceiptMail[]];

/** Decides what to do with a due receipt. The current settings apply: after a merchant switches receipts off, no late receipt is sent. */
export function planReceipt(
  recipient: Recipient,
  facts: ReceiptFacts,
  context: { readonly publicUrl: string },
): ReceiptPlan {
  if (facts.status !== "PAID" && facts.status !== "OVERPAID") return "REVERSED";
  if (!facts.isMerchantLive) return "UNWANTED";
  const id = `receipt-${facts.invoiceId}-${recipient}`;
  switch (recipient) {
    case "CUSTOMER": {
      const { customerEmail: to, language } = facts;
      if (to === null || !facts.mailReceiptsToCustomers || !facts.payments.some(isConfirmed)) return "UNWANTED";
      const read = language !== null && isLanguage(language) ? language : "en";
      return [{ id, mail: customerMail(facts, { ...context, to, language: read }) }];
    }
    case "MERCHANT": {
      const [first, ...more] = facts.mailReceiptsToMerchant ? facts.stewards : [];
      if (first === undefined) return "UNWANTED";
      const mailTo = ({ userId, email: to }: typeof first): ReceiptMail => ({
        id: `${id}-${userId}`,
        mail: merchantMail(facts, { ...context, to }),
      });
      return [mailTo(first), ...more.map(mailTo)];
    }
  }
}

/** A customer's receipt requires a confirmed payment: the customer gets no email about an invoice that the team accepted without money. */
function isConfirmed({ status }: PaidWith): boolean {
  return status === "CONFIRMED";
}

/** How long a claimed receipt is leased to one worker: longer than an email's tries can take. */
export const LEASE_MS = 5 * MINUTE_MS;

/** The pauses between tries, about three days in total, because an outage of the provider may go unnoticed for long. */
const PAUSES_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
];

/** When to try again after failure number `attempts`, counted from 1; null to give up. */
export function nextAttemptMs(attempts: number, nowMs: number): number | null {
  const pause = PAUSES_MS[attempts - 1];
  return pause === undefined ? null : nowMs + pause;
}
