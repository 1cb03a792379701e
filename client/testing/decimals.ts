// Sums of money as whole numbers: micro-units (10^-6) of a currency, base units of a coin.

/** Digits times 10^-scale. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Of plain decimal text, or of a number's shortest text. Throws for anything else. */
export function decimalOf(text: string): Decimal {
  const [, whole = "", fraction = "", exponent = "0"] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (whole === "") throw new TypeError(`not a decimal: ${text}`);
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** A JSON number as micro-units, rounded half up at the sixth digit. */
export function microsOf(value: number): bigint {
  const { digits, scale } = decimalOf(String(value));
  if (scale <= 6) return digits * 10n ** BigInt(6 - scale);
  const divisor = 10n ** BigInt(scale - 6);
  return (digits + divisor / 2n) / divisor;
}

/** Six fraction digits, as the API writes amounts of a currency. */
export function microsText(micros: bigint): string {
  const digits = micros.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** Whole coins as base units; throws for more digits than the coin has. */
export function unitsOf(coins: string, decimals: number): bigint {
  const { digits, scale } = decimalOf(coins);
  if (scale > decimals) throw new TypeError(`${coins} has more than ${decimals} fraction digits`);
  return digits * 10n ** BigInt(decimals - scale);
}

/** Base units as whole coins, without zeros at the end. */
export function unitsText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const fraction = decimals === 0 ? "" : digits.slice(-decimals).replace(/0+$/, "");
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

export function ceilDiv(n: bigint, d: bigint): bigint {
  return (n + d - 1n) / d;
}
