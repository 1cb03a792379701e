// Formats amounts, times and addresses for readers. Text to be copied into a wallet is never formatted: it is the exact decimal text.

import { currencyDisplay, FIAT_CODES } from "../../lib/fiat-codes.ts";
import { formatMicros } from "../../lib/money.ts";
import { LANGUAGES, type Language } from "./languages.ts";

/** An amount in the invoice's currency, formatted for a language: `49,90 €`, and `0.5 BTC` for a coin. */
export function moneyText(language: Language, money: { readonly micros: bigint; readonly currency: string }): string {
  return decimalMoney(language, formatMicros(money.micros), money.currency);
}

/** The same for decimal text. Keeps all of its digits, and shows at least as many as the currency has: nothing is rounded. */
export function decimalMoney(language: Language, decimal: string, currency: string): string {
  const { locale } = LANGUAGES[language];
  const exact = decimalText(decimal);
  const digits = { maximumFractionDigits: MOST_DIGITS };
  // In Arabic, `Intl` puts a right-to-left mark in front, which would also reverse `US$`. Digits and currency signs are read left to right.
  return isFiat(currency)
    ? new Intl.NumberFormat(locale, {
        style: "currency",
        currency,
        currencyDisplay: currencyDisplay(currency),
        ...digits,
      })
        .format(exact)
        .replaceAll("\u200f", "")
    : `${new Intl.NumberFormat(locale, digits).format(exact)}\u00a0${currency}`;
}

/** More fraction digits than amounts and rates have. */
const MOST_DIGITS = 20;

/** A time with its zone. The zone is UTC, because a server does not know the reader's. */
export function timeText(language: Language, ms: number): string {
  const { locale } = LANGUAGES[language];
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  return `${format.format(ms)} UTC`;
}

/** An address split into groups of four characters. */
export function addressGroups(address: string): readonly string[] {
  return address.match(/.{1,4}/gsu) ?? [];
}

/** Decimal text without trailing zeros: `0.500000` becomes `0.5`. */
export function trimZeros(decimal: string): string {
  return decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
}

/** An exact amount with its coin: `0.5 BTC`. */
export function coinText(amount: string, code: string): string {
  return `${trimZeros(amount)} ${code}`;
}

/** Whether a code is a fiat currency. A coin's code may have three letters too, and `Intl` would take it for a currency. */
function isFiat(code: string): boolean {
  return FIAT_CODES.includes(code);
}

/** `Intl` formats text exactly; a number would be rounded to a double first (ECMA-402, `Intl.NumberFormat.prototype.format`). */
function decimalText(text: string): `${number}` {
  if (!isDecimal(text)) throw new Error(`no decimal: ${text}`);
  return text;
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text);
}
