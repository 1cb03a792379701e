// Parses every number typed into the console, by the rule of the whole service (src/lib/typed-amount.ts): exactly, or not at all.
import { type AmountProblem, amountText, currencyDigits, readAmount } from "../../../src/lib/typed-amount.ts";
import { coins, money } from "./formats.ts";

export interface NumberRule {
  readonly digits: number;
  readonly least?: bigint;
  readonly most: bigint;
  /** Only for amounts of money. */
  readonly currency?: string;
  /** The browser's own locale by default. */
  readonly locale?: string;
}

/** From the contract (createInvoiceBody, createProductBody). */
const MOST_PRICE = 1_000_000n;

/** The rule for prices. `stored`: the existing price, which may have more digits than its currency usually has, and must not be truncated. */
export function priceRule(currency: string, stored = "0"): NumberRule {
  const digits = Math.max(currencyDigits(currency), digitsOf(stored));
  return { digits, most: MOST_PRICE, currency };
}

/** The rule for amounts in any currency, with all digits that the service stores. */
export const ANY_CURRENCY: NumberRule = { digits: 6, most: MOST_PRICE };

/** A number from the service, as a field shows it. */
export function fieldText(number: string | number | null, locale?: string): string {
  return number === null ? "" : amountText(String(number), locale);
}

/** Why the text cannot be sent; null if it can. `ifEmpty`: the message for an empty field, null if the field may be empty. */
export function numberError(text: string, rule: NumberRule, ifEmpty: string | null = "Enter a number"): string | null {
  const number = readAmount(text, { ...rule, locale: rule.locale });
  if (!number.ok) return number.error.kind === "EMPTY" ? ifEmpty : words(text, number.error, rule);
  const { least = 0n } = rule;
  return BigInt(number.value.split(".")[0] ?? "0") < least ? `At least ${shown(String(least), rule)}` : null;
}

/** The note below a field: the value that will be sent, the amounts that an ambiguous text may mean, or that it is too large; otherwise undefined. */
export function readingOf(text: string, rule: NumberRule): string | undefined {
  const number = readAmount(text, { ...rule, locale: rule.locale });
  if (number.ok) return `= ${shown(number.value, rule)}`;
  const { kind } = number.error;
  return kind === "AMBIGUOUS" || kind === "TOO_LARGE" ? words(text, number.error, rule) : undefined;
}

/**
 * Converts a text that `numberError` accepts to a number for the API's JSON. Up to 13 digits are exact: the service reads the shortest decimal text
 * of the number, which is then the text that was typed.
 */
export function wireNumber(text: string, rule: NumberRule): number {
  const number = readAmount(text, { ...rule, locale: rule.locale });
  if (!number.ok) throw new Error(`not checked before it was sent: ${text}`);
  return Number(number.value);
}

/** Like `wireNumber`, for the text next to a field; undefined while it is not a number. */
export function numberIn(text: string, rule: NumberRule): number | undefined {
  return numberError(text, rule) === null ? wireNumber(text, rule) : undefined;
}

function words(text: string, problem: AmountProblem, rule: NumberRule): string {
  switch (problem.kind) {
    case "EMPTY":
    case "NOT_AN_AMOUNT":
      return `Enter digits, such as ${amountText(rule.digits === 0 ? "25" : "12.5", rule.locale)}`;
    case "TOO_PRECISE": {
      const { currency = "It" } = rule;
      if (problem.digits === 0) return `${currency} has no decimals`;
      return `${currency} has at most ${problem.digits} decimals`;
    }
    case "TOO_LARGE": {
      const most = `At most ${shown(String(problem.most), rule)}`;
      // This limit matters for currencies with small units, such as IDR and VND.
      return rule.most === MOST_PRICE && rule.currency !== undefined
        ? `${most}: the limit is the same number in every currency. For a larger order, use a currency with a higher value`
        : most;
    }
    case "AMBIGUOUS": {
      const [one = "", other = ""] = problem.readings.map((reading) => shown(reading, rule));
      return `“${text.trim()}” can be read as ${one} or as ${other}. Write ${problem.instead.join(" or ")}`;
    }
  }
}

function shown(number: string, { currency, locale }: NumberRule): string {
  return currency === undefined ? coins(number, { locale }) : money(number, currency, { locale, timeZone: undefined });
}

function digitsOf(amount: string): number {
  return (amount.split(".")[1] ?? "").replace(/0+$/, "").length;
}
