// How many amounts may be held at an address (decisions 12, "Shared addresses and keys"). At a shared address the merchants of one rank are limited
// together; a lower rank takes nothing from a higher one. At every address the browsers of each merchant are limited.
import { LIMITS, limitReached } from "../../lib/limits.ts";
import { ceilDiv, floorDiv, maxBig, minBig } from "../../lib/money.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Rank } from "../../platform/column-values.ts";
import type { Failure } from "../../platform/failures.ts";
import { UNPROVEN } from "../ranks/rank.ts";
import { type AmountGrain, DISCOUNT_DIVISOR, MOST_GRAINS } from "./direct-amount.ts";

/** How many of the amounts from `fromUnits` to `toUnits`, both included, may be held. */
export interface HoldingBounds {
  readonly fromUnits: bigint;
  readonly toUnits: bigint;
  /** By all merchants of the rank together; null if unlimited. */
  readonly maxAll: number | null;
  /** By one merchant, if the address is shared. */
  readonly maxOwn: number;
  /** Whether `maxOwn` is divided equally among all merchants of the rank who have the address. */
  readonly isDivided: boolean;
  /** By one merchant for invoices of browsers and product pages; at a shared address at most their part of `maxOwn` too. Null for its server. */
  readonly maxPublic: number | null;
}

/** How many of them are held. */
export interface Holding {
  readonly isShared: boolean;
  /** By merchants of the same rank. */
  readonly all: number;
  readonly own: number;
  /** The part of `own` for invoices of browsers. */
  readonly ownPublic: number;
  /** By this merchant at any rank, for other invoices of browsers. */
  readonly public: number;
  /** The number of other merchants with proof who have the address. */
  readonly others: number;
}

/** The bounds that apply to one more amount of `units`. */
export function holdingBounds(
  { rank, isPublic }: { readonly rank: Rank; readonly isPublic: boolean },
  units: bigint,
  asset: AmountGrain,
): HoldingBounds {
  const bounds = rank === UNPROVEN ? unprovenBounds(units, asset) : provenBounds(units, asset);
  return { ...bounds, maxPublic: isPublic ? publicPart(provenBounds(units, asset).maxOwn) : null };
}

/** The part of a merchant's limit that browsers may use; the rest is for its server. */
export function publicPart(max: number): number {
  return Math.ceil((max * LIMITS.percentOfAmountsForPublic) / 100);
}

/**
 * For the prices that have `units` among their candidates: how many grains the candidates of the highest price reach down, and those of the lowest.
 * Merchants choose their prices, so a bound for one price must bound all of them.
 */
function grainsOf(units: bigint, { grainUnits }: AmountGrain) {
  const widest = minBig(MOST_GRAINS, ceilDiv(units, (DISCOUNT_DIVISOR - 1n) * grainUnits));
  const narrowest = minBig(MOST_GRAINS, floorDiv(units, (DISCOUNT_DIVISOR + 1n) * grainUnits));
  return { widest, narrowest };
}

/** Each merchant with proof has an equal part of a price's candidates. The range covers all candidates of every price that has `units`. */
function provenBounds(units: bigint, asset: AmountGrain): Omit<HoldingBounds, "maxPublic"> {
  const { widest, narrowest } = grainsOf(units, asset);
  const reachUnits = widest * asset.grainUnits;
  const ends = { fromUnits: maxBig(1n, units - reachUnits), toUnits: units + reachUnits };
  return { ...ends, maxAll: null, maxOwn: Number(narrowest) + 1, isDivided: true };
}

/**
 * Merchants without proof may hold a quarter of the amounts within 0.5 % on either side of a price. The range uses the reach of the highest price on
 * both sides, and the quarter that of the lowest.
 */
function unprovenBounds(units: bigint, asset: AmountGrain): Omit<HoldingBounds, "maxPublic"> {
  const { widest, narrowest } = grainsOf(units, asset);
  const reachUnits = 2n * widest * asset.grainUnits;
  const ends = { fromUnits: maxBig(1n, units - reachUnits), toUnits: units + reachUnits };
  const maxAll = Math.floor(((2 * Number(narrowest) + 1) * LIMITS.percentOfAmountsWithoutProof) / 100);
  // One merchant without proof may hold at most half, so that it cannot crowd out another.
  const maxOwn = Math.min(LIMITS.amountsWithoutProof, Math.ceil(maxAll / 2));
  return { ...ends, maxAll, maxOwn, isDivided: false };
}

export type AmountRefusal = Extract<Failure, { code: "LIMIT_REACHED" | "AMOUNTS_EXHAUSTED" }>;

/** The refusal for an invoice whose amounts end before it does. */
export const NO_LONGER_HELD = limitReached("lifetimeSecondsWithoutProof");

/** Why no further amount may be held; undefined if one may. */
export function holdingRefusal(rank: Rank, bounds: HoldingBounds, holding: Holding): AmountRefusal | undefined {
  const { maxAll, maxPublic, isDivided } = bounds;
  const { all, own, ownPublic, others, isShared } = holding;
  const maxOwn = isDivided ? Math.ceil(bounds.maxOwn / (others + 1)) : bounds.maxOwn;
  const mostPublic = maxPublic === null || !isShared ? maxPublic : Math.min(maxPublic, publicPart(maxOwn));
  if (mostPublic !== null && holding.public >= mostPublic) return limitReached("percentOfAmountsForPublic");
  if (!isShared) return undefined;
  if (maxAll !== null && all >= maxAll) return limitReached("percentOfAmountsWithoutProof");
  // Browsers at neighbouring prices can together hold more than their part here. The excess takes nothing from the merchant's server. The amounts held for one
  // price still number at most `maxOwn`: the range of the last amount given for it covers its candidates.
  const isServer = maxPublic === null;
  const beyondPart = isServer && isDivided ? Math.max(0, ownPublic - publicPart(maxOwn)) : 0;
  if (own - beyondPart < maxOwn) return undefined;
  if (rank !== UNPROVEN) return { code: "AMOUNTS_EXHAUSTED" };
  return { code: "LIMIT_REACHED", name: "amountsWithoutProof", limit: maxOwn };
}

/** How long a merchant without proof may hold amounts at a shared address. */
const LIFETIME_MS = LIMITS.lifetimeSecondsWithoutProof * SECOND_MS;

/** Why an invoice may not use the shared address; undefined if it may. */
export function lifetimeRefusal(
  { expiresAtMs }: { readonly expiresAtMs: number },
  nowMs: number,
): Extract<Failure, { code: "LIMIT_REACHED" }> | undefined {
  if (expiresAtMs - nowMs <= LIFETIME_MS) return undefined;
  const name = "lifetimeSecondsWithoutProof";
  return { code: "LIMIT_REACHED", name, limit: LIMITS[name] };
}

/**
 * Until when an invoice's amounts are held: to the end of its monitoring, or for a day from its creation if others would wait for them. It does not
 * depend on when an amount is reserved, so that reads of the page change nothing.
 */
export function heldUntilMs(
  {
    createdAtMs,
    expiresAtMs,
    monitorUntilMs,
  }: { readonly createdAtMs: number; readonly expiresAtMs: number; readonly monitorUntilMs: number },
  of: { readonly isShared: boolean; readonly rank: Rank },
): number {
  if (!of.isShared || of.rank !== UNPROVEN) return monitorUntilMs;
  return Math.max(expiresAtMs, Math.min(monitorUntilMs, createdAtMs + LIFETIME_MS));
}
