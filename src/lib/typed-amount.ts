// Reads an amount as people type it in their locale, and never guesses: if a text has two readings that differ by a factor of a thousand, it is
// refused and both are named (decisions 4, "Typed amounts"). The console and the payer's pages use only this rule to read amounts.
import { FIAT_CODES, minorDigits } from "./fiat-codes.ts";
import { err, ok, type Result } from "./result.ts";

/** Fraction digits that the service keeps of any amount (Interface 2.2). */
const MOST_DIGITS = 6;
/** A longer text is not an amount, and is not parsed. */
const LONGEST_TEXT = 60;

interface AmountRule {
  /** Undefined for the browser's own locale. */
  readonly locale: string | undefined;
  /** How many fraction digits an amount may have. */
  readonly digits: number;
  /** The largest amount. */
  readonly most: bigint;
}

export type AmountProblem =
  | { readonly kind: "EMPTY" | "NOT_AN_AMOUNT" }
  | { readonly kind: "TOO_PRECISE"; readonly digits: number }
  | { readonly kind: "TOO_LARGE"; readonly most: bigint }
  | AmbiguousAmount;

export interface AmbiguousAmount {
  readonly kind: "AMBIGUOUS";
  readonly readings: readonly string[];
  /** Texts that cannot be misread, one for each reading, truncated to the digits that an amount may have. */
  readonly instead: readonly string[];
}

/** How numbers are written. `sizes`: the size of the group next to the decimal sign, and of the other groups. */
interface Convention {
  readonly decimal: string;
  readonly group: string;
  readonly sizes: readonly [last: number, others: number];
}

/** The exact amount that was typed, in ASCII digits with a point and without unnecessary zeros; or why it is not an amount. */
export function readAmount(text: string, { locale, digits, most }: AmountRule): Result<string, AmountProblem> {
  const plain = text.length > LONGEST_TEXT ? "?" : inAscii(text).trim();
  if (plain === "") return err({ kind: "EMPTY" });
  const own = readingsBy(conventionsOf(locale), plain);
  // A reading by a common convention competes with the locale's own reading only if the currency allows that many fraction digits. If the locale
  // cannot read the text at all, every common reading counts.
  const others = readingsBy(COMMON, plain).filter(({ written }) => own.length === 0 || written <= digits);
  const readings = [...new Set([...own, ...others].map(({ value }) => value))];
  const [value] = readings;
  if (value === undefined) return err({ kind: "NOT_AN_AMOUNT" });
  if (readings.length > 1) {
    const instead = readings.map((each) => amountText(cut(each, digits), locale));
    return err({ kind: "AMBIGUOUS", readings, instead: [...new Set(instead)] });
  }
  if (fractionOf(value).length > digits) return err({ kind: "TOO_PRECISE", digits });
  return isAbove(value, most) ? err({ kind: "TOO_LARGE", most }) : ok(value);
}

/**
 * Writes an amount as in the locale, but without group separators, and so that it cannot be mistaken for one a thousand times as large. `readAmount`
 * reads it back.
 */
export function amountText(amount: string, locale: string | undefined): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  const shown = fraction.replace(/0+$/, "");
  if (shown === "") return whole;
  const [own] = conventionsOf(locale);
  const isLikeAGroup = shown.length === 3 && whole !== "0";
  return `${whole}${own?.decimal ?? "."}${shown}${isLikeAGroup ? "0" : ""}`;
}

/** How many fraction digits prices in the currency have: by ISO 4217; for a coin, as many as the service keeps. */
export function currencyDigits(currency: string): number {
  return FIAT_CODES.includes(currency) ? minorDigits(currency) : MOST_DIGITS;
}

/** The conventions of most of the world: the decimal sign, then the group separator. Spaces and apostrophes are only group separators. */
const COMMON: readonly Convention[] = [".,", ",.", ". ", ", ", ".'", ",'", "\u066b\u066c"].map(
  ([decimal = "", group = ""]) => ({
    decimal,
    group,
    sizes: [3, 3],
  }),
);

/** A number long enough to show all group sizes. */
const SAMPLE = 1_234_567_890.5;

/**
 * The conventions of the locale; the first is that of its numbers in Latin digits. Some locales also have their own digits, and some write prices
 * differently.
 */
function conventionsOf(locale: string | undefined): readonly Convention[] {
  const own = new Intl.NumberFormat(locale).resolvedOptions().locale;
  const numberings = [new Intl.Locale(own, { numberingSystem: "latn" }).toString(), own];
  const styles = [{}, { style: "currency", currency: "USD" }] as const;
  return numberings.flatMap((each) =>
    styles.map((style) => {
      const parts = new Intl.NumberFormat(each, style).formatToParts(SAMPLE);
      const groups = parts.filter(({ type }) => type === "integer").map(({ value }) => [...value].length);
      const signOf = (sign: "decimal" | "group") => inAscii(parts.find(({ type }) => type === sign)?.value ?? "");
      return {
        decimal: signOf("decimal"),
        group: signOf("group"),
        sizes: [groups.at(-1) ?? 3, groups.at(-2) ?? 3] as const,
      };
    }),
  );
}

interface Reading {
  readonly value: string;
  /** The number of fraction digits that were typed, including zeros. */
  readonly written: number;
}

function readingsBy(conventions: readonly Convention[], text: string): readonly Reading[] {
  return conventions.flatMap((convention) => readingBy(convention, text) ?? []);
}

/** The text's reading under one convention; undefined if the text does not follow the convention. */
function readingBy({ decimal, group, sizes: [last, others] }: Convention, text: string): Reading | undefined {
  const [whole = "", fraction, ...more] = text.split(decimal);
  if (more.length > 0 || (fraction !== undefined && !/^\d+$/.test(fraction))) return undefined;
  const groups = group === "" ? [whole] : whole.split(group);
  const isGrouped = groups.every((each, place) => {
    if (!/^\d+$/.test(each)) return false;
    if (groups.length === 1) return true;
    if (place === 0) return each.length <= others && !each.startsWith("0");
    return each.length === (place === groups.length - 1 ? last : others);
  });
  if (!isGrouped) return undefined;
  const value = `${BigInt(groups.join(""))}.${fraction ?? ""}`.replace(/\.?0*$/, "");
  return { value, written: fraction?.length ?? 0 };
}

/** Normalises digits and signs to the forms that the rules above use. */
function inAscii(text: string): string {
  return (
    text
      .replaceAll(/\p{Nd}/gu, digitOf)
      // Direction marks, which are invisible.
      .replaceAll(/[\u061c\u200e\u200f]/g, "")
      .replaceAll(/\s/g, " ")
      .replaceAll(/[\u2019\u02bc\uff07]/g, "'")
      .replaceAll(/[\uff0c\u060c]/g, ",")
      .replaceAll("\uff0e", ".")
  );
}

/** Unicode has decimal digits in runs, each starting with a 0; some runs directly follow others. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}

function fractionOf(amount: string): string {
  return amount.split(".")[1] ?? "";
}

/** Truncates extra fraction digits. Only proposed amounts are ever truncated. */
function cut(amount: string, digits: number): string {
  return `${amount.split(".")[0]}.${fractionOf(amount).slice(0, digits)}`;
}

function isAbove(amount: string, most: bigint): boolean {
  const whole = BigInt(amount.split(".")[0] ?? "0");
  return whole > most || (whole === most && fractionOf(amount) !== "");
}
