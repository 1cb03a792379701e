// How many amounts may be held at an address (decisions 12, "Shared addresses and keys"). At a shared address the merchants of one rank are limited
// together; a lower rank does not use up the limit of a higher one. At every address, the invoices that browsers create are limited per merchant.
import { LIMITS, limitReached } from "../../lib/limits.ts";
import { ceilDiv, floorDiv, maxBig, minBig } from "../../lib/money.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Rank } from "../../platform/column-values.ts";
import type { Failure } from "../../platform/failures.ts";
import { UNPROVEN } from "../ranks/rank.ts";
import { type AmountGrain, DISCOUNT_DIVISOR, MOST_GRAINS } from "./direct-amount.ts";

/** How many of the amounts from `fromUnits` to `toUnits`, both inclusive, may be held. */
export interface HoldingBounds {
  readonly fromUnits: bigint;
  readonly toUnits: bigint;
  /** The most for all merchants of the rank together; null if unlimited. */
  readonly maxAll: number | null;
  /** The most for one merchant, if the address is shared. */
  readonly maxOwn: number;
  /** Whether `maxOwn` is divided equally among all merchants of the rank that use the address. */
  readonly isDivided: boolean;
  /**
   * The most for one merchant, for invoices that browsers and product pages create; at a shared address also at most their part of `maxOwn`. Null for
   * an invoice from the merchant's server.
   */
  readonly maxPublic: number | null;
}

/** How many amounts between the bounds are held. */
export interface Holding {
  readonly isShared: boolean;
  /** Held by merchants of the same rank. */
  readonly all: number;
  readonly own: number;
  /** The part of `own` held for invoices that browsers created. */
  readonly ownPublic: number;
  /** Held by this merchant at any rank, for other invoices that browsers created. */
  readonly public: number;
  /** The number of other merchants with proof that use the address. */
  readonly others: number;
}

/** The bounds that apply if one more amount, `units`, is to be held. */
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
 * How many grains the lowest candidate is below its price, for the highest and for the lowest price that has `units` among its candidates. Merchants
 * choose their prices, so a bound must hold for all of these prices.
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
 * Merchants without proof may hold a quarter of the amounts within 0.5 % on either side of a price. Several prices have `units` among their
 * candidates: the range is computed from the highest of them, the quarter from the lowest.
 */
function unprovenBounds(units: bigint, asset: AmountGrain): Omit<HoldingBounds, "maxPublic"> {
  const { widest, narrowest } = grainsOf(units, asset);
  const reachUnits = 2n * widest * asset.grainUnits;
  const ends = { fromUnits: maxBig(1n, units - reachUnits), toUnits: units + reachUnits };
  const maxAll = Math.floor(((2 * Number(narrowest) + 1) * LIMITS.percentOfAmountsWithoutProof) / 100);
  // One merchant without proof may hold at most half of these, so that it cannot crowd out the others.
  const maxOwn = Math.min(LIMITS.amountsWithoutProof, Math.ceil(maxAll / 2));
  return { ...ends, maxAll, maxOwn, isDivided: false };
}

export type AmountRefusal = Extract<Failure, { code: "LIMIT_REACHED" | "AMOUNTS_EXHAUSTED" }>;

/** The refusal for an invoice that requests an amount too late to hold it. */
export const NO_LONGER_HELD = limitReached("lifetimeSecondsWithoutProof");

/** Why no further amount may be held; undefined if one more may be held. */
export function holdingRefusal(rank: Rank, bounds: HoldingBounds, holding: Holding): AmountRefusal | undefined {
  const { maxAll, maxPublic, isDivided } = bounds;
  const { all, own, ownPublic, others, isShared } = holding;
  const maxOwn = isDivided ? Math.ceil(bounds.maxOwn / (others + 1)) : bounds.maxOwn;
  const mostPublic = maxPublic === null || !isShared ? maxPublic : Math.min(maxPublic, publicPart(maxOwn));
  if (mostPublic !== null && holding.public >= mostPublic) return limitReached("percentOfAmountsForPublic");
  if (!isShared) return undefined;
  if (maxAll !== null && all >= maxAll) return limitReached("percentOfAmountsWithoutProof");
  // Invoices from browsers at neighbouring prices can together hold more than their part of this range. The excess is not counted towards the limit
  // of the merchant's server. Even so, at most `maxOwn` amounts are held for one price, because the range of the last amount given for that price
  // covers all its candidates.
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
 * When an invoice's amounts are released: at the end of its monitoring. At a shared address a merchant without proof holds them for at most a day
 * after creation, or until the invoice expires if that is later. The time does not depend on when an amount is reserved, so that reads of the page
 * change nothing.
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
