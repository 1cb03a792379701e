// A model of the allocator of one address. It applies the same rules by a different method: it reads every reserved amount for each answer.
import type { AmountRequest } from "../../src/commerce/amounts/amount-request.ts";
import type { AmountGrain } from "../../src/commerce/amounts/direct-amount.ts";
import { heldUntilMs, holdingBounds, holdingRefusal, lifetimeRefusal } from "../../src/commerce/amounts/holding.ts";
import { isShared, UNPROVEN } from "../../src/commerce/ranks/rank.ts";
import type { Rank } from "../../src/platform/column-values.ts";

export const PLACE = { network: "BTC", cryptocurrency: "BTC", address: "1BoatSLRHtKNngkdXEeobR76b53LETtpyT" };
const SATOSHI: AmountGrain = { grainUnits: 1n, coarseGrainUnits: [] };

/**
 * The amounts for a price, in allocation order: the price itself, then amounts at most 0.5 % and 10,000 grains below it, coarsest steps first
 * (decisions 4, "Amount for a direct wallet").
 */
export function candidatesOf(priceUnits: bigint, { grainUnits, coarseGrainUnits } = SATOSHI): readonly bigint[] {
  const mostUnits = priceUnits / 200n < 10_000n * grainUnits ? priceUnits / 200n : 10_000n * grainUnits;
  const found = new Set([priceUnits]);
  for (const grain of [...coarseGrainUnits, grainUnits])
    for (let less = grain; less <= mostUnits; less += grain) found.add(priceUnits - less);
  return [...found];
}

export interface Held {
  readonly units: bigint;
  readonly rank: Rank;
  readonly invoiceId: string;
  readonly merchantId: string;
  readonly isPublic: boolean;
  readonly untilMs: number;
  /** False once the amount turned out to have no row in D1. */
  readonly isCounted: boolean;
}

/** An allocator's rules, by brute force over every reserved amount. */
export class AmountModel {
  held: readonly Held[] = [];
  readonly given = new Map<string, bigint>();
  readonly #asset: AmountGrain;

  constructor(asset = SATOSHI) {
    this.#asset = asset;
  }

  allocate(request: AmountRequest): bigint | string {
    const { invoiceId, merchantId, priceUnits, sharing, isPublic, nowMs } = request;
    const own = this.held.filter((each) => each.invoiceId === invoiceId);
    const rank = own[0]?.rank ?? sharing.rank;
    const isSharedHere = isShared(sharing, rank);
    const ends = own.map((each) => each.untilMs);
    const untilMs = Math.max(heldUntilMs(request, { isShared: isSharedHere, rank }), ...ends);
    const key = `${invoiceId} ${priceUnits}`;
    const units = this.given.get(key) ?? this.#free(request, rank);
    if (units === undefined) return "AMOUNTS_EXHAUSTED";
    const kept = own.find((each) => each.units === units);
    const refusal = kept?.isCounted === true ? undefined : this.#refusal(request, rank, units);
    if (kept !== undefined) {
      if (refusal !== undefined) return refusal;
      if (Math.max(kept.untilMs, untilMs) < nowMs) return "LIMIT_REACHED";
      this.given.set(key, units);
      const longer = { ...kept, untilMs: Math.max(kept.untilMs, untilMs), isCounted: true };
      this.held = this.held.map((each) => (each === kept ? longer : each));
      return units;
    }
    if (isSharedHere && rank === UNPROVEN && own.length === 0 && lifetimeRefusal(request, nowMs) !== undefined)
      return "LIMIT_REACHED";
    if (refusal !== undefined) return refusal;
    if (untilMs < nowMs) return "LIMIT_REACHED";
    this.given.set(key, units);
    this.held = [...this.held, { units, rank, invoiceId, merchantId, isPublic, untilMs, isCounted: true }];
    return units;
  }

  #refusal({ invoiceId, merchantId, sharing, isPublic }: AmountRequest, rank: Rank, units: bigint): string | undefined {
    const bounds = holdingBounds({ rank, isPublic }, units, this.#asset);
    const within = this.held.filter(
      (each) => each.isCounted && bounds.fromUnits <= each.units && each.units <= bounds.toUnits,
    );
    const ofRank = within.filter((each) => each.rank === rank);
    const shown = within.filter(
      (each) => each.isPublic && each.merchantId === merchantId && each.invoiceId !== invoiceId,
    );
    const ownOfRank = ofRank.filter((each) => each.merchantId === merchantId);
    const refusal = holdingRefusal(rank, bounds, {
      isShared: isShared(sharing, rank),
      others: sharing.provenOthers,
      all: ofRank.length,
      public: shown.length,
      own: ownOfRank.length,
      ownPublic: ownOfRank.filter((each) => each.isPublic).length,
    });
    return refusal?.code;
  }

  #free({ invoiceId, merchantId, priceUnits }: AmountRequest, rank: Rank): bigint | undefined {
    const freeFor = (asker: Rank) =>
      candidatesOf(priceUnits, this.#asset).find(
        (units) =>
          !this.held.some(
            (each) =>
              each.units === units &&
              each.invoiceId !== invoiceId &&
              (each.rank <= asker || each.merchantId === merchantId),
          ),
      );
    return freeFor(UNPROVEN) ?? freeFor(rank);
  }

  drop(isGone: (each: Held) => boolean): void {
    for (const each of this.held.filter(isGone)) {
      for (const [key, units] of this.given)
        if (units === each.units && key.startsWith(`${each.invoiceId} `)) this.given.delete(key);
    }
    this.held = this.held.filter((each) => !isGone(each));
  }

  count(isCounted: (each: Held) => boolean | undefined): void {
    this.held = this.held.map((each) => ({ ...each, isCounted: isCounted(each) ?? each.isCounted }));
  }
}
