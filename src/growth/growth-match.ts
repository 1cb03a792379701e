// What a rule may make of growth that no transaction explains (chains.md 2): exactly what one invoice asked for is that invoice's; of anything
// else nobody knows which part came from whom, so it is for a person, with the invoices that it might have been meant for.
import type { Candidate, Match, Refusal } from "../payments/match.ts";

/** The match as it holds for growth: what is near an amount, or at the only candidate, may be two payments of others added up. */
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
