// What a watcher must know at its next pass. Its object is evicted between two polls, so this cannot live in memory: it is
// read with the cursor, changed during the pass, and written with the cursor or with the tick. It may be older than what has been done, and then
// some work is repeated; it must never claim more than what was stored.
import type { SourceState } from "../../chains/source-state.ts";
import type { BlockRef } from "../../chains/transfer.ts";
import { parseJson } from "../../lib/typed-json.ts";

/** A place in the order of activation: the row that was taken last. */
export interface Place {
  readonly activatedAtMs: number;
  readonly position: number;
}

export const FIRST_PLACE: Place = { activatedAtMs: 0, position: 0 };

/** A round over all recipients of a source that is asked by address, some at each tick. */
export interface Round {
  /** The block up to which the complete round will have read. */
  readonly to: BlockRef;
  readonly begunMs: number;
  /** The addresses up to here have been asked with success, or have a row of their own. */
  readonly after: Place;
}

/** One reading of a whole mempool, which may take several passes. */
export interface Lap {
  readonly begunMs: number;
  /** As the source gave it. */
  readonly after: string;
}

/** How far a second source was asked about invoices that end at one moment, where these are more than a pass asks for. */
export interface Silent {
  readonly atMs: number;
  readonly position: number;
}

/** What a round of a source has read and no second source was asked about yet. */
export interface Unseconded {
  readonly source: string;
  /** The block at which the round ended; the cursor is there. */
  readonly to: BlockRef;
  /** Everything up to this moment. */
  readonly passedMs: number;
}

/** How far a second source that reads blocks was read for invoices that end: one scan of it may read less than an invoice lasts. */
export interface SecondWalk {
  readonly source: string;
  /** The cursor's `passedMs` while the walk is under way; with any other value the walk begins anew. */
  readonly fromMs: number;
  /** The last invoice that it is for, in the order of their ends. */
  readonly upTo: Silent;
  /** The blocks up to here have been read. */
  readonly read: BlockRef;
  readonly sinceMs: number;
  /** Addresses of which the first source does not have all that was read. */
  readonly open: readonly string[];
}

/** Where to read on in the history of the first address that holds more than one pass reads of a second source. */
export interface SecondPage {
  readonly source: string;
  readonly address: string;
  readonly from: number;
  /** The source's tip when the reading began. */
  readonly to: BlockRef;
  /** As the source gave it. */
  readonly after: string;
}

/** Blocks of another source's transfers to an address that the first source has too, so that no pass need ask for all of them. */
export interface Shared {
  readonly address: string;
  /** The lowest of these blocks. */
  readonly from: number;
  /** And the highest; they count where the first source still has this one. */
  readonly height: number;
  readonly hash: string;
  /** How many transfers in them were not stored then; where there are more, all are asked for again. */
  readonly count: number;
}

/** The wait for a second source that refuses the addresses of some invoices which end before a moment. */
export interface Refused {
  /** An invoice that ends at this moment or later is waited for anew. */
  readonly upToMs: number;
  readonly sinceMs: number;
}

/** How many addresses of each kind are remembered as answered, to tell a source that fails from an address that does. */
const GOOD_ADDRESSES = 3;
/** More than a pass asks for: a source that has come this far again needs no bound. */
const UNBOUNDED = 80;

export class WatchProgress {
  /** By source, as `ChainPool.nameOf` calls it: what one source knows is not what another does. */
  rounds: Readonly<Record<string, Round>> = {};
  laps: Readonly<Record<string, Lap>> = {};
  /** The last merchants whose turn it was to be asked for (turns/turn.ts): of those with new addresses, and of all. */
  newAfter = "";
  lapAfter = "";
  /** By source: since when it is below the cursor. */
  laggingSince: Readonly<Record<string, number>> = {};
  /** `position` of the open payment that was looked at last. */
  lookedAt = 0;
  /** By source: the most addresses, and the most payments, that a pass asks it for. Absent where the source has lately answered everything. */
  atMost: Readonly<Record<string, number>> = {};
  /** Passes in a row that a source failed. */
  failures = 0;
  /** Since when a second source, which must be asked before invoices expire, cannot be. */
  unsecondedMs: number | null = null;
  refused: Refused | null = null;
  silent: Silent | null = null;
  walk: SecondWalk | null = null;
  page: SecondPage | null = null;
  /** By what other sources were asked for. */
  shared: Readonly<Record<string, Shared>> = {};
  unseconded: Unseconded | null = null;
  /** Start of the outage that was reported to merchants. */
  toldOfMs: number | null = null;
  /** Sources that failed lately, in the order of the configuration; empty when none did. */
  sources: readonly SourceState[] = [];
  /** Addresses that were answered lately, the newest first. */
  good: readonly string[] = [];
  /** The last answered addresses that had a history: a failing source may still answer for addresses without one. */
  held: readonly string[] = [];
  /** The last of the refused addresses that other sources were asked for; they are asked in the order of the addresses, round and round. */
  lentAfter = "";
  /** A transaction that was looked up lately and answered. */
  goodLookup: { readonly txHash: string; readonly toAddress: string } | null = null;

  /** What each source has answered in this pass; not stored. */
  readonly #answered = new Map<string, number>();

  /** Undefined where the text is no progress. */
  static parse(text: string): WatchProgress | undefined {
    try {
      return Object.assign(new WatchProgress(), parseJson<Partial<WatchProgress>>(text));
    } catch {
      return undefined;
    }
  }

  /** `held`: those of them that had a history; they keep their place until others with one come. */
  noteGood(addresses: readonly string[], held: readonly string[] = []): void {
    this.good = newest(addresses, this.good);
    this.held = newest(held, this.held);
  }

  /** Addresses to ask a source for, in order, where it is in doubt; `but` are in doubt themselves. */
  controls(but: { has(address: string): boolean }): readonly string[] {
    return [...this.held, ...this.good].filter((address) => !but.has(address));
  }

  noteAnswered(source: string, count: number): void {
    this.#answered.set(source, (this.#answered.get(source) ?? 0) + count);
  }

  /** The source failed, maybe because of how much it was asked: the next pass asks for half of what it answered in this one. */
  askForLess(source: string): void {
    const answered = this.#answered.get(source) ?? 0;
    if (answered > 0) this.atMost = without(this.atMost, source, Math.max(1, Math.floor(answered / 2)));
  }

  /** The source answered a whole pass: the next one asks for one more. */
  askForMore(source: string): void {
    const most = this.atMost[source];
    if (most !== undefined) this.atMost = without(this.atMost, source, most < UNBOUNDED ? most + 1 : undefined);
  }

  /** A second source that could not be asked, or refused an address, is waited for anew. */
  endHolds(): void {
    this.unsecondedMs = null;
    this.refused = null;
    this.walk = null;
  }

  setShared(purpose: string, shared: Shared): void {
    this.shared = without(this.shared, purpose, shared);
  }

  /** A start in the future was noted by a clock that was ahead: the true start is not known. */
  endAhead(nowMs: number): void {
    this.rounds = begunBy(this.rounds, nowMs);
    this.laps = begunBy(this.laps, nowMs);
    if (this.unseconded !== null && this.unseconded.passedMs > nowMs) this.unseconded = null;
  }

  round(source: string): Round | undefined {
    return this.rounds[source];
  }

  setRound(source: string, round: Round | undefined): void {
    this.rounds = without(this.rounds, source, round);
  }

  lap(source: string): Lap | undefined {
    return this.laps[source];
  }

  setLap(source: string, lap: Lap | undefined): void {
    this.laps = without(this.laps, source, lap);
  }

  setLaggingSince(source: string, sinceMs: number | undefined): void {
    this.laggingSince = without(this.laggingSince, source, sinceMs);
  }

  print(): string {
    return JSON.stringify(this);
  }
}

function newest(addresses: readonly string[], known: readonly string[]): readonly string[] {
  return [...new Set([...addresses.slice(0, GOOD_ADDRESSES), ...known])].slice(0, GOOD_ADDRESSES);
}

function without<T>(of: Readonly<Record<string, T>>, name: string, value: T | undefined): Readonly<Record<string, T>> {
  const rest = Object.entries(of).filter(([each]) => each !== name);
  return Object.fromEntries(value === undefined ? rest : [...rest, [name, value]]);
}

function begunBy<T extends { readonly begunMs: number }>(of: Readonly<Record<string, T>>, nowMs: number) {
  return Object.fromEntries(Object.entries(of).filter(([, { begunMs }]) => begunMs <= nowMs));
}
