// Amounts, times and addresses as people read them. What is copied into a wallet is never formatted: there the exact decimal text stands.
import { formatMicros } from "../lib/money.ts";
import { LANGUAGES, type Language } from "./languages.ts";

/** An amount in the invoice's currency, in the way of a language: `49,90 €`. Codes that are no ISO currency stand behind the number. */
export function moneyText(language: Language, money: { readonly micros: bigint; readonly currency: string }): string {
  const { locale } = LANGUAGES[language];
  const exact = formatMicros(money.micros);
  if (isIsoCurrency(money.currency)) {
    const format = new Intl.NumberFormat(locale, { style: "currency", currency: money.currency });
    const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    // More digits than the currency has are shown, never rounded away.
    return hasMoreDigits(exact, digits)
      ? formatExact(
          new Intl.NumberFormat(locale, { style: "currency", currency: money.currency, maximumFractionDigits: 6 }),
          exact,
        )
      : formatExact(format, exact);
  }
  return `${formatExact(new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }), exact)} ${money.currency}`;
}

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

/** The codes of coins are three letters too, some of them. */
const COINS: readonly string[] = ["BTC", "LTC", "ETH", "POL", "BNB", "CRO", "TRX", "DAI"];

function isIsoCurrency(code: string): boolean {
  return /^[A-Z]{3}$/.test(code) && !COINS.includes(code);
}

function hasMoreDigits(decimal: string, digits: number): boolean {
  return (trimZeros(decimal).split(".")[1] ?? "").length > digits;
}

/** Decimal text is formatted exactly, where a number would be rounded to a double first (ECMA-402 `Intl.NumberFormat.prototype.format`). */
function formatExact(format: Intl.NumberFormat, decimal: string): string {
  if (!isDecimal(decimal)) throw new Error(`no decimal: ${decimal}`);
  return format.format(decimal);
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text);
}
