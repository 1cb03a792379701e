// How the rules match growth: an increase of an address's balance that no transaction explains. Growth of exactly the amount that one invoice asks
// for is credited to it. For any other amount nobody knows which part belongs to which payer, so a user decides and sees the invoices that it may
// belong to.
import type { Candidate, Match, Refusal } from "../../commerce/payments/match.ts";

/**
 * Restricts a match to what is safe for growth: an amount that is near an invoice's, or that has a single candidate, may be the sum of two payments
 * to other invoices. Such a match is also unsafe if some possible invoices are unknown.
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
