// Amounts, coins and times in the reader's locale. Amounts are decimal texts and stay texts: Intl formats them digit by digit.

import { currencyDisplay } from "../../../src/lib/fiat-codes.ts";

/** A decimal as the API sends it. TypeScript accepts only this type for Intl, which reads other texts as NaN. */
type Decimal = `${number}`;

export interface Reader {
  /** If undefined, the browser's own locale is used. */
  readonly locale: string | undefined;
  /** An IANA name, such as Europe/Lisbon. If undefined, the computer's own time zone is used. */
  readonly timeZone: string | undefined;
}

const MOST_DIGITS = 18;
/** Codes for which Intl knows the symbol and the digits; others, such as USDT, are written after the number. */
const ISO_CODE = /^[A-Z]{3}$/;

/** `49.900000` USD is `$49.90`: trailing zeros beyond the currency's own digits are left out, and nothing is rounded. */
export function money(amount: string, currency: string, { locale }: Reader): string {
  if (!isDecimal(amount)) return `${amount} ${currency}`;
  if (!ISO_CODE.test(currency)) return `${coins(amount, { locale })} ${currency}`;
  return new Intl.NumberFormat(locale, { ...styleOf(currency), maximumFractionDigits: MOST_DIGITS }).format(amount);
}

/** A sum of many amounts, rounded to the currency's own digits. A sum below 1 is shown with all digits, so that it is not rounded to zero. */
export function sum(amount: string, currency: string, reader: Reader): string {
  if (!isDecimal(amount) || !ISO_CODE.test(currency) || Math.abs(Number(amount)) < 1)
    return money(amount, currency, reader);
  return new Intl.NumberFormat(reader.locale, styleOf(currency)).format(amount);
}

function styleOf(currency: string) {
  return { style: "currency", currency, currencyDisplay: currencyDisplay(currency) } as const;
}

/** An amount of a coin, without its code. */
export function coins(amount: string, { locale }: Pick<Reader, "locale">): string {
  if (!isDecimal(amount)) return amount;
  return new Intl.NumberFormat(locale, { maximumFractionDigits: MOST_DIGITS }).format(amount);
}

export function dateTime(time: string, { locale, timeZone }: Reader): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone }).format(new Date(time));
}

export function dateTimeWithSeconds(time: string, { locale, timeZone }: Reader): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium", timeZone }).format(new Date(time));
}

/** A time with seconds and the name of the time zone, for tooltips. */
export function exactTime(time: string, { locale, timeZone }: Reader): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long", timeZone }).format(new Date(time));
}

/** A calendar day, such as 2026-11-23, without its year. It is the same day in every time zone. */
export function day(date: string, { locale }: Pick<Reader, "locale">): string {
  return new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" }).format(new Date(date));
}

/** 0.25 is `+25%`. */
export function percentage(ratio: number, { locale }: Pick<Reader, "locale">): string {
  const format = { style: "percent", signDisplay: "exceptZero", maximumFractionDigits: 0 } as const;
  return new Intl.NumberFormat(locale, format).format(ratio);
}

export function count(number: number, { locale }: Pick<Reader, "locale">): string {
  return new Intl.NumberFormat(locale).format(number);
}

/** How long something took, in the largest unit with a value of two or more: `90 sec`, `2 min`, `3 hr`. */
export function duration(seconds: number, { locale }: Pick<Reader, "locale">): string {
  const units = [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
  ] as const;
  const [unit, size] = units.find(([, each]) => seconds >= 2 * each) ?? (["second", 1] as const);
  const format = new Intl.NumberFormat(locale, { style: "unit", unit, maximumFractionDigits: 0 });
  return format.format(Math.round(seconds / size));
}

/** The time between two points in time, in its two largest units: `42 sec`, `3 min, 5 sec`, `2 days, 4 hr`. */
export function elapsed(from: string, to: string, { locale }: Pick<Reader, "locale">): string {
  let left = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1_000));
  const parts = ELAPSED_UNITS.map(([unit, size]) => {
    const value = Math.floor(left / size);
    left -= value * size;
    return { unit, value };
  });
  const first = parts.findIndex(({ value }) => value > 0);
  const shown = (first === -1 ? parts.slice(-1) : parts.slice(first, first + 2)).filter(
    ({ value }, place) => place === 0 || value > 0,
  );
  return shown
    .map(({ unit, value }) => new Intl.NumberFormat(locale, { style: "unit", unit }).format(value))
    .join(", ");
}

const ELAPSED_UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

const STEPS = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 7],
  ["week", 5],
] as const;

/** `3 minutes ago`, `in 2 hours`; in months after five weeks. */
export function fromNow(time: string, nowMs: number, { locale }: Pick<Reader, "locale">): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  let value = (Date.parse(time) - nowMs) / 1_000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(value) < size) return format.format(Math.round(value), unit);
    value /= size;
  }
  return format.format(Math.round((value * 5 * 7) / 30), "month");
}

/** The beginning and the end of an address, which are the parts that people compare. */
export function shortened(address: string): string {
  return address.length <= 16 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`;
}

function isDecimal(text: string): text is Decimal {
  return /^-?\d+(\.\d+)?$/.test(text);
}
