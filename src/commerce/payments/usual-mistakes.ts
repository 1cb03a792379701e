// The mistakes that payers usually make with an amount (decisions 5, "Direct match" and "Wrong payments"): an exchange deducts its fee, or half or
// twice the amount is sent. Amounts are in base units.

/** The largest part of an amount that an exchange's fee may take. */
const MOST_FEE_PERCENT = 25n;

/** Whether a fee alone may explain why less was paid than asked. */
export function isShortByFee(paid: bigint, asked: bigint): boolean {
  return paid < asked && (asked - paid) * 100n <= asked * MOST_FEE_PERCENT;
}

/**
 * Whether the paid amount shows which amount was asked for. It does if it is exactly half or double, or if the difference looks like an exchange's
 * fee: one significant digit, or two that end in 5 (1, 0.8, 1.5). At a shared address no two invoices ask for the same amount, so the remaining
 * digits identify the amount asked for.
 */
export function tellsAsked(paid: bigint, asked: bigint): boolean {
  if (paid * 2n === asked || paid === asked * 2n) return true;
  return isShortByFee(paid, asked) && /^(\d|\d5)0*$/.test((asked - paid).toString());
}
