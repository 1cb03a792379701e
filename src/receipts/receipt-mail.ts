// What receipts say. No address to pay to, ever: a mail that looks like ours must not be worth forging (security.md 4). What is said depends on
// the facts alone, so that a second try is the same mail.
import { assetOn, networkNamed } from "../chains/networks.ts";
import { moneyText, timeText } from "../checkout/format.ts";
import { LANGUAGES, type Language } from "../checkout/languages.ts";
import { fill, textsOf } from "../checkout/texts.ts";
import { formatUnits } from "../lib/money.ts";
import { composeMail } from "../mail/compose.ts";
import type { Mail } from "../mail/mail.ts";
import { isSeen } from "../payments/payment.ts";
import type { ReceiptFacts } from "./receipt.ts";

interface Context {
  readonly to: string;
  /** Origin of our pages; empty where the operator has not said. */
  readonly publicUrl: string;
}

/** To whoever paid, in the language in which they read the page. */
export function customerMail(facts: ReceiptFacts, context: Context & { readonly language: Language }): Mail {
  const { shopName: shop, title, supportUrl: url } = facts;
  const { language } = context;
  const texts = textsOf(language);
  const { total, received } = amountsOf(facts, language);
  const hashes = transactionsOf(facts);
  return composeMail({
    to: context.to,
    language: { code: language, direction: LANGUAGES[language].direction },
    subject: fill(texts.mailSubject, { shop }),
    paragraphs: [
      fill(texts.mailPaid, { shop, title }),
      // As the receipt has it: what came, or the price where a merchant accepted without.
      fill(texts.mailAmount, { amount: facts.confirmedMicros > 0n ? received : total }),
      ...(facts.status === "OVERPAID" ? [fill(texts.overpaid, { shop, total, received })] : []),
      fill(texts.mailPaidAt, { time: timeText(language, facts.paidAtMs) }),
      ...(hashes === "" ? [] : [fill(texts.mailTransactions, { hashes })]),
      `${texts.invoiceId}: ${facts.invoiceId}`,
      ...(url === null ? [] : [fill(texts.mailSupport, { shop, url })]),
    ],
    ...linkOf(facts, context, texts.mailReceipt),
  });
}

/** To an OWNER or ADMIN: in English, as everything that we tell a team. */
export function merchantMail(facts: ReceiptFacts, context: Context): Mail {
  const { merchantName, title, externalId } = facts;
  const { total, received } = amountsOf(facts, "en");
  const hashes = transactionsOf(facts);
  const isOver = facts.status === "OVERPAID";
  const isAccepted = facts.confirmedMicros === 0n;
  return composeMail({
    to: context.to,
    subject: isAccepted ? `${merchantName} accepted ${total} as paid` : `${merchantName} was paid ${received}`,
    paragraphs: [
      `${title} of ${merchantName} is ${isOver ? "paid, and more than was asked: what is too much is the customer's" : "paid"}.`,
      `Invoice: ${facts.invoiceId}`,
      ...(externalId === null ? [] : [`External id: ${externalId}`]),
      `Asked: ${total}`,
      `Received: ${received}`,
      `Paid at: ${timeText("en", facts.paidAtMs)}`,
      ...(hashes === "" ? [] : [`Transactions: ${hashes}`]),
      "Owners and admins get this mail because the setting mailReceiptsToMerchant is on.",
    ],
    ...linkOf(facts, context, "The customer's receipt"),
  });
}

/** What was asked, or of an invoice of any amount what came. */
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
      const known = networkNamed(network);
      const asset = known === undefined ? undefined : assetOn(known, cryptocurrency);
      if (known === undefined || asset === undefined) throw new Error(`a payment on an unknown pair: ${network}`);
      return `${txHash} (${formatUnits(amountUnits, asset.decimals)} ${cryptocurrency}, ${known.displayName})`;
    })
    .join(", ");
}

function linkOf({ invoiceId }: ReceiptFacts, { publicUrl }: Context, text: string) {
  return publicUrl === "" ? {} : { link: { text, url: `${publicUrl}/pay/${invoiceId}/receipt` } };
}
