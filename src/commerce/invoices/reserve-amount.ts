// Reserving an amount on a shared address (decisions 4, "Amount for a direct wallet"). The first try is a guess that costs no read of its own:
// amounts of other prices whose candidates overlap are not in it. Whenever the guess is not to be trusted, and always after a collision,
// the candidates themselves are looked up, because amounts and not prices are what must differ.

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

/** How many candidates the first look-up sends; a second one sends all the others. */
const FIRST_LOOK = 1_024;

/** What was read of a price's amounts that are taken for the merchant, and of its place at the address. */
export interface AmountFacts extends TakenAmounts {
  readonly rank: Rank;
  /** Whether another merchant of its rank or a higher one has a wallet there; undefined where that was not read. */
  readonly isShared: boolean | undefined;
}

/** For a wallet that is gone, or was not read: everything is looked up. */
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
  /** The amounts that the invoice holds at this place, the plainest first. */
  readonly held: readonly HeldAmount[];
  /** Salts of this price that lost against another writer in this request, the newest last. */
  readonly lostSalts: readonly number[];
}

export interface ReservedAmount {
  readonly units: bigint;
  /** The number of a new amount, for the next try after a collision; undefined for one that the invoice held before. */
  readonly salt: number | undefined;
  readonly rank: Rank;
  /** Nobody may be asked for it after that. */
  readonly heldUntilMs: number;
  readonly statements: readonly Statement[];
}

export type AmountRefusal = Extract<Failure, { code: "AMOUNTS_EXHAUSTED" | "LIMIT_REACHED" }>;

/**
 * The amount to ask for at this price, and what reserves it. An amount that the invoice was given at this very price stays, and nothing is
 * written. An invoice keeps the rank of its first amount there.
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
  // It would be free for others at once, while the invoice's page asks for it.
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

/** For an invoice that outlives its amounts. */
const NO_LONGER_HELD = limitReached("lifetimeSecondsWithoutProof");

/** Whether a batch may have been refused for an amount: another writer holds it, or it may not be held. */
export function mayBeOfAmounts(conflict: BatchConflict | undefined): boolean {
  return conflict?.kind === "assertion" || isConflictOn(conflict, "amount_reservations");
}

/** After a batch that was refused for an amount: the salts it tried, by pair, join those that lost in this request. */
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
 * Free by exact units. What anybody holds is left to them; only where nothing else is left may a merchant with proof ask for what one without it
 * holds, and who of them asked first decides what becomes of such a payment (payments/match.ts).
 */
async function freeSalts(db: Db, request: AmountRequest, of: Search): Promise<readonly number[]> {
  const free = await saltsFreeFor(db, request, { ...of, asker: { ...of.asker, rank: UNPROVEN } });
  return free.length > 0 || of.asker.rank === UNPROVEN ? free : saltsFreeFor(db, request, of);
}

/** One is enough at first; after a collision as many as there are, up to 64, to draw from. */
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
 * Whether the address is shared; refused where no more may be held there. The batch counts by itself: what is held is read only after a batch
 * was refused, or where it is not known yet whether the address is shared.
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
    if (found === undefined) throw new Error("what is held is one row, always");
    isShared = found.isShared;
    const refusal = holdingRefusal(asker.rank, bounds, found);
    if (refusal !== undefined) return err(refusal);
  }
  const isFirst = isShared && held.length === 0 && asker.rank === UNPROVEN;
  const tooLong = isFirst ? lifetimeRefusal(invoice, deps.nowMs) : undefined;
  return tooLong === undefined ? ok({ isShared }) : err(tooLong);
}

/** `wallet.amounts_low`, if this is what makes the amounts of the price few: its batch decides. */
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
