// Texts of receipts. They never contain an address to pay to, so that forging them is not worthwhile. The text depends only on the facts, so that a
// second try sends the same email.

import { pairOf } from "../../chains/registry/pair.ts";
import type { PaymentStatus } from "../../commerce/payments/payment.ts";
import { isSeen } from "../../commerce/payments/payment.ts";
import type { InvoiceId, UserId } from "../../lib/ids.ts";
import { formatUnits } from "../../lib/money.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { linkless, subjectNaming } from "../../platform/mail/names.ts";
import { moneyText, timeText } from "../../platform/texts/format.ts";
import { LANGUAGES, type Language } from "../../platform/texts/languages.ts";
import { fill, textsOf } from "../../platform/texts/texts.ts";

interface Context {
  readonly to: string;
  /** Origin of our pages; empty if the operator has not set it. */
  readonly publicUrl: string;
}

/** To the payer, in the language in which they read the page. */
export function customerMail(facts: ReceiptFacts, context: Context & { readonly language: Language }): Mail {
  const { shopName, supportUrl: url } = facts;
  const [shop, title] = [linkless(shopName), linkless(facts.title)];
  const { language } = context;
  const texts = textsOf(language);
  const { total, received } = amountsOf(facts, language);
  return composeMail({
    to: context.to,
    language: { code: language, direction: LANGUAGES[language].direction },
    subject: subjectNaming(shopName, (name) => fill(texts.mailSubject, { shop: name }), texts.mailReceipt),
    paragraphs: [
      fill(texts.mailPaid, { shop, title }),
      // The amount is the same as on the receipt page: the received amount, or the price if a merchant accepted an invoice without money.
      fill(texts.mailAmount, { amount: facts.confirmedMicros > 0n ? received : total }),
      ...(facts.status === "OVERPAID" ? [fill(texts.overpaid, { shop, total, received })] : []),
      fill(texts.mailPaidAt, { time: timeText(language, facts.paidAtMs) }),
      fill(texts.mailTransactions, { hashes: transactionsOf(facts) }),
      `${texts.invoiceId}: ${facts.invoiceId}`,
      ...(url === null ? [] : [fill(texts.mailSupport, { shop, url })]),
    ],
    ...linkOf(facts, context, texts.mailReceipt),
  });
}

/** To an OWNER or ADMIN, in English like all emails to teams. */
export function merchantMail(facts: ReceiptFacts, context: Context): Mail {
  const { externalId } = facts;
  const [merchantName, title] = [linkless(facts.merchantName), linkless(facts.title)];
  const { total, received } = amountsOf(facts, "en");
  const hashes = transactionsOf(facts);
  const isOver = facts.status === "OVERPAID";
  const isAccepted = facts.confirmedMicros === 0n;
  return composeMail({
    to: context.to,
    subject: subjectNaming(
      facts.merchantName,
      (name) => (isAccepted ? `${name} accepted ${total} as paid` : `${name} was paid ${received}`),
      isAccepted ? `${total} was accepted as paid` : `${received} was paid`,
    ),
    paragraphs: [
      `${title} of ${merchantName} is paid${isOver ? ", with more than was asked for. The excess belongs to the customer" : ""}.`,
      `Invoice: ${facts.invoiceId}`,
      ...(externalId === null ? [] : [`External id: ${linkless(externalId)}`]),
      `Asked: ${total}`,
      `Received: ${received}`,
      `Paid at: ${timeText("en", facts.paidAtMs)}`,
      ...(hashes === "" ? [] : [`Transactions: ${hashes}`]),
      "Owners and admins get this mail because the setting mailReceiptsToMerchant is on. Turn it off in the merchant's settings.",
    ],
    ...linkOf(facts, context, "The customer's receipt"),
  });
}

/** `total` is the amount that the invoice asks for, or the received amount if it accepts any amount. */
function amountsOf({ amountMicros, confirmedMicros, currency }: ReceiptFacts, language: Language) {
  const total = amountMicros === 0n ? confirmedMicros : amountMicros;
  return {
    total: moneyText(language, { micros: total, currency }),
    received: moneyText(language, { micros: confirmedMicros, currency }),
  };
}

function transactionsOf({ payments }: ReceiptFacts): string {
  return payments
    .filter(isSeen)
    .map(({ network, cryptocurrency, amountUnits, txHash }) => {
      const { network: known, asset } = pairOf({ network, cryptocurrency });
      return `${txHash} (${formatUnits(amountUnits, asset.decimals)} ${cryptocurrency}, ${known.displayName})`;
    })
    .join(", ");
}

function linkOf({ invoiceId }: ReceiptFacts, { publicUrl }: Context, text: string) {
  return publicUrl === "" ? {} : { link: { text, url: `${publicUrl}/pay/${invoiceId}/receipt` } };
}

/** The invoice of a receipt and its recipients at the time of sending. */
export interface ReceiptFacts {
  readonly invoiceId: InvoiceId;
  readonly status: InvoiceStatus;
  readonly title: string;
  readonly externalId: string | null;
  readonly amountMicros: bigint;
  readonly confirmedMicros: bigint;
  readonly currency: string;
  /** When the invoice last became PAID or OVERPAID. */
  readonly paidAtMs: number;
  /** The invoice's payments in any status, in the order in which they were received. */
  readonly payments: readonly PaidWith[];
  readonly merchantName: string;
  /** The shop's name as customers know it. */
  readonly shopName: string;
  readonly supportUrl: string | null;
  readonly isMerchantLive: boolean;
  readonly mailReceiptsToCustomers: boolean;
  readonly mailReceiptsToMerchant: boolean;
  /** Null if unknown or erased. */
  readonly customerEmail: string | null;
  /** The language in which the page was last read; null if no one opened it. */
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
