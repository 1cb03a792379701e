// Reserving an amount on a shared address (decisions 4, "Amount for a direct wallet"). The first try is a guess that costs no read of its own:
// amounts of other prices whose candidates overlap are not in it. Whenever the guess is not to be trusted, and always after a collision,
// the candidates themselves are looked up, because amounts and not prices are what must differ.
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import { type BatchConflict, isConflictOn } from "../db/conflict.ts";
import type { EventData } from "../events/event-data.ts";
import { derivedId, type WalletId } from "../lib/ids.ts";
import { formatUnits } from "../lib/money.ts";
import {
  type AmountPlace,
  countHeldAmong,
  FREE_SALTS_READ,
  insertReservation,
  repriceReservation,
  selectFreeSalts,
  type selectHeldAmounts,
  warnOfAmounts,
} from "../reservations/store.ts";
import {
  amountsLowMark,
  candidateTexts,
  drawSalt,
  firstSalt,
  mayHold,
  saltCapacity,
  saltedUnits,
  type TakenAmounts,
} from "./direct-amount.ts";
import type { Invoice } from "./invoice.ts";
import { pairKey, pairOf } from "./payment-method.ts";

/** How many candidates the first look-up sends; a second one sends all the others. */
const FIRST_LOOK = 1_024;

/** What was read of a price's amounts, and of the merchant's at the address. */
export interface AmountFacts extends TakenAmounts {
  /** How many amounts the merchant holds there, where the address is shared with another; else null. */
  readonly ownHeld: number | null;
}

export type HeldAmount = Awaited<ReturnType<typeof selectHeldAmounts>>[number];

export interface AmountEffects {
  readonly db: Db;
  /** In [0, 1). */
  random(): number;
  readonly nowMs: number;
}

export interface AmountRequest {
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "monitorUntilMs" | "isFromPublicKey">;
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
  readonly statements: readonly BatchItem<"sqlite">[];
}

/**
 * The amount to ask for at this price, and what reserves it; undefined when none is free, or this merchant holds its half already. An amount
 * that the invoice was given at this very price stays, and nothing is written.
 */
export async function reserveAmount(fx: AmountEffects, request: AmountRequest): Promise<ReservedAmount | undefined> {
  const { at, priceUnits, held, invoice } = request;
  const kept = held.find((each) => each.priceUnits === priceUnits);
  if (kept !== undefined) return { units: kept.units, salt: undefined, statements: [] };
  const { asset } = pairOf(at);
  const capacity = saltCapacity(priceUnits, asset);
  const salt = await freeSalt(fx, request, reachOf(request, capacity));
  if (salt === undefined) return undefined;
  const units = saltedUnits(priceUnits, asset, salt);
  const warning = warnings(fx, request, capacity);
  if (held.some((each) => each.units === units)) {
    const repriced = repriceReservation(fx.db, { ...at, units, invoiceId: invoice.id }, { priceUnits, salt });
    return { units, salt: undefined, statements: [repriced, ...warning] };
  }
  if (!(await isWithinHalf(fx, request, capacity))) return undefined;
  const reservation = insertReservation(fx.db, {
    ...at,
    units,
    priceUnits,
    salt,
    invoiceId: invoice.id,
    merchantId: invoice.merchantId,
    heldUntilMs: invoice.monitorUntilMs,
    createdAtMs: fx.nowMs,
  });
  return { units, salt, statements: [reservation, ...warning] };
}

/** After a batch that was refused for an amount: the salts it tried, by pair, join those that lost in this request. */
export function noteLosses(
  lost: Map<string, number[]>,
  tried: ReadonlyMap<string, number>,
  conflict: BatchConflict | undefined,
): void {
  if (!isConflictOn(conflict, "amount_reservations")) return;
  for (const [pair, salt] of tried) lost.set(pair, [...(lost.get(pair) ?? []), salt]);
}

/** Of how many candidates: strangers, who make invoices in a browser, get the first half, so that the merchant's server always has the other. */
function reachOf({ invoice }: AmountRequest, capacity: number): number {
  return invoice.isFromPublicKey ? Math.ceil(capacity / 2) : capacity;
}

async function freeSalt(fx: AmountEffects, request: AmountRequest, reach: number): Promise<number | undefined> {
  const { taken, lostSalts } = request;
  const guess = lostSalts.length === 0 ? firstSalt(taken, reach) : undefined;
  if (guess !== undefined) return guess;
  return drawSalt({ freeSalts: await freeSalts(fx.db, request, reach), lostSalts, random: fx.random() });
}

/** Free by exact units. One is enough at first; after a collision as many as there are, up to 64, to draw from. */
async function freeSalts(db: Db, request: AmountRequest, reach: number): Promise<readonly number[]> {
  const { at, priceUnits, invoice, lostSalts } = request;
  const { asset } = pairOf(at);
  const wanted = lostSalts.length === 0 ? 1 : FREE_SALTS_READ;
  const look = async (from: number, to: number) => {
    const candidates = candidateTexts(priceUnits, asset, { from, to });
    const found = await selectFreeSalts(db, { ...at, candidates, from, invoiceId: invoice.id });
    return found.map(({ salt }) => salt);
  };
  const first = await look(0, Math.min(FIRST_LOOK, reach));
  return first.length >= wanted || reach <= FIRST_LOOK ? first : [...first, ...(await look(FIRST_LOOK, reach))];
}

/** Counted only where the address is shared and the merchant holds enough there, at whatever prices, to have half of this one's. */
async function isWithinHalf(fx: AmountEffects, request: AmountRequest, capacity: number): Promise<boolean> {
  const { at, priceUnits, taken, invoice } = request;
  const isShared = taken.ownHeld !== null;
  if (mayHold({ isShared, ownCount: taken.ownHeld ?? 0, capacity })) return true;
  const candidates = candidateTexts(priceUnits, pairOf(at).asset, { from: 0, to: capacity });
  const [own] = await countHeldAmong(fx.db, { ...at, candidates, merchantId: invoice.merchantId });
  return mayHold({ isShared, ownCount: own?.count ?? 0, capacity });
}

/** `wallet.amounts_low`, if this is what makes the amounts of the price few (chains.md 4): its batch decides. */
function warnings(fx: AmountEffects, request: AmountRequest, capacity: number): readonly BatchItem<"sqlite">[] {
  const { at, priceUnits, invoice, walletId, operationId } = request;
  const mark = amountsLowMark(capacity);
  if (mark === undefined) return [];
  const amount = formatUnits(priceUnits, pairOf(at).asset.decimals);
  return [
    ...warnOfAmounts(fx.db, {
      ...at,
      eventId: derivedId("evt", `${operationId}|${pairKey(at)}`, 2_000),
      merchantId: invoice.merchantId,
      priceUnits,
      mark,
      data: JSON.stringify({ walletId, ...at, amount } satisfies EventData["wallet.amounts_low"]),
      nowMs: fx.nowMs,
    }),
  ];
}
