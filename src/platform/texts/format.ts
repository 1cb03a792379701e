// Amounts, times and addresses as people read them. What is copied into a wallet is never formatted: that is the exact decimal text.

import { FIAT_CODES } from "../../lib/fiat-codes.ts";
import { formatMicros } from "../../lib/money.ts";
import { LANGUAGES, type Language } from "./languages.ts";

/** An amount in the invoice's currency, in the way of a language: `49,90 €`, and `0.5 BTC` for a coin. */
export function moneyText(language: Language, money: { readonly micros: bigint; readonly currency: string }): string {
  return decimalMoney(language, formatMicros(money.micros), money.currency);
}

/** The same of decimal text. All digits that it has, at least as many as the currency: nothing is rounded. */
export function decimalMoney(language: Language, decimal: string, currency: string): string {
  const { locale } = LANGUAGES[language];
  const exact = decimalText(decimal);
  const digits = { maximumFractionDigits: MOST_DIGITS };
  // Arabic puts a mark in front from which all runs to the left, and `US$` with it; digits and signs of currencies read rightwards there too.
  return isFiat(currency)
    ? new Intl.NumberFormat(locale, { style: "currency", currency, ...digits }).format(exact).replaceAll("\u200f", "")
    : `${new Intl.NumberFormat(locale, digits).format(exact)}\u00a0${currency}`;
}

/** More than amounts and rates have. */
const MOST_DIGITS = 20;

/** A moment with its zone, which is UTC: a server does not know the reader's. */
export function timeText(language: Language, ms: number): string {
  const { locale } = LANGUAGES[language];
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  return `${format.format(ms)} UTC`;
}

/** An address in groups of four, which together are the whole of it. */
export function addressGroups(address: string): readonly string[] {
  return address.match(/.{1,4}/gsu) ?? [];
}

/** Trailing zeros of a decimal text away: `0.500000` is `0.5`. */
export function trimZeros(decimal: string): string {
  return decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
}

/** A coin's code may be three letters too, and `Intl` would take it for a currency. */
function isFiat(code: string): boolean {
  const codes: readonly string[] = FIAT_CODES;
  return codes.includes(code);
}

/** As text it is formatted exactly, where a number would be rounded to a double first (ECMA-402, `Intl.NumberFormat.prototype.format`). */
function decimalText(text: string): `${number}` {
  if (!isDecimal(text)) throw new Error(`no decimal: ${text}`);
  return text;
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text);
}
