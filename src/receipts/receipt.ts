// Receipts by mail: who gets one, when it is tried, and when it is not owed after all. That one is owed is written in the batch that makes an
// invoice PAID or OVERPAID (store.ts); the mails go out with the cron, at least once, each under the same id however often it is tried.
import { isLanguage } from "../checkout/languages.ts";
import type { InvoiceStatus } from "../invoices/status.ts";
import type { InvoiceId, UserId } from "../lib/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/time.ts";
import type { Mail } from "../mail/mail.ts";
import type { PaymentStatus } from "../payments/payment.ts";
import { customerMail, merchantMail } from "./receipt-mail.ts";

/** CUSTOMER: who paid. MERCHANT: every OWNER and ADMIN. */
export type Recipient = "CUSTOMER" | "MERCHANT";

/** The invoice that a receipt tells of, and everybody it concerns, as they are when it is sent. */
export interface ReceiptFacts {
  readonly invoiceId: InvoiceId;
  readonly status: InvoiceStatus;
  readonly title: string;
  readonly externalId: string | null;
  readonly amountMicros: bigint;
  readonly confirmedMicros: bigint;
  readonly currency: string;
  /** When it last became PAID or OVERPAID. */
  readonly paidAtMs: number;
  /** What is credited to it, oldest first. */
  readonly payments: readonly PaidWith[];
  readonly merchantName: string;
  /** As customers know it. */
  readonly shopName: string;
  readonly supportUrl: string | null;
  readonly isMerchantLive: boolean;
  readonly mailReceiptsToCustomers: boolean;
  readonly mailReceiptsToMerchant: boolean;
  /** Null where none is known, or none any more. */
  readonly customerEmail: string | null;
  /** In which the page was last read; null where nobody opened it. */
  readonly language: string | null;
  readonly stewards: readonly { readonly userId: UserId; readonly email: string }[];
}

export interface PaidWith {
  readonly network: string;
  readonly cryptocurrency: string;
  readonly amountUnits: bigint;
  readonly txHash: string;
  readonly status: PaymentStatus;
}

export interface ReceiptMail {
  /** The same for every try, and no other mail's. */
  readonly id: string;
  readonly mail: Mail;
}

/** `REVERSED`: not owed now, and owed anew when the invoice is paid again. `UNWANTED`: owed to nobody any more. */
export type ReceiptPlan = "REVERSED" | "UNWANTED" | readonly [ReceiptMail, ...ReceiptMail[]];

/** What becomes of a receipt that is due. The settings are those of now: whoever switches receipts off gets no late one. */
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
      if (to === null || !facts.mailReceiptsToCustomers) return "UNWANTED";
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

/** How long whoever claimed a receipt has it alone: longer than a mail's tries can take. */
export const LEASE_MS = 5 * MINUTE_MS;

/** Together about three days, as long as an outage of a provider may be overslept. */
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

/** When to try again after the `attempts`-th failure, from 1; null when it is given up. */
export function nextAttemptMs(attempts: number, nowMs: number): number | null {
  const pause = PAUSES_MS[attempts - 1];
  return pause === undefined ? null : nowMs + pause;
}
