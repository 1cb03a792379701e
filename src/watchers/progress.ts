// What a watcher must know at its next pass (chains.md 3). Its object is evicted between two polls, so nothing of this may live in memory: it is
// read with the cursor, changed during the pass, and written with the cursor or with the tick. All of it may be older than what has been done,
// then something is done twice; none of it may say more than what was stored.
import type { SourceState } from "../chains/source-state.ts";
import type { BlockRef } from "../payments/transfer.ts";

/** A place in the order of activation: the row that was taken last. */
export interface Place {
  readonly activatedAtMs: number;
  readonly position: number;
}

export const FIRST_PLACE: Place = { activatedAtMs: 0, position: 0 };

/** A round over all recipients of a source that is asked by address, some at each tick. */
export interface Round {
  /** What the round will have read up to, once it is complete. */
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

/** How far the invoices that end at one moment were asked of a second source, where they are more than a pass asks for. */
export interface Silent {
  readonly atMs: number;
  readonly position: number;
}

/** A second source, which must be asked before invoices expire, refuses the addresses of some that end up to a moment. */
export interface Refused {
  /** An invoice that ends later is waited for anew. */
  readonly upToMs: number;
  readonly sinceMs: number;
}

/** How many addresses are remembered as answered, to tell a source that fails from an address that does. */
const GOOD_ADDRESSES = 3;
/** More than a pass asks for: a source that has come this far again needs no bound. */
const UNBOUNDED = 80;

export class WatchProgress {
  /** By source, as `ChainPool.nameOf` calls it: what one source knows is not what another does. */
  rounds: Readonly<Record<string, Round>> = {};
  laps: Readonly<Record<string, Lap>> = {};
  /** By source: since when it is below the cursor. */
  laggingSince: Readonly<Record<string, number>> = {};
  /** `position` of the open payment that was looked at last. */
  lookedAt = 0;
  /** By source: how many addresses, and how many payments, a pass asks it for. None where it has answered all that it was asked lately. */
  atMost: Readonly<Record<string, number>> = {};
  /** Passes in a row that a source failed. */
  failures = 0;
  /** Since when a second source, which must be asked before invoices expire, cannot be. */
  unsecondedMs: number | null = null;
  refused: Refused | null = null;
  silent: Silent | null = null;
  /** Begin of the outage that merchants were told of. */
  toldOfMs: number | null = null;
  /** Sources that failed lately, in the order of the configuration; empty when none did. */
  sources: readonly SourceState[] = [];
  /** Addresses that were answered lately, the newest first. */
  good: readonly string[] = [];
  /** A transaction that was looked up lately and answered. */
  goodLookup: { readonly txHash: string; readonly toAddress: string } | null = null;

  /** What each source has answered in this pass; not stored. */
  readonly #answered = new Map<string, number>();

  constructor(text: string) {
    const known: Partial<WatchProgress> = JSON.parse(text);
    Object.assign(this, known);
  }

  noteGood(addresses: readonly string[]): void {
    if (addresses.length === 0) return;
    this.good = [...new Set([...addresses.slice(0, GOOD_ADDRESSES), ...this.good])].slice(0, GOOD_ADDRESSES);
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

function without<T>(of: Readonly<Record<string, T>>, name: string, value: T | undefined): Readonly<Record<string, T>> {
  const rest = Object.entries(of).filter(([each]) => each !== name);
  return Object.fromEntries(value === undefined ? rest : [...rest, [name, value]]);
}
