// Parses an amount as users type it on any keyboard: 12.50, 12,50 and ١٢٫٥ are the same. Refuses an ambiguous text.
import { MICRO_DIGITS, parseUnits } from "../../lib/money.ts";

/** The interface's bound of `rawAmount`. */
const MAX_MICROS = 1_000_000_000_000n;

/**
 * Micro-units; undefined if it is not an amount from 0 to 1,000,000, has more than six fraction digits, or is ambiguous like `1.000` (one or a
 * thousand).
 */
export function typedAmount(text: string): bigint | undefined {
  const plain = text
    // The low four bits of Arabic, Persian and full-width digits are their value, as in ASCII.
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[,\u066b\uff0e\uff0c]/, ".")
    .trim();
  if (!/^\d{1,7}(\.\d{1,6})?$/.test(plain) || /^[1-9]\d*\.\d{3}$/.test(plain)) return undefined;
  const micros = parseUnits(plain, MICRO_DIGITS);
  return micros.ok && micros.value <= MAX_MICROS ? micros.value : undefined;
}
