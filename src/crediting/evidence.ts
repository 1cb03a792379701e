// What is kept of why a payment is where it is. A merchant is shown its own invoices only: on a shared address others are never named.
import type { MerchantId } from "../lib/ids.ts";
import type { Refusal } from "../payments/match.ts";
import type { PaymentEvidence } from "../payments/payment.ts";
import type { Transfer } from "../payments/transfer.ts";

const MOST_CANDIDATES = 20;
const MOST_RAW = 4_096;

export function evidenceOf(
  { raw, spends, growth }: Transfer,
  refused: readonly Refusal[],
  merchantId?: MerchantId,
): PaymentEvidence {
  const own = refused.filter((refusal) => refusal.merchantId === merchantId).slice(0, MOST_CANDIDATES);
  const candidates = own.map(({ invoiceId, reason }) => ({ invoiceId, reason }));
  const told = { raw: raw.slice(0, MOST_RAW), spends, candidates };
  return growth === undefined ? told : { ...told, explainedBy: growth.explainedBy };
}
