// Why an invoice is listed as a candidate, in the order in which the API ranks the reasons: named by a payer, close in amount, close in time.
import type { PaymentDetails } from "../api/operations.ts";

type Candidate = PaymentDetails["evidence"]["candidates"][number];

interface Words {
  readonly coins: (amount: string) => string;
  /** A number of seconds in words. */
  readonly duration: (seconds: number) => string;
}

/** `paid`: the payment's amount. */
export function likelihood(paid: string, candidate: Candidate, words: Words): readonly string[] {
  const { isNamed, madeBeforeSeconds } = candidate;
  const made = madeBeforeSeconds === null ? undefined : words.duration(Math.abs(madeBeforeSeconds));
  const when = (madeBeforeSeconds ?? 0) < 0 ? "after" : "before";
  return [
    isNamed ? ["This transaction was entered on its payment page."] : [],
    amountText(paid, candidate, words),
    made === undefined ? [] : [`The invoice was created ${made} ${when} the payment.`],
  ].flat();
}

function amountText(paid: string, { askedAmount, amountDiffersPercent }: Candidate, { coins }: Words): string[] {
  if (askedAmount === null || amountDiffersPercent === null) return [];
  if (askedAmount === paid) return ["The amount is exactly what the invoice asked for."];
  const percent = amountDiffersPercent.replace("-", "").replace(/\.?0+$/, "");
  const way = amountDiffersPercent.startsWith("-") ? "less" : "more";
  const size = percent === "0" ? "less than 0.01% off" : `${percent}% ${way} than`;
  return [`The amount is ${size} the ${coins(askedAmount)} requested.`];
}
