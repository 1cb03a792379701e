// How a transaction that a payer named relates to the invoice, computed from the stored rows (decisions 5, "The payer's claim"). The page therefore
// never shows more than the API does, even after the shop decides, a block is replaced or the invoice ends.

import { pairOf } from "../../chains/registry/pair.ts";
import { isToItself } from "../../chains/sources/transfer.ts";
import type { Invoice } from "../../commerce/invoice-records/invoice.ts";
import { isSeen, isSuperseded, type Payment } from "../../commerce/payments/payment.ts";
import { isMonitored } from "../../commerce/settlement/status.ts";
import { formatUnits } from "../../lib/money.ts";
import { type Claim, REPEAT_MS } from "./claim.ts";

export const CLAIM_STANDINGS = [
  /** A payment to the invoice that counts. */
  "CREDITED",
  /** A payment to the invoice that came too late to count. */
  "LATE",
  /** The transaction pays an address of the invoice, and the merchant has to decide which order it is for. */
  "TO_DECIDE",
  /** The transaction pays an address of the invoice, and is credited to another of the merchant's invoices. */
  "OTHER_ORDER",
  /** The merchant decided to ignore the payment. */
  "SET_ASIDE",
  /** The payment is dust. */
  "TOO_LITTLE",
  /** The transaction left the chain, and may come back. */
  "REORGED",
  /** The transaction left the chain or the mempool for good. */
  "DROPPED",
  /** The transaction pays an address of the invoice, but is credited to another merchant's invoice, or the address pays itself. */
  "NOT_THIS",
  /** No payment to the invoice is known yet. */
  "NOT_FOUND",
  /** No payment to the invoice is known yet, and the lookup, less than a minute ago, got no answer. */
  "UNAVAILABLE",
  /** No payment to the invoice is known, and the invoice is no longer watched. */
  "OVER",
] as const;
export type ClaimStanding = (typeof CLAIM_STANDINGS)[number];

export interface StandingFacts {
  readonly claim: Pick<Claim, "network" | "txHash" | "createdAtMs"> & { readonly outcome: string };
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "status" | "monitorUntilMs">;
  /** All of the invoice's payments. */
  readonly payments: readonly Payment[];
  /** The transaction's other rows, of any merchant, at the invoice's addresses. */
  readonly claimed: readonly Payment[];
  readonly nowMs: number;
}

export interface Standing {
  readonly standing: ClaimStanding;
  /** The paid amounts, by coin: never an amount that belongs to another invoice. */
  readonly amounts: readonly { readonly cryptocurrency: string; readonly amount: string }[];
}

/** The highest-ranking standing that applies: a payment that counts ranks above one that needs a decision. */
export function standingOf(facts: StandingFacts): Standing {
  const { claim, invoice } = facts;
  // A superseded row records a transfer that the chain no longer holds and that never comes back.
  const own = facts.payments.filter(
    (each) => each.network === claim.network && each.txHash === claim.txHash && !isSuperseded(each),
  );
  const others = facts.claimed.filter(({ merchantId }) => merchantId === invoice.merchantId);
  const free = others.filter((each) => each.invoiceId === null && !isSuperseded(each));
  const seen = own.filter(isSeen);
  const gone = own.filter(isGone);
  const ignored = free.filter(({ status }) => status === "IGNORED");
  const ranked: readonly (readonly [ClaimStanding, readonly Payment[]])[] = [
    ["CREDITED", seen.filter(({ isLate }) => !isLate)],
    ["LATE", seen],
    ["TO_DECIDE", free.filter(({ status }) => status === "UNMATCHED")],
    ["OTHER_ORDER", gone.length === 0 ? others.filter(isTaken) : []],
    ["SET_ASIDE", ignored.filter(({ resolution }) => resolution !== null)],
    ["TOO_LITTLE", ignored.filter((each) => !isToItself(each))],
    ["REORGED", [...gone, ...free].filter(({ status }) => status === "REORGED")],
    ["DROPPED", [...gone, ...free].filter(({ status }) => status === "DROPPED")],
  ];
  const found = ranked.find(([, payments]) => payments.length > 0);
  if (found === undefined) return { standing: unfound(facts), amounts: [] };
  const [standing, payments] = found;
  return { standing, amounts: amountsOf(payments.filter((each) => each.invoiceId === null || own.includes(each))) };
}

function unfound({ claim, invoice, claimed, nowMs }: StandingFacts): ClaimStanding {
  if (claimed.some((each) => isTaken(each) || isToItself(each))) return "NOT_THIS";
  if (!isMonitored(invoice, nowMs)) return "OVER";
  // A failed lookup counts only while it is recent, because the watcher has kept reading the chain since.
  const isFresh = nowMs - claim.createdAtMs < REPEAT_MS;
  return claim.outcome === "UNAVAILABLE" && isFresh ? "UNAVAILABLE" : "NOT_FOUND";
}

function isGone({ status }: Payment): boolean {
  return status === "REORGED" || status === "DROPPED";
}

/** Whether the payment, which is not this invoice's, is credited to another invoice. The page does not show whether it is still on the chain. */
function isTaken(payment: Payment): boolean {
  return payment.invoiceId !== null && !isSuperseded(payment);
}

function amountsOf(payments: readonly Payment[]): Standing["amounts"] {
  return [...Map.groupBy(payments, ({ cryptocurrency }) => cryptocurrency)].flatMap(([cryptocurrency, of]) => {
    const [first] = of;
    if (first === undefined) return [];
    const units = of.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
    return [{ cryptocurrency, amount: formatUnits(units, pairOf(first).asset.decimals) }];
  });
}
