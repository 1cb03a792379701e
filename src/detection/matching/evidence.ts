// The stored reasons for where a payment was placed. A merchant is shown only its own invoices: on a shared address others are never named.

import type { Transfer } from "../../chains/transfer.ts";
import type { Refusal } from "../../commerce/payments/match.ts";
import type { PaymentEvidence } from "../../commerce/payments/payment.ts";
import type { MerchantId } from "../../lib/ids.ts";

const MOST_CANDIDATES = 20;
const MOST_RAW = 4_096;

export function evidenceOf(
  { raw, spends, growth }: Transfer,
  refused: readonly Refusal[],
  merchantId?: MerchantId,
): PaymentEvidence {
  const own = refused.filter((refusal) => refusal.merchantId === merchantId).slice(0, MOST_CANDIDATES);
  const candidates = own.map(({ invoiceId, reason }) => ({ invoiceId, reason }));
  const evidence = { raw: raw.slice(0, MOST_RAW), spends, candidates };
  return growth === undefined ? evidence : { ...evidence, explainedBy: growth.explainedBy };
}
