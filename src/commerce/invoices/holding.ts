// How many amounts may be held at an address (decisions 12, "Shared addresses and keys"): by merchants of one rank where several have it, for those of a
// lower rank take nothing from anybody above them, and by the browsers of each merchant everywhere.
import { LIMITS, limitReached } from "../../lib/limits.ts";
import { ceilDiv, floorDiv, maxBig, minBig } from "../../lib/money.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Rank } from "../../platform/column-values.ts";
import type { Failure } from "../../platform/failures.ts";
import { UNPROVEN } from "../ranks/rank.ts";
import { type AmountGrain, DISCOUNT_DIVISOR, MOST_GRAINS } from "./direct-amount.ts";

/** What may be held of the amounts from `fromUnits` to `toUnits`, both inside. */
export interface HoldingBounds {
  readonly fromUnits: bigint;
  readonly toUnits: bigint;
  /** By all merchants of the rank together; null where that is not bounded. */
  readonly maxAll: number | null;
  /** By one merchant, where the address is shared. */
  readonly maxOwn: number;
  /** Whether `maxOwn` is for all of the rank who have the address, and each has an equal part of it. */
  readonly isDivided: boolean;
  /** By one merchant for invoices of browsers and product pages, where nobody else is there to mind; null for its server. */
  readonly maxPublic: number | null;
}

/** What is held of them. */
export interface Holding {
  readonly isShared: boolean;
  /** By merchants of the asker's rank. */
  readonly all: number;
  readonly own: number;
  /** The asker's, for invoices of browsers. */
  readonly public: number;
  /** Other merchants with proof who have the address. */
  readonly others: number;
}

/** What bounds another amount of `units`. */
export function holdingBounds(
  { rank, isPublic }: { readonly rank: Rank; readonly isPublic: boolean },
  units: bigint,
  asset: AmountGrain,
): HoldingBounds {
  const bounds = rank === UNPROVEN ? unprovenBounds(units, asset) : provenBounds(units, asset);
  return { ...bounds, maxPublic: isPublic ? publicPart(provenBounds(units, asset).maxOwn) : null };
}

/** Of what a merchant may hold, what browsers may: the rest is for its server. */
export function publicPart(max: number): number {
  return Math.ceil((max * LIMITS.percentOfAmountsForPublic) / 100);
}

/**
 * The prices that have `units` among their candidates: how many grains the dearest of them reaches down, and the cheapest. Prices are anybody's choice,
 * so what bounds one of them must bound them all.
 */
function grainsOf(units: bigint, { grainUnits }: AmountGrain) {
  const widest = minBig(MOST_GRAINS, ceilDiv(units, (DISCOUNT_DIVISOR - 1n) * grainUnits));
  const narrowest = minBig(MOST_GRAINS, floorDiv(units, (DISCOUNT_DIVISOR + 1n) * grainUnits));
  return { widest, narrowest };
}

/** Merchants with proof have each an equal part of a price's candidates. All candidates of a price that has `units` lie within its reach. */
function provenBounds(units: bigint, asset: AmountGrain): Omit<HoldingBounds, "maxPublic"> {
  const { widest, narrowest } = grainsOf(units, asset);
  const reachUnits = widest * asset.grainUnits;
  const ends = { fromUnits: maxBig(1n, units - reachUnits), toUnits: units + reachUnits };
  return { ...ends, maxAll: null, maxOwn: Number(narrowest) + 1, isDivided: true };
}

/**
 * Merchants without proof hold a quarter of what lies within 0.5 % either side of a price: the reach of the dearest is counted to both sides, and the
 * quarter is that of the cheapest.
 */
function unprovenBounds(units: bigint, asset: AmountGrain): Omit<HoldingBounds, "maxPublic"> {
  const { widest, narrowest } = grainsOf(units, asset);
  const reachUnits = 2n * widest * asset.grainUnits;
  const ends = { fromUnits: maxBig(1n, units - reachUnits), toUnits: units + reachUnits };
  const maxAll = Math.floor(((2 * Number(narrowest) + 1) * LIMITS.percentOfAmountsWithoutProof) / 100);
  // One stranger alone leaves another merchant without proof as much as it took.
  const maxOwn = Math.min(LIMITS.amountsWithoutProof, Math.ceil(maxAll / 2));
  return { ...ends, maxAll, maxOwn, isDivided: false };
}

type HoldingRefusal = Extract<Failure, { code: "LIMIT_REACHED" | "AMOUNTS_EXHAUSTED" }>;

/** Why no other amount may be held; undefined where one may. */
export function holdingRefusal(rank: Rank, bounds: HoldingBounds, holding: Holding): HoldingRefusal | undefined {
  const { maxAll, maxPublic, isDivided } = bounds;
  const { all, own, others, isShared } = holding;
  const maxOwn = isDivided ? Math.ceil(bounds.maxOwn / (others + 1)) : bounds.maxOwn;
  const mostPublic = maxPublic === null || !isShared ? maxPublic : Math.min(maxPublic, publicPart(maxOwn));
  if (mostPublic !== null && holding.public >= mostPublic) return limitReached("percentOfAmountsForPublic");
  if (!isShared) return undefined;
  if (maxAll !== null && all >= maxAll) return limitReached("percentOfAmountsWithoutProof");
  if (own < maxOwn) return undefined;
  if (rank !== UNPROVEN) return { code: "AMOUNTS_EXHAUSTED" };
  return { code: "LIMIT_REACHED", name: "amountsWithoutProof", limit: maxOwn };
}

/** A stretch of amounts whose decimal texts have one length: there the order of the texts is the order of the numbers. */
export interface AmountStretch {
  readonly digits: number;
  readonly from: string;
  readonly to: string;
}

/** The amounts from one to another, both inside and above zero, as such stretches. */
export function stretchesOf({
  fromUnits,
  toUnits,
}: Pick<HoldingBounds, "fromUnits" | "toUnits">): readonly AmountStretch[] {
  const [fewest, most] = [fromUnits.toString().length, toUnits.toString().length];
  return Array.from({ length: most - fewest + 1 }, (_, n) => {
    const digits = fewest + n;
    const [first, beyond] = [10n ** BigInt(digits - 1), 10n ** BigInt(digits)];
    return { digits, from: maxBig(fromUnits, first).toString(), to: minBig(toUnits, beyond - 1n).toString() };
  });
}

/** How long the claims of a merchant without proof last where others are. */
const LIFETIME_MS = LIMITS.lifetimeSecondsWithoutProof * SECOND_MS;

/** Why an invoice may not be paid there; undefined where it may. */
export function lifetimeRefusal(
  { expiresAtMs }: { readonly expiresAtMs: number },
  nowMs: number,
): Extract<Failure, { code: "LIMIT_REACHED" }> | undefined {
  if (expiresAtMs - nowMs <= LIFETIME_MS) return undefined;
  const name = "lifetimeSecondsWithoutProof";
  return { code: "LIMIT_REACHED", name, limit: LIMITS[name] };
}

/**
 * Until when an invoice's amounts are held: to the end of its monitoring, or for a day from its creation where others would wait for them. Whenever
 * one is reserved, so that who looks, and when, changes nothing.
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
