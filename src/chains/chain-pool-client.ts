// The sources of one network as one: which may be asked, which is asked next, and for how long one that failed is left alone (chains.md 1,
// "Provider rules"). A whole piece of work runs against one source, so that a scan never mixes two views of the chain. What is known of the
// sources lives in memory: after a restart each proves once more that it serves this chain, and only its pauses are taken over (`resume`).
import { fullJitterMs } from "../lib/backoff.ts";
import { type Outage, outage } from "../lib/fetch-text.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { MINUTE_MS, SECOND_MS } from "../lib/time.ts";
import type { ChainClient } from "./chain-client.ts";
import type { NetworkName } from "./network.ts";
import type { SourceState } from "./source-state.ts";

const BACKOFF_BASE_MS = 2 * SECOND_MS;
const BACKOFF_CAP_MS = 4 * MINUTE_MS;
const RETRY_AFTER_CAP_MS = 10 * MINUTE_MS;
/** Somebody has to mend the configuration first. */
const WRONG_CHAIN_MS = 10 * MINUTE_MS;

/** No pause is longer, but for what clocks differ by. */
const LONGEST_PAUSE_MS = Math.max(RETRY_AFTER_CAP_MS, WRONG_CHAIN_MS, BACKOFF_CAP_MS) + MINUTE_MS;

export interface ChainPoolParts {
  readonly network: NetworkName;
  /** In the order in which they are preferred; each once. */
  readonly clients: readonly ChainClient[];
  /** In [0, 1). */
  readonly random: () => number;
  /** A source that hangs fails long after it was asked, and is left alone from then on; without a clock, from when it was asked. */
  readonly nowMs?: () => number;
  /** One line about a source that failed; it names the source by its place and kind alone. */
  readonly report: (line: string) => void;
}

/** What came of a piece of work, and the source that it was pinned to. */
export interface Answered<T> {
  readonly value: T;
  readonly client: ChainClient;
}

interface Source {
  readonly client: ChainClient;
  /** Since the last outage. */
  readonly isVerified: boolean;
  readonly state: SourceState;
}

type Work<T> = (client: ChainClient) => Promise<Result<T, Outage>>;

export class ChainPool {
  readonly #parts: ChainPoolParts;
  #sources: readonly Source[];
  #isResumed = false;

  constructor(parts: ChainPoolParts) {
    this.#parts = parts;
    this.#sources = parts.clients.map((client) => ({
      client,
      isVerified: false,
      state: { kind: client.kind, failures: 0, openUntilMs: 0, lastOutage: null },
    }));
  }

  /** Those that may be asked now: never failed, or the pause after a failure is over. None of another chain, as far as is known. */
  available(nowMs: number): readonly ChainClient[] {
    return this.#sources.filter(({ state }) => endOf(state, nowMs) <= nowMs).map(({ client }) => client);
  }

  /** Another source that may be asked now, for a second opinion (rules e and f): of another kind, if there is one. */
  second(first: ChainClient, nowMs: number): ChainClient | undefined {
    const others = this.available(nowMs).filter((client) => client !== first);
    return others.find((client) => client.kind !== first.kind) ?? others[0];
  }

  /** Whether a second opinion can ever be had. */
  hasSecond(): boolean {
    return this.#sources.length > 1;
  }

  /** By source, for whoever keeps them from one life to the next, and for tests. */
  states(): readonly SourceState[] {
    return this.#sources.map(({ state }) => state);
  }

  /** The name of a source in what is stored: its place and kind, never any part of its address. */
  nameOf(client: ChainClient): string {
    return `${this.#sources.findIndex((source) => source.client === client) + 1} ${client.kind}`;
  }

  /**
   * Takes over the pauses of an earlier life, once; of other sources than these it takes nothing. A source of the wrong chain has none, for it
   * is found out before anything is asked of it.
   */
  resume(states: readonly SourceState[]): void {
    const isSame =
      states.length === this.#sources.length && this.#sources.every((each, n) => each.client.kind === states[n]?.kind);
    if (!this.#isResumed && isSame) {
      this.#sources = this.#sources.map((source, n) => {
        const known = states[n];
        const isWorse = known !== undefined && known.lastOutage !== "WRONG_CHAIN" && source.state.failures === 0;
        return isWorse ? { ...source, state: known } : source;
      });
    }
    this.#isResumed = true;
  }

  /**
   * Runs the whole of `work` against the first source that may be asked; on an outage again, from its start, against the next. The last
   * outage when all of them failed; when none may be asked, one that says in how long the first may be.
   */
  attempt<T>(nowMs: number, work: Work<T>): Promise<Result<Answered<T>, Outage>> {
    return this.#firstOf(this.available(nowMs), nowMs, work);
  }

  /** `attempt` without `first`: a second opinion. */
  attemptWithout<T>(first: ChainClient, nowMs: number, work: Work<T>): Promise<Result<Answered<T>, Outage>> {
    const second = this.second(first, nowMs);
    const rest = this.available(nowMs).filter((client) => client !== first && client !== second);
    return this.#firstOf(second === undefined ? [] : [second, ...rest], nowMs, work);
  }

  async #firstOf<T>(
    clients: readonly ChainClient[],
    nowMs: number,
    work: Work<T>,
  ): Promise<Result<Answered<T>, Outage>> {
    let last = this.#nobody(nowMs);
    for (const client of clients) {
      const answer = await this.#asked(client, nowMs, work);
      if (answer.ok) return ok({ value: answer.value, client });
      last = answer.error;
    }
    return err(last);
  }

  async #asked<T>(client: ChainClient, nowMs: number, work: Work<T>): Promise<Result<T, Outage>> {
    const verified = this.#isVerified(client) ? ok(true) : await client.verify();
    if (verified.ok) this.#change(client, (source) => ({ ...source, isVerified: true }));
    const answer = verified.ok ? await work(client) : verified;
    if (answer.ok) this.#close(client, nowMs);
    else this.#open(client, this.#parts.nowMs?.() ?? nowMs, answer.error);
    return answer;
  }

  #isVerified(client: ChainClient): boolean {
    return this.#sources.some((source) => source.client === client && source.isVerified);
  }

  #close(client: ChainClient, nowMs: number): void {
    this.#change(client, (source) => {
      // Work that ran beside this one may have failed meanwhile: what it learned stands.
      if (endOf(source.state, nowMs) > nowMs) return source;
      return { ...source, state: { kind: client.kind, failures: 0, openUntilMs: 0, lastOutage: null } };
    });
  }

  #open(client: ChainClient, nowMs: number, { kind, retryAfterMs }: Outage): void {
    const { network, random, report } = this.#parts;
    this.#change(client, ({ state }, place) => {
      const pauseMs = pauseAfter({ kind, retryAfterMs, failures: state.failures, random: random() });
      const what = kind === "WRONG_CHAIN" ? "SERVES ANOTHER CHAIN than it is configured for" : `failed: ${kind}`;
      report(`chains: ${network} source ${place + 1} (${client.kind}) ${what}; not asked for ${pauseMs} ms`);
      const openUntilMs = Math.max(endOf(state, nowMs), nowMs + pauseMs);
      const next = { kind: client.kind, failures: state.failures + 1, openUntilMs, lastOutage: kind };
      return { client, isVerified: false, state: next };
    });
  }

  #change(client: ChainClient, next: (source: Source, place: number) => Source): void {
    this.#sources = this.#sources.map((source, place) => (source.client === client ? next(source, place) : source));
  }

  #nobody(nowMs: number): Outage {
    const soonest = Math.min(...this.#sources.map(({ state }) => state.openUntilMs));
    const waitMs = Number.isFinite(soonest) ? Math.max(0, soonest - nowMs) : null;
    return outage("UNREACHABLE", "no source may be asked now", waitMs);
  }
}

/** When a pause ends; one that would be longer than any was noted by a clock that was ahead, and is over. */
function endOf({ openUntilMs }: SourceState, nowMs: number): number {
  return openUntilMs > nowMs + LONGEST_PAUSE_MS ? 0 : openUntilMs;
}

/** How long a source is left alone after an outage; `failures` came before it in a row. */
function pauseAfter(of: Pick<Outage, "kind" | "retryAfterMs"> & { failures: number; random: number }): number {
  if (of.kind === "WRONG_CHAIN") return WRONG_CHAIN_MS;
  const { failures: attempt, random } = of;
  const jitterMs = fullJitterMs({ attempt, baseMs: BACKOFF_BASE_MS, capMs: BACKOFF_CAP_MS, random });
  // Jitter may come out as nothing, which is no answer to "you ask too often".
  const leastMs = of.kind === "RATE_LIMITED" ? BACKOFF_BASE_MS : 0;
  return Math.max(jitterMs, leastMs, Math.min(of.retryAfterMs ?? 0, RETRY_AFTER_CAP_MS));
}
