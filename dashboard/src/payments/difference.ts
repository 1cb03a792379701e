// Amounts are decimal texts, and so is their difference: a JavaScript number would round it.

const DIGITS = 18;
const DECIMAL = /^(\d+)(?:\.(\d{1,18}))?$/;

interface Difference {
  /** Without a sign or trailing zeros. */
  readonly amount: string;
  readonly is: "more" | "less" | "equal";
}

/** By how much `paid` is above or below `asked`; undefined if one of them is not an amount. */
export function differenceOf(paid: string, asked: string): Difference | undefined {
  const [one, other] = [unitsOf(paid), unitsOf(asked)];
  if (one === undefined || other === undefined) return undefined;
  if (one === other) return { amount: "0", is: "equal" };
  return one > other ? { amount: textOf(one - other), is: "more" } : { amount: textOf(other - one), is: "less" };
}

function unitsOf(text: string): bigint | undefined {
  const [, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(DIGITS, "0"));
}

function textOf(units: bigint): string {
  const digits = units.toString().padStart(DIGITS + 1, "0");
  const fraction = digits.slice(-DIGITS).replace(/0+$/, "");
  const whole = digits.slice(0, -DIGITS);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
