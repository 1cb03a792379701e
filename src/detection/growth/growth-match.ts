// How rules match growth that no transaction explains. Exactly what one invoice asked for is credited to that invoice. For any other
// amount nobody knows which part came from whom, so a user decides, and gets the invoices that it might have been meant for.
import type { Candidate, Match, Refusal } from "../../commerce/payments/match.ts";

/**
 * The match as it holds for growth: an amount near an invoice's, or with one candidate only, may be the sum of two payments to others. The same
 * holds where not every invoice that could have been meant is known.
 */
export function growthMatch(match: Match, candidates: readonly Pick<Candidate, "invoiceId" | "merchantId">[]): Match {
  if (match.kind === "unmatched" || match.matchedBy === "EXACT_AMOUNT") return match;
  const likeliest = match.candidate.invoiceId;
  const invoices = new Map(
    [match.candidate, ...candidates].map(({ invoiceId, merchantId }) => [invoiceId, merchantId]),
  );
  const refused = [...invoices].map(
    ([invoiceId, merchantId]): Refusal => ({ invoiceId, merchantId, reason: "AMOUNT_DIFFERS" }),
  );
  const rank = ({ invoiceId }: Refusal) => (invoiceId === likeliest ? "" : invoiceId);
  return { kind: "unmatched", refused: refused.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)) };
}
