// An amount as users type it, on any keyboard: 12.50, 12,50 and ١٢٫٥ are the same. A text that two readers would read differently is refused.
import { MICRO_DIGITS, parseUnits } from "../../lib/money.ts";

/** As the interface bounds `rawAmount`. */
const MAX_MICROS = 1_000_000_000_000n;

/** Micro-units; undefined for what is no amount from 0 to 1,000,000, for more than six fraction digits, and for `1.000`: one, or a thousand. */
export function typedAmount(text: string): bigint | undefined {
  const plain = text
    // Arabic, Persian and full-width digits end in their value, as those of ASCII do.
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[,\u066b\uff0e\uff0c]/, ".")
    .trim();
  if (!/^\d{1,7}(\.\d{1,6})?$/.test(plain) || /^[1-9]\d*\.\d{3}$/.test(plain)) return undefined;
  const micros = parseUnits(plain, MICRO_DIGITS);
  return micros.ok && micros.value <= MAX_MICROS ? micros.value : undefined;
}
