// Amounts, coins and times as the reader's browser writes them. Amounts are decimal texts and stay texts: Intl formats them digit by digit.

/** A decimal as the API sends it. TypeScript calls it a literal, because Intl reads other texts as NaN. */
type Decimal = `${number}`;

export interface Reader {
  /** Undefined: the browser's own. */
  readonly locale: string | undefined;
  /** An IANA name, such as Europe/Lisbon; undefined: the computer's own. */
  readonly timeZone: string | undefined;
}

const MOST_DIGITS = 18;
/** Codes that Intl has signs and digits for; others, such as USDT, are written behind the number. */
const ISO_CODE = /^[A-Z]{3}$/;

/** `49.900000` USD is `$49.90`: trailing zeros beyond the currency's own digits are left out, and nothing is rounded. */
export function money(amount: string, currency: string, { locale }: Reader): string {
  if (!isDecimal(amount)) return `${amount} ${currency}`;
  if (!ISO_CODE.test(currency)) return `${coins(amount, { locale })} ${currency}`;
  return new Intl.NumberFormat(locale, { style: "currency", currency, maximumFractionDigits: MOST_DIGITS }).format(
    amount,
  );
}

/** An amount of a coin, without its code. */
export function coins(amount: string, { locale }: Pick<Reader, "locale">): string {
  if (!isDecimal(amount)) return amount;
  return new Intl.NumberFormat(locale, { maximumFractionDigits: MOST_DIGITS }).format(amount);
}

export function dateTime(time: string, { locale, timeZone }: Reader): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone }).format(new Date(time));
}

/** With seconds and the name of the time zone, for tooltips. */
export function exactTime(time: string, { locale, timeZone }: Reader): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long", timeZone }).format(new Date(time));
}

const STEPS = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 7],
  ["week", 5],
] as const;

/** `3 minutes ago`, `in 2 hours`; from five weeks on in months. */
export function fromNow(time: string, nowMs: number, { locale }: Pick<Reader, "locale">): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  let value = (Date.parse(time) - nowMs) / 1_000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(value) < size) return format.format(Math.round(value), unit);
    value /= size;
  }
  return format.format(Math.round((value * 5 * 7) / 30), "month");
}

function isDecimal(text: string): text is Decimal {
  return /^-?\d+(\.\d+)?$/.test(text);
}
