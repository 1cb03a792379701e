// Chooses the addresses that a pass asks for besides those of the round: each merchant's in turn, so that the wait for an address depends on
// the number of merchants, not on how many addresses other merchants have. There are two rings of merchants, each ordered by id. The first asks
// for the newest addresses of merchants with recent activations, because most payers pay within minutes. The second asks for the next address
// of each merchant's lap through all of its addresses.
import type { MerchantId } from "../../../lib/ids.ts";
import { inTurn } from "../../../lib/turns.ts";
import type { Position } from "../progress.ts";

/** The most addresses that the two rings together add to a pass; also how many merchants are read from each ring. */
export const PLACES = 20;

/** Higher than every activation. A lap goes from the newest activation to the oldest, so it starts here. */
const TOP: Position = { activatedAtMs: Number.MAX_SAFE_INTEGER, position: Number.MAX_SAFE_INTEGER };

interface Ask {
  readonly merchantId: MerchantId;
  readonly address: string;
}

/** A merchant in a ring, and the addresses to ask for in its turn, in order. */
export interface Queue {
  readonly merchantId: MerchantId;
  readonly addresses: readonly string[];
}

/** Where a merchant's lap continues: below `before`. */
export interface LapState {
  readonly merchantId: MerchantId;
  readonly before: Position;
  /** Whether a watched address is above that position, or was activated since the lap began. */
  readonly hasFound: boolean;
}

export interface Lap extends LapState {
  /** Watched addresses in the next section of the lap, each at its last position in the section, in order; at most `PLACES`. */
  readonly found: readonly (Position & {
    readonly address: string;
    /** Whether the address is read at its own pace (by-address/read-stuck.ts) and so is not asked for here. */
    readonly isStuck: boolean;
  })[];
  /** Where that section ends; null if it reaches the oldest activation. */
  readonly end: Position | null;
}

/** At most `PLACES`: each merchant's first address, then each one's second, and so on. */
export function asksInTurn(queues: readonly Queue[]): readonly Ask[] {
  const asks = queues.map(({ merchantId, addresses }) => addresses.map((address) => ({ merchantId, address })));
  return inTurn(asks, PLACES);
}

/** The two rings in a pass. */
export interface Turns {
  readonly recent: Ring;
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
  return { recent: { queues: newest, asks: asksInTurn(newest) }, all: { queues, asks: asksInTurn(queues) }, laps };
}

/** The addresses for a pass: from the two rings alternately, each once. */
export function addressesOf({ recent, all }: Turns): readonly string[] {
  const pairs = Array.from({ length: PLACES }, (_, n) => [recent.asks[n], all.asks[n]]);
  const addresses = pairs.flat().flatMap((ask) => ask?.address ?? []);
  return [...new Set(addresses)].slice(0, PLACES);
}

/** The merchant after which the ring continues, once the pass has settled some of the addresses in `asks`. These addresses come from `queues`. */
export function placeInRing(of: Ring & { readonly after: string }, isSettled: (address: string) => boolean): string {
  const { queues, asks, after } = of;
  const open = asks.findIndex(({ address }) => !isSettled(address));
  const taken = open < 0 ? asks : asks.slice(0, open);
  const served = new Set(taken.map(({ merchantId }) => merchantId));
  const isAll = asks.every(({ merchantId }) => served.has(merchantId));
  // After a full page there may be more merchants: they have their turn before those of this page have another.
  const last = isAll && queues.length === PLACES ? queues.at(-1) : taken.at(-1);
  return last?.merchantId ?? after;
}

/** The lap's position after a pass that settled some addresses; undefined if the merchant no longer has a watched address. */
export function lapAfter(lap: Lap, isSettled: (address: string) => boolean): LapState | undefined {
  const { merchantId, found, end } = lap;
  const hasFound = lap.hasFound || found.length > 0;
  const open = found.findIndex(({ address, isStuck }) => !isStuck && !isSettled(address));
  const last = open < 0 ? found.at(-1) : found[open - 1];
  if (open >= 0 || found.length === PLACES) return { merchantId, before: placeOf(last ?? lap.before), hasFound };
  if (end !== null) return { merchantId, before: end, hasFound };
  return hasFound ? { merchantId, before: TOP, hasFound: false } : undefined;
}

function placeOf({ activatedAtMs, position }: Position): Position {
  return { activatedAtMs, position };
}

export function isSameLap(a: LapState, b: LapState): boolean {
  const areSame = a.before.activatedAtMs === b.before.activatedAtMs && a.before.position === b.before.position;
  return areSame && a.hasFound === b.hasFound;
}
