// What the tolerances mean for an invoice, calculated as the service does (src/commerce/settlement/value.ts), but in whole cents, rounded down.

interface Tolerances {
  readonly underpaidPercent: number;
  /** In units of the invoice's currency. */
  readonly underpaidMax: number;
  readonly overpaidPercent: number;
}

interface Bounds {
  /** From this amount on, the invoice counts as paid. */
  readonly from: string;
  /** Above this amount, the invoice counts as overpaid. */
  readonly to: string;
}

export function paidBounds(units: number, { underpaidPercent, underpaidMax, overpaidPercent }: Tolerances): Bounds {
  const less = Math.min(shareOf(units, underpaidPercent), Math.round(underpaidMax * 100));
  return { from: decimal(units * 100 - less), to: decimal(units * 100 + shareOf(units, overpaidPercent)) };
}

/** In cents. A percentage has at most two decimals, so its hundredths are whole. */
function shareOf(units: number, percent: number): number {
  return Math.floor((units * Math.round(percent * 100)) / 100);
}

function decimal(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
}
