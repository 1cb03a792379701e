// When two sources of chain data must agree on a payment before it is confirmed (decisions 4). `needsSecondSql` in `store.ts` is the same rule in
// SQL.
import { maxBig } from "../../lib/money.ts";

/** All amounts are in micro-units of the invoice currency. */
interface QuorumFacts {
  /** The merchant's `quorumAboveAmount`; null if not set. */
  readonly quorumAboveMicros: bigint | null;
  /** What the invoice asks for; 0 for any amount. */
  readonly askedMicros: bigint;
  /** The value of the payment; null if unknown. */
  readonly paidMicros: bigint | null;
}

/** True if the invoice's amount or the payment's value, whichever is larger, reaches the merchant's threshold. */
export function needsSecondSource({ quorumAboveMicros, askedMicros, paidMicros }: QuorumFacts): boolean {
  return quorumAboveMicros !== null && maxBig(askedMicros, paidMicros ?? 0n) >= quorumAboveMicros;
}
