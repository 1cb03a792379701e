// What a watcher must know at its next pass. The object of a watcher may be evicted between two passes, so this cannot live in memory: it is read
// with the cursor, changed during the pass, and written with the cursor or the tick. It may be behind the work done, in which case some work is
// repeated; it must never be ahead of what was stored.
import {
  isNews,
  NO_RECORD,
  newerRecord,
  type SourceRecords,
  type SourceState,
} from "../../chains/sources/source-state.ts";
import type { BlockRef } from "../../chains/sources/transfer.ts";
import { parseJson } from "../../lib/typed-json.ts";

/** A position in the order of activation: the last handled row. */
export interface Position {
  readonly activatedAtMs: number;
  readonly position: number;
}

export const FIRST_POSITION: Position = { activatedAtMs: 0, position: 0 };

/** A round over all recipients of a source that is read by address, some in each pass. */
export interface Round {
  /** The block up to which everything has been read once the round is complete. */
  readonly to: BlockRef;
  readonly begunMs: number;
  /** The addresses up to this position have been read, or have their own row. */
  readonly after: Position;
}

/** One read of a whole mempool, which may take several passes. */
export interface Lap {
  readonly begunMs: number;
  /** The position, as the source gave it. */
  readonly after: string;
}

/** How far a second source was asked about invoices that end at the same time, if there are more of them than one pass asks about. */
export interface Silent {
  readonly atMs: number;
  readonly invoiceId: string;
}

/** A completed round whose addresses no second source has been asked about yet. */
interface Unseconded {
  readonly source: string;
  /** The block at which the round ended, and at which the cursor is. */
  readonly to: BlockRef;
  /** Everything up to this time has been read. */
  readonly passedMs: number;
}

/** How far a second source that reads blocks was read for ending invoices: one scan may cover less than an invoice's lifetime. */
export interface SecondWalk {
  readonly source: string;
  /** The cursor's `passedMs` during the walk; with any other value the walk starts again. */
  readonly fromMs: number;
  /** The last invoice that the walk covers, in the order in which invoices end. */
  readonly upTo: Silent;
  /** Blocks up to this one have been read. */
  readonly read: BlockRef;
  readonly sinceMs: number;
  /** Addresses with a transfer that the first source does not have. */
  readonly open: readonly string[];
}

/** Where to continue with the first address whose history at a second source is too long for one pass. */
export interface SecondPage {
  readonly source: string;
  readonly address: string;
  readonly from: number;
  /** The source's tip when the read began. */
  readonly to: BlockRef;
  /** The page, as the source gave it. */
  readonly after: string;
}

/**
 * Blocks with another source's transfers to an address that are known to be on the first source's chain too, so that no pass must ask for all of them
 * again.
 */
export interface Shared {
  readonly address: string;
  /** The lowest of these blocks. */
  readonly from: number;
  /** The highest of these blocks; the record is valid while the first source still has this block. */
  readonly height: number;
  readonly hash: string;
  /** How many transfers these blocks had when the record was written. If they have more now, all blocks are asked for again. */
  readonly count: number;
  /**
   * How many of these transfers were not stored when the record was written. If fewer are missing now, the missing ones are applied again. Absent in
   * progress that an earlier release stored.
   */
  readonly left?: number;
}

/** The wait for a second source that refuses the addresses of invoices that end before a given time. */
interface Refused {
  /** An invoice that ends at this time or later starts a new wait. */
  readonly upToMs: number;
  readonly sinceMs: number;
}

/** How many answered addresses of each kind are remembered, to distinguish a failing source from a failing address. */
const GOOD_ADDRESSES = 3;
/** The most addresses for which a pass asks its source: 60 in the round and 20 in turn. A limit that has grown to this number is removed. */
const UNBOUNDED = 80;

export class WatchProgress {
  /** By source (`ChainPool.nameOf`): each source has its own round. */
  rounds: Readonly<Record<string, Round>> = {};
  laps: Readonly<Record<string, Lap>> = {};
  /** The last merchants that had their turn (turns/turn.ts): among those with new addresses, and among all. */
  newAfter = "";
  lapAfter = "";
  /** By source: when the source was first found to be below the cursor. */
  laggingSince: Readonly<Record<string, number>> = {};
  /** `position` of the open payment that was rechecked last: among those with an invoice, and among the others. */
  lookedAt = 0;
  looseLookedAt = 0;
  /** By source: the most addresses and payments that a pass asks it for. Absent if the source recently answered everything. */
  atMost: Readonly<Record<string, number>> = {};
  /** Failed passes in a row. */
  failures = 0;
  /** When a second source, which is needed before invoices expire, stopped answering. */
  unsecondedMs: number | null = null;
  refused: Refused | null = null;
  silent: Silent | null = null;
  walk: SecondWalk | null = null;
  page: SecondPage | null = null;
  /** Keyed by the purpose for which other sources were asked. */
  shared: Readonly<Record<string, Shared>> = {};
  unseconded: Unseconded | null = null;
  /** Start of the outage that was reported to merchants. */
  toldOfMs: number | null = null;
  /** The state of each source, in the order of the configuration; empty if none failed recently. */
  sources: readonly SourceState[] = [];
  /** What operators see about each configured source. */
  seen: SourceRecords = {};
  /** Recently answered addresses, newest first. */
  good: readonly string[] = [];
  /** Recently answered addresses that have a history: a failing source may still answer for addresses without one. */
  held: readonly string[] = [];
  /** The last refused address that other sources were asked about; they are asked in address order, starting over after the last. */
  lentAfter = "";
  /** A recently answered transaction. */
  goodLookup: { readonly txHash: string; readonly toAddress: string } | null = null;

  /** How much each source has answered in this pass; not stored. */
  readonly #answered = new Map<string, number>();

  /** Undefined if the text cannot be parsed. */
  static parse(text: string): WatchProgress | undefined {
    try {
      return Object.assign(new WatchProgress(), parseJson<Partial<WatchProgress>>(text));
    } catch {
      return undefined;
    }
  }

  /** `held`: those of the addresses that have a history; they stay until replaced by others with a history. */
  noteGood(addresses: readonly string[], held: readonly string[] = []): void {
    this.good = newest(addresses, this.good);
    this.held = newest(held, this.held);
  }

  /** Addresses with which to test a doubtful source, in order. Addresses in `but` are excluded, because they are in doubt themselves. */
  controls(but: { has(address: string): boolean }): readonly string[] {
    return [...this.held, ...this.good].filter((address) => !but.has(address));
  }

  noteAnswered(source: string, count: number): void {
    this.#answered.set(source, (this.#answered.get(source) ?? 0) + count);
  }

  /** The source failed, perhaps because a pass asked too much of it: the next pass asks for half of what the source answered in this one. */
  askForLess(source: string): void {
    const answered = this.#answered.get(source) ?? 0;
    if (answered > 0) this.atMost = without(this.atMost, source, Math.max(1, Math.floor(answered / 2)));
  }

  /** The source answered everything that a pass asked for: the next pass asks for one address or payment more. */
  askForMore(source: string): void {
    const most = this.atMost[source];
    if (most !== undefined) this.atMost = without(this.atMost, source, most < UNBOUNDED ? most + 1 : undefined);
  }

  /** Restarts the waits for a second source, and the walk through its blocks. */
  endHolds(): void {
    this.unsecondedMs = null;
    this.refused = null;
    this.walk = null;
  }

  /**
   * Takes over what the pool knows about the configured sources, and forgets all others. Facts that are less than `stepMs` newer are ignored, so that
   * they alone do not cause a write.
   */
  noteSources(records: SourceRecords, stepMs = 1): void {
    this.seen = Object.fromEntries(
      Object.entries(records).map(([key, record]) => {
        const known = this.seen[key] ?? NO_RECORD;
        return [key, isNews(known, record, stepMs) ? newerRecord(known, record) : known];
      }),
    );
  }

  setShared(purpose: string, shared: Shared): void {
    this.shared = without(this.shared, purpose, shared);
  }

  /** Clears start times in the future: a clock that was ahead wrote them, and the true start is unknown. */
  endAhead(nowMs: number): void {
    this.rounds = begunBy(this.rounds, nowMs);
    this.laps = begunBy(this.laps, nowMs);
    if (this.unseconded !== null && this.unseconded.passedMs > nowMs) this.unseconded = null;
    const isAhead = (ms: number | null) => ms !== null && ms > nowMs;
    this.seen = Object.fromEntries(
      Object.entries(this.seen).filter(
        ([, { answeredAtMs, failedAtMs }]) => !isAhead(answeredAtMs) && !isAhead(failedAtMs),
      ),
    );
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
