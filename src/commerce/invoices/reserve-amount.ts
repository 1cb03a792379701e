// Reserves an amount on a shared address (decisions 4, "Amount for a direct wallet"). The first try is a guess that needs no extra read: it ignores
// amounts of other prices whose candidates overlap. If the guess is uncertain, and always after a collision, the candidates themselves are looked
// up, because the amounts must differ, not the prices.

import { derivedId, type WalletId } from "../../lib/ids.ts";
import { limitReached } from "../../lib/limits.ts";
import { formatUnits } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Rank } from "../../platform/column-values.ts";
import type { Statement } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { type BatchConflict, isConflictOn } from "../../platform/db/conflict.ts";
import type { Failure } from "../../platform/failures.ts";
import {
  type AmountPlace,
  type Asker,
  assertMayHold,
  FREE_SALTS_READ,
  insertReservation,
  repriceReservation,
  selectFreeSalts,
  type selectHeldAmounts,
  selectHolding,
  warnOfAmounts,
} from "../amount-reservations/store.ts";
import { UNPROVEN } from "../ranks/rank.ts";
import type { WalletEvents } from "../wallets/wallet-events.ts";
import {
  amountsLowMark,
  candidateTexts,
  drawSalt,
  firstSalt,
  saltCapacity,
  saltedUnits,
  type TakenAmounts,
} from "./direct-amount.ts";
import {
  type HoldingBounds,
  heldUntilMs,
  holdingBounds,
  holdingRefusal,
  lifetimeRefusal,
  stretchesOf,
} from "./holding.ts";
import type { Invoice } from "./invoice.ts";
import { isPublicOrigin } from "./invoice.ts";
import { pairKey, pairOf } from "./payment-method.ts";

/** How many candidates the first lookup sends; a second lookup sends all others. */
const FIRST_LOOK = 1_024;

/** The amounts of a price that are taken for the merchant, and the merchant's rank at the address, as read. */
export interface AmountFacts extends TakenAmounts {
  readonly rank: Rank;
  /** Whether another merchant of its rank or a higher one has a wallet there; undefined if not read. */
  readonly isShared: boolean | undefined;
}

/** For a wallet that was deleted or not read: everything is looked up. */
export const NOTHING_KNOWN: AmountFacts = {
  ...{ takenSalts: [], maxSalt: null, isPriceTaken: true },
  ...{ rank: UNPROVEN, isShared: undefined },
};

export type HeldAmount = Pick<
  Awaited<ReturnType<typeof selectHeldAmounts>>[number],
  "units" | "priceUnits" | "rank" | "heldUntilMs"
>;

export interface AmountDependencies {
  readonly db: Db;
  /** In [0, 1). */
  random(): number;
  readonly nowMs: number;
}

export interface AmountRequest {
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "createdAtMs" | "expiresAtMs" | "monitorUntilMs" | "origin">;
  readonly walletId: WalletId;
  readonly operationId: string;
  readonly at: AmountPlace;
  readonly priceUnits: bigint;
  readonly taken: AmountFacts;
  /** The amounts that the invoice holds at this place, lowest salt first. */
  readonly held: readonly HeldAmount[];
  /** Salts of this price that another writer took first in this request, the latest last. */
  readonly lostSalts: readonly number[];
}

export interface ReservedAmount {
  readonly units: bigint;
  /** The salt of a new amount, for the next try after a collision; undefined for an amount that the invoice held before. */
  readonly salt: number | undefined;
  readonly rank: Rank;
  /** The amount must not be asked for after this time. */
  readonly heldUntilMs: number;
  readonly statements: readonly Statement[];
}

export type AmountRefusal = Extract<Failure, { code: "AMOUNTS_EXHAUSTED" | "LIMIT_REACHED" }>;

/**
 * The amount to ask for at this price, and the statements that reserve it. If the invoice already has an amount at this price, it stays and
 * nothing is written. An invoice keeps the rank of its first amount there.
 */
export async function reserveAmount(
  deps: AmountDependencies,
  request: AmountRequest,
): Promise<Result<ReservedAmount, AmountRefusal>> {
  const { at, priceUnits, held, invoice, taken } = request;
  const asker = { merchantId: invoice.merchantId, rank: held[0]?.rank ?? taken.rank };
  const { rank } = asker;
  const kept = held.find((each) => each.priceUnits === priceUnits && each.heldUntilMs >= deps.nowMs);
  if (kept !== undefined) {
    const { units, heldUntilMs } = kept;
    return ok({ units, salt: undefined, rank, heldUntilMs, statements: [] });
  }
  const { asset } = pairOf(at);
  const capacity = saltCapacity(priceUnits, asset);
  const salt = await freeSalt(deps, request, { asker, capacity });
  if (salt === undefined) return err({ code: "AMOUNTS_EXHAUSTED" });
  const units = saltedUnits(priceUnits, asset, salt);
  const warning = warnings(deps, request, { asker, capacity });
  const same = held.find((each) => each.units === units);
  if (same !== undefined) {
    if (same.heldUntilMs < deps.nowMs) return err(NO_LONGER_HELD);
    const repriced = repriceReservation(deps.db, { ...at, units, invoiceId: invoice.id }, { priceUnits, salt });
    const { heldUntilMs } = same;
    return ok({ units, salt: undefined, rank, heldUntilMs, statements: [repriced, ...warning] });
  }
  const isPublic = isPublicOrigin(invoice.origin);
  const bounds = holdingBounds({ rank, isPublic }, units, asset);
  const room = await readRoom(deps, request, { asker, bounds });
  if (!room.ok) return room;
  const of = { ...at, ...asker, units, invoiceId: invoice.id };
  const until = heldUntilMs(invoice, { ...room.value, rank });
  // Others could take the amount at once, while the invoice's page still asks for it.
  if (until < deps.nowMs) return err(NO_LONGER_HELD);
  const guard = assertMayHold(deps.db, { ...of, ...bounds, stretches: stretchesOf(bounds) });
  const reserved = {
    ...of,
    priceUnits,
    salt,
    heldUntilMs: until,
    openUntilMs: invoice.expiresAtMs,
    createdAtMs: deps.nowMs,
    isPublic,
  };
  const statements = [guard, insertReservation(deps.db, reserved), ...warning];
  return ok({ units, salt, rank, heldUntilMs: until, statements });
}

/** The refusal for an invoice whose amounts end before it does. */
const NO_LONGER_HELD = limitReached("lifetimeSecondsWithoutProof");

/** Whether an amount may be why a batch aborted: another writer holds it, or it must not be held. */
export function mayBeOfAmounts(conflict: BatchConflict | undefined): boolean {
  return conflict?.kind === "assertion" || isConflictOn(conflict, "amount_reservations");
}

/** After a batch that aborted because of an amount: adds the salts that it tried, by pair, to those that lost in this request. */
export function noteLosses(
  lost: Map<string, number[]>,
  tried: ReadonlyMap<string, number>,
  conflict: BatchConflict | undefined,
): void {
  if (!mayBeOfAmounts(conflict)) return;
  for (const [pair, salt] of tried) lost.set(pair, [...(lost.get(pair) ?? []), salt]);
}

type Search = { readonly asker: Asker; readonly capacity: number };

async function freeSalt(deps: AmountDependencies, request: AmountRequest, of: Search): Promise<number | undefined> {
  const { taken, lostSalts } = request;
  const guess = lostSalts.length === 0 ? firstSalt(taken, of.capacity) : undefined;
  if (guess !== undefined) return guess;
  return drawSalt({ freeSalts: await freeSalts(deps.db, request, of), lostSalts, random: deps.random() });
}

/**
 * The salts whose exact units are free. An amount that any merchant holds is not free. Only if no other is left, a merchant with proof may ask for
 * an amount that one without proof holds; then who asked first decides about such a payment (payments/match.ts).
 */
async function freeSalts(db: Db, request: AmountRequest, of: Search): Promise<readonly number[]> {
  const free = await saltsFreeFor(db, request, { ...of, asker: { ...of.asker, rank: UNPROVEN } });
  return free.length > 0 || of.asker.rank === UNPROVEN ? free : saltsFreeFor(db, request, of);
}

/** At first one is enough; after a collision all free ones, up to 64, to draw from. */
async function saltsFreeFor(
  db: Db,
  { at, priceUnits, invoice, lostSalts }: AmountRequest,
  { asker, capacity }: Search,
): Promise<readonly number[]> {
  const { asset } = pairOf(at);
  const wanted = lostSalts.length === 0 ? 1 : FREE_SALTS_READ;
  const look = async (from: number, to: number) => {
    const candidates = candidateTexts(priceUnits, asset, { from, to });
    const found = await selectFreeSalts(db, { ...at, ...asker, candidates, from, invoiceId: invoice.id });
    return found.map(({ salt }) => salt);
  };
  const first = await look(0, Math.min(FIRST_LOOK, capacity));
  return first.length >= wanted || capacity <= FIRST_LOOK ? first : [...first, ...(await look(FIRST_LOOK, capacity))];
}

/**
 * Whether the address is shared; refuses if no more may be held there. The batch counts by itself. So the held amounts are read only after a
 * batch aborted, or if it is not known yet whether the address is shared.
 */
async function readRoom(
  deps: AmountDependencies,
  { at, taken, invoice, held, lostSalts }: AmountRequest,
  { asker, bounds }: { readonly asker: Asker; readonly bounds: HoldingBounds },
): Promise<Result<{ readonly isShared: boolean }, AmountRefusal>> {
  let { isShared } = taken;
  const isBounded = isShared || bounds.maxPublic !== null;
  if (isShared === undefined || (isBounded && lostSalts.length > 0)) {
    const stretches = stretchesOf(bounds);
    const [found] = await selectHolding(deps.db, { ...at, ...asker, invoiceId: invoice.id, stretches });
    if (found === undefined) throw new Error("the read of held amounts must return one row");
    isShared = found.isShared;
    const refusal = holdingRefusal(asker.rank, bounds, found);
    if (refusal !== undefined) return err(refusal);
  }
  const isFirst = isShared && held.length === 0 && asker.rank === UNPROVEN;
  const tooLong = isFirst ? lifetimeRefusal(invoice, deps.nowMs) : undefined;
  return tooLong === undefined ? ok({ isShared }) : err(tooLong);
}

/** `wallet.amounts_low`, if this reservation reaches the warning mark; the batch decides. */
function warnings(
  deps: AmountDependencies,
  { at, priceUnits, walletId, operationId }: AmountRequest,
  { asker, capacity }: { readonly asker: Asker; readonly capacity: number },
): readonly Statement[] {
  const mark = amountsLowMark(capacity);
  if (mark === undefined) return [];
  const amount = formatUnits(priceUnits, pairOf(at).asset.decimals);
  return [
    ...warnOfAmounts(deps.db, {
      ...at,
      ...asker,
      eventId: derivedId("evt", `${operationId}|${pairKey(at)}`, 2_000),
      priceUnits,
      mark,
      data: JSON.stringify({ walletId, ...at, amount } satisfies WalletEvents["wallet.amounts_low"]),
      nowMs: deps.nowMs,
    }),
  ];
}
