// What a claimed transaction means for an invoice: the best answer that any of its rows gives. Also decides when a claim is answered without a
// lookup. Derived from the documented interface alone.
import type { Payment } from "../../../src/commerce/payments/payment.ts";
import type { Claim } from "../../../src/detection/claims/claim.ts";
import type { ClaimStanding } from "../../../src/detection/claims/standing.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/lib/time.ts";
import type { Order } from "./payments-till.ts";

const CLAIMS_AN_HOUR = 6;

const isTold = (row: Payment) => row.status === "DETECTED" || row.status === "CONFIRMED";

/** Whether the row pays an address of the invoice, no matter to which invoice it is credited. */
const paysInto = (row: Payment, order: Order) => row.network === order.pair.network && row.toAddress === order.address;

/** The answer that one row of the transaction gives to the claim; undefined if none. */
function standingBy(row: Payment, order: Order, merchantId: string): ClaimStanding | undefined {
  const isOwn = row.invoiceId === order.id;
  if (!isOwn && (!paysInto(row, order) || row.merchantId !== merchantId)) return undefined;
  if (isOwn && isTold(row)) return row.isLate ? "LATE" : "CREDITED";
  if (row.outputIndex.includes("~")) return undefined;
  // The page does not reveal whether another order's payment is still on the chain.
  if (!isOwn && row.invoiceId !== null) return "OTHER_ORDER";
  if (row.status === "REORGED" || row.status === "DROPPED") return row.status;
  if (isOwn) return undefined;
  if (row.status === "UNMATCHED") return "TO_DECIDE";
  if (row.status !== "IGNORED") return undefined;
  if (row.resolution !== null) return "SET_ASIDE";
  return isToItself(row) ? undefined : "TOO_LITTLE";
}

const isToItself = (row: Payment) => row.fromAddress !== null && row.fromAddress === row.toAddress;

const BEST_FIRST: readonly ClaimStanding[] = [
  ...(["CREDITED", "LATE", "TO_DECIDE", "OTHER_ORDER", "SET_ASIDE", "TOO_LITTLE", "REORGED", "DROPPED"] as const),
];

/** `rows`: all stored rows; `isOver`: whether the invoice has ended and nothing is watched for it. */
export function expectedStanding(
  claim: Claim,
  of: {
    readonly order: Order;
    readonly merchantId: string;
    readonly rows: readonly Payment[];
    readonly nowMs: number;
    readonly isOver: boolean;
  },
): { readonly standing: ClaimStanding; readonly units: Readonly<Record<string, bigint>> } {
  const { order, merchantId } = of;
  const rows = of.rows.filter(({ network, txHash }) => network === claim.network && txHash === claim.txHash);
  const said = rows.map((row) => ({ row, standing: standingBy(row, order, merchantId) }));
  const hasOwnGone = rows.some(
    (row) =>
      row.invoiceId === order.id && !row.outputIndex.includes("~") && ["REORGED", "DROPPED"].includes(row.status),
  );
  for (const standing of BEST_FIRST) {
    const these = said.filter((each) => each.standing === standing).map(({ row }) => row);
    if (these.length === 0 || (standing === "OTHER_ORDER" && hasOwnGone)) continue;
    const units: Record<string, bigint> = {};
    for (const { cryptocurrency, amountUnits, invoiceId } of these) {
      if (invoiceId !== null && invoiceId !== order.id) continue;
      units[cryptocurrency] = (units[cryptocurrency] ?? 0n) + amountUnits;
    }
    return { standing, units };
  }
  const isAnothers = rows.some(
    (row) =>
      row.invoiceId !== order.id &&
      paysInto(row, order) &&
      ((row.invoiceId !== null && !row.outputIndex.includes("~")) || isToItself(row)),
  );
  return { standing: isAnothers ? "NOT_THIS" : unfound(claim, of), units: {} };
}

function unfound(claim: Claim, { isOver, nowMs }: { readonly isOver: boolean; readonly nowMs: number }): ClaimStanding {
  if (isOver) return "OVER";
  return claim.outcome === "UNAVAILABLE" && nowMs < claim.createdAtMs + MINUTE_MS ? "UNAVAILABLE" : "NOT_FOUND";
}

/** The earlier claims that can answer this one. */
export function repeatsOf(made: readonly Claim[], asked: Pick<Claim, "network" | "txHash">, nowMs: number) {
  return made.filter(
    ({ network, txHash, outcome, createdAtMs }) =>
      network === asked.network &&
      txHash === asked.txHash &&
      createdAtMs > nowMs - HOUR_MS &&
      (outcome === "FOUND" || nowMs < createdAtMs + MINUTE_MS),
  );
}

/** The number of whole seconds until the claims of the last hour are fewer than the hourly limit. */
export function waitOf(made: readonly Claim[], nowMs: number): number {
  for (let seconds = 0; ; seconds++) {
    const since = nowMs + seconds * SECOND_MS - HOUR_MS;
    if (made.filter(({ createdAtMs }) => createdAtMs > since).length < CLAIMS_AN_HOUR) return seconds;
  }
}

/** If a transaction is known to pay an address of the invoice, there is no lookup. */
export function isKnownOf(rows: readonly Payment[], asked: Pick<Claim, "network" | "txHash">, order: Order): boolean {
  return rows.some(
    (row) =>
      row.network === asked.network && row.txHash === asked.txHash && row.status !== "DROPPED" && paysInto(row, order),
  );
}
