// Reserves an amount at a shared address (decisions 4, "Amount for a direct wallet"). The address's allocator gives the amount before the batch that
// shows it to a payer; the batch only stores it for matching. The same invoice and price therefore always get the same amount, and no amount is lost
// if a batch fails.

import { pairKey, pairOf } from "../../chains/registry/pair.ts";
import { derivedId, type WalletId } from "../../lib/ids.ts";
import { formatUnits } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { AmountPlace } from "../amounts/amount-place.ts";
import type { AmountAnswer, AmountRequest, GivenAmount } from "../amounts/amount-request.ts";
import type { AmountRefusal } from "../amounts/holding.ts";
import { putAmount, warnOfAmounts } from "../amounts/store.ts";
import { type Invoice, isPublicOrigin } from "../invoice-records/invoice.ts";
import type { Sharing } from "../ranks/rank.ts";
import type { WalletEvents } from "../wallet-records/wallet-events.ts";
import type { MethodQuote } from "./payment-method.ts";
import { printTerms } from "./shown-terms.ts";

export interface AmountDependencies {
  readonly db: Db;
  /** The answers are in the order of the requests. Repeating a call reserves no further amount. Throws if the allocator takes too long. */
  allocateAmounts(place: AmountPlace, requests: readonly AmountRequest[]): Promise<readonly AmountAnswer[]>;
  readonly nowMs: number;
}

interface WantedAmount {
  readonly invoice: Invoice;
  readonly walletId: WalletId;
  readonly at: AmountPlace;
  readonly priceUnits: bigint;
  readonly sharing: Sharing;
  /** The quote that asks for the amount; null for the rest of a partial payment. */
  readonly quote: MethodQuote | null;
}

export interface ReservedAmount {
  readonly units: bigint;
  /** Until this time the invoice may ask for the amount. */
  readonly heldUntilMs: number;
  readonly statements: readonly Write[];
}

/** Reserves the amount to ask for at this price, and returns the statements that store it. */
export async function reserveAmount(
  deps: AmountDependencies,
  wanted: WantedAmount,
): Promise<Result<ReservedAmount, AmountRefusal>> {
  const { invoice, priceUnits, sharing } = wanted;
  const { id: invoiceId, merchantId, createdAtMs, expiresAtMs, monitorUntilMs } = invoice;
  const isPublic = isPublicOrigin(invoice.origin);
  const times = { createdAtMs, expiresAtMs, monitorUntilMs, nowMs: deps.nowMs };
  const terms = printTerms({ invoice, walletId: wanted.walletId, quote: wanted.quote, shownAtMs: deps.nowMs });
  const [answer] = await deps.allocateAmounts(wanted.at, [
    { invoiceId, merchantId, priceUnits, sharing, isPublic, ...times, terms },
  ]);
  if (answer === undefined) throw new Error("an allocator must answer every request");
  if (answer.kind === "refused") return err(answer.refusal);
  const { units, heldUntilMs } = answer;
  return ok({ units, heldUntilMs, statements: statementsOf(deps, wanted, answer) });
}

function statementsOf(
  { db, nowMs }: AmountDependencies,
  { invoice, walletId, at, priceUnits }: WantedAmount,
  { units, rank, heldUntilMs, lowSince }: GivenAmount,
): readonly Write[] {
  const { id: invoiceId, merchantId, expiresAtMs: openUntilMs } = invoice;
  const row = putAmount(db, {
    ...at,
    units,
    invoiceId,
    merchantId,
    priceUnits,
    rank,
    openUntilMs,
    createdAtMs: nowMs,
    heldUntilMs,
    releaseAfterMs: heldUntilMs,
    releasedAtMs: null,
  });
  if (lowSince === null) return [row];
  const amount = formatUnits(priceUnits, pairOf(at).asset.decimals);
  const data = JSON.stringify({ walletId, ...at, amount } satisfies WalletEvents["wallet.amounts_low"]);
  return [row, ...warnOfAmounts(db, { eventId: warningId(lowSince, at, priceUnits), merchantId, data, nowMs })];
}

/** While few amounts for the price are free, all warnings about it have the same id, so that only the first batch that commits warns the merchant. */
function warningId(lowSince: string, at: AmountPlace, priceUnits: bigint) {
  const operationId = lowSince.slice("inv_".length);
  return derivedId("evt", `${operationId}|${pairKey(at)}|${priceUnits}`, 2_000);
}
