// Which addresses a pass asks for besides those of the round: each merchant's in turn, so that how soon an address is asked for depends on the
// number of merchants, not on how many addresses other merchants have. There are two rings of merchants, each ordered by id. Merchants with recent
// activations have their newest addresses asked for, because most payers pay within minutes. All merchants have the next address of a lap
// through all of theirs asked for.
import type { MerchantId } from "../../../lib/ids.ts";
import { inTurn } from "../../../lib/turns.ts";
import type { Place } from "../progress.ts";

/** Places of one pass, of both rings together; as many merchants of each are looked at. */
export const PLACES = 20;

/** Above all activations, which a lap goes through from the newest to the oldest. */
const TOP: Place = { activatedAtMs: Number.MAX_SAFE_INTEGER, position: Number.MAX_SAFE_INTEGER };

export interface Ask {
  readonly merchantId: MerchantId;
  readonly address: string;
}

/** A merchant of a ring, and the addresses to ask for when it has its turn, in order. */
export interface Queue {
  readonly merchantId: MerchantId;
  readonly addresses: readonly string[];
}

/** Where a merchant's lap goes on: below `before`. */
export interface LapState {
  readonly merchantId: MerchantId;
  readonly before: Place;
  /** A watched address lies above that place, or was activated since the lap began. */
  readonly hasFound: boolean;
}

export interface Lap extends LapState {
  /** Watched addresses of its next stretch, in the order of their last places in it; at most `PLACES`. */
  readonly found: readonly (Place & {
    readonly address: string;
    /** Read at its own pace: not asked for here. */
    readonly isStuck: boolean;
  })[];
  /** Where that stretch ends; null where it reaches the oldest activation. */
  readonly end: Place | null;
}

/** At most `PLACES`: each merchant's first address, then each one's second, and so on. */
export function asksInTurn(queues: readonly Queue[]): readonly Ask[] {
  const asks = queues.map(({ merchantId, addresses }) => addresses.map((address) => ({ merchantId, address })));
  return inTurn(asks, PLACES);
}

/** The two rings in a pass. */
export interface Turns {
  readonly news: Ring;
  readonly all: Ring;
  readonly laps: readonly Lap[];
}

interface Ring {
  readonly queues: readonly Queue[];
  readonly asks: readonly Ask[];
}

export function turnsOf(newest: readonly Queue[], laps: readonly Lap[]): Turns {
  const queues = laps.map(({ merchantId, found }) => ({
    merchantId,
    addresses: found.flatMap(({ address, isStuck }) => (isStuck ? [] : [address])),
  }));
  return { news: { queues: newest, asks: asksInTurn(newest) }, all: { queues, asks: asksInTurn(queues) }, laps };
}

/** What a pass asks for: one of either ring in turn, each address once. */
export function addressesOf({ news, all }: Turns): readonly string[] {
  const pairs = Array.from({ length: PLACES }, (_, n) => [news.asks[n], all.asks[n]]);
  const addresses = pairs.flat().flatMap((ask) => ask?.address ?? []);
  return [...new Set(addresses)].slice(0, PLACES);
}

/** The merchant after whom the ring continues, given a pass that was to ask for `asks` of `queues`. */
export function placeInRing(of: Ring & { readonly after: string }, isSettled: (address: string) => boolean): string {
  const { queues, asks, after } = of;
  const open = asks.findIndex(({ address }) => !isSettled(address));
  const taken = open < 0 ? asks : asks.slice(0, open);
  const served = new Set(taken.map(({ merchantId }) => merchantId));
  const isAll = asks.every(({ merchantId }) => served.has(merchantId));
  // After a full page there may be more merchants; they come before any of these has another turn.
  const last = isAll && queues.length === PLACES ? queues.at(-1) : taken.at(-1);
  return last?.merchantId ?? after;
}

/** The lap's place after a pass that settled some addresses; undefined where the merchant has no watched address any more. */
export function lapAfter(lap: Lap, isSettled: (address: string) => boolean): LapState | undefined {
  const { merchantId, found, end } = lap;
  const hasFound = lap.hasFound || found.length > 0;
  const open = found.findIndex(({ address, isStuck }) => !isStuck && !isSettled(address));
  const last = open < 0 ? found.at(-1) : found[open - 1];
  if (open >= 0 || found.length === PLACES) return { merchantId, before: placeOf(last ?? lap.before), hasFound };
  if (end !== null) return { merchantId, before: end, hasFound };
  return hasFound ? { merchantId, before: TOP, hasFound: false } : undefined;
}

function placeOf({ activatedAtMs, position }: Place): Place {
  return { activatedAtMs, position };
}

export function isSameLap(a: LapState, b: LapState): boolean {
  const areSame = a.before.activatedAtMs === b.before.activatedAtMs && a.before.position === b.before.position;
  return areSame && a.hasFound === b.hasFound;
}
