// What a transaction that a payer named is to the invoice: a function of the rows as read (decisions 5, "The payer's claim"). So the page's
// sentence is never more than what the API shows, also after the shop decides, a block is replaced or the invoice is over.

import { pairOf } from "../../chains/registry/pair.ts";
import { isToItself } from "../../chains/sources/transfer.ts";
import type { Invoice } from "../../commerce/invoice-records/invoice.ts";
import { isSeen, isSuperseded, type Payment } from "../../commerce/payments/payment.ts";
import { isMonitored } from "../../commerce/settlement/status.ts";
import { formatUnits } from "../../lib/money.ts";
import { type Claim, REPEAT_MS } from "./claim.ts";

export const CLAIM_STANDINGS = [
  /** One of the invoice's payments, which counts. */
  "CREDITED",
  /** A payment of the invoice that came too late to count. */
  "LATE",
  /** It pays an address of the invoice, and the merchant has to decide for which order. */
  "TO_DECIDE",
  /** It pays an address of the invoice, and is credited to another invoice of the merchant. */
  "OTHER_ORDER",
  /** The merchant decided that it counts for nothing. */
  "SET_ASIDE",
  /** It is dust. */
  "TOO_LITTLE",
  /** It left the chain, and may come back. */
  "REORGED",
  /** It left the chain or the mempool for good. */
  "DROPPED",
  /** It pays an address of the invoice, and is credited to another merchant's; or the address pays itself. */
  "NOT_THIS",
  /** No payment of the invoice is known yet. */
  "NOT_FOUND",
  /** The same, because no source could be asked just now. */
  "UNAVAILABLE",
  /** The same, and the invoice's payments are no longer watched for. */
  "OVER",
] as const;
export type ClaimStanding = (typeof CLAIM_STANDINGS)[number];

export interface StandingFacts {
  readonly claim: Pick<Claim, "network" | "txHash" | "createdAtMs"> & { readonly outcome: string };
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "status" | "monitorUntilMs">;
  /** All of the invoice's payments. */
  readonly payments: readonly Payment[];
  /** Other rows of the transaction at addresses of the invoice, of any merchant. */
  readonly claimed: readonly Payment[];
  readonly nowMs: number;
}

export interface Standing {
  readonly standing: ClaimStanding;
  /** What it paid, by coin: never an amount that belongs to another invoice. */
  readonly amounts: readonly { readonly cryptocurrency: string; readonly amount: string }[];
}

/** The most that the transaction is: a payment that counts goes before one that needs a decision, and so on. */
export function standingOf(facts: StandingFacts): Standing {
  const { claim, invoice } = facts;
  // A superseded row records what the chain no longer holds, and never comes back.
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
  // A failed lookup says nothing about later: the watcher has read on since.
  const isFresh = nowMs - claim.createdAtMs < REPEAT_MS;
  return claim.outcome === "UNAVAILABLE" && isFresh ? "UNAVAILABLE" : "NOT_FOUND";
}

function isGone({ status }: Payment): boolean {
  return status === "REORGED" || status === "DROPPED";
}

/** For payments that are not this invoice's. The page does not say whether one is still on the chain. */
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
