// The sources for one network behind one interface: picks the source to ask and pauses a source that failed. One unit of work runs against one
// source, so that a scan never mixes two views of the chain. The state of the sources lives in memory: after a restart each source is verified again,
// and only its pauses are restored (`resume`).
import { fullJitterMs } from "../../lib/backoff.ts";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import type { NetworkName } from "../registry/network.ts";
import type { ChainClient } from "./chain-client.ts";
import {
  isRefusal,
  NO_RECORD,
  newerRecord,
  type SourceRecord,
  type SourceRecords,
  type SourceState,
  sourceName,
} from "./source-state.ts";

const BACKOFF_BASE_MS = 2 * SECOND_MS;
const BACKOFF_CAP_MS = 4 * MINUTE_MS;
const RETRY_AFTER_CAP_MS = 10 * MINUTE_MS;
/** The shortest pause after a ban without a stated end, such as TronGrid's. Doubled for each failure in a row, up to `RETRY_AFTER_CAP_MS`. */
const BAN_BASE_MS = 30 * SECOND_MS;
/** After this many failures in a row every pause has reached its maximum. */
const MOST_DOUBLINGS = 10;
/** The shortest pause of an unavailable source, which may be back at once. Doubled for each failure in a row, up to `AWAY_CAP_MS`. */
const AWAY_BASE_MS = 5 * SECOND_MS;
const AWAY_CAP_MS = MINUTE_MS;
/** Long, because an operator has to correct the configuration first. */
const WRONG_CHAIN_MS = 10 * MINUTE_MS;

/** The longest possible pause, plus one minute for clocks that differ. */
const LONGEST_PAUSE_MS = Math.max(RETRY_AFTER_CAP_MS, WRONG_CHAIN_MS, BACKOFF_CAP_MS) + MINUTE_MS;

interface ChainPoolParts {
  readonly network: NetworkName;
  /** In order of preference, each once. */
  readonly clients: readonly ChainClient[];
  /** The `recordKey` of each client; by default its `sourceName`. */
  readonly keys?: readonly string[];
  /** Random numbers in [0, 1), for jitter. */
  readonly random: () => number;
  /**
   * If present, the pause of a source that hangs starts when its request fails; otherwise it starts when the request was sent, which is much earlier.
   */
  readonly nowMs?: () => number;
  /** Logs one line about a source that failed. The line names the source only by its position and kind. */
  readonly report: (line: string) => void;
}

interface Answered<T> {
  readonly value: T;
  readonly client: ChainClient;
}

interface Source {
  readonly client: ChainClient;
  /** Whether the source has been verified since its last outage. */
  readonly isVerified: boolean;
  readonly state: SourceState;
  /** What is known about the source since the pool was created. */
  readonly record: SourceRecord;
}

export interface Tried<T> {
  readonly client: ChainClient;
  readonly state: SourceState;
  /** Undefined if the source was not asked, because it currently refuses requests. */
  readonly answer: Result<T, Outage> | undefined;
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
      state: closedState(client),
      record: NO_RECORD,
    }));
  }

  /** The sources that may be asked now, because they have not failed or their pause is over. A source that serves another chain is paused too. */
  available(nowMs: number): readonly ChainClient[] {
    return this.#sources.filter(({ state }) => endOf(state, nowMs) <= nowMs).map(({ client }) => client);
  }

  /** Another source that may be asked now, for a second opinion, preferably of a different kind. */
  second(first: ChainClient, nowMs: number, askedToo: readonly ChainClient[] = []): ChainClient | undefined {
    const others = this.available(nowMs).filter((client) => client !== first && !askedToo.includes(client));
    return others.find((client) => client.kind !== first.kind) ?? others[0];
  }

  hasSecond(): boolean {
    return this.#sources.length > 1;
  }

  states(): readonly SourceState[] {
    return this.#sources.map(({ state }) => state);
  }

  /** What is known about each source since this pool was created. */
  records(): SourceRecords {
    return Object.fromEntries(
      this.#sources.map(({ client, record }, place) => [
        this.#parts.keys?.[place] ?? sourceName(place, client.kind),
        record,
      ]),
    );
  }

  noteTip(client: ChainClient, height: number, nowMs: number): void {
    this.#note(client, { ...NO_RECORD, height, answeredAtMs: nowMs });
  }

  nameOf(client: ChainClient): string {
    return sourceName(
      this.#sources.findIndex((source) => source.client === client),
      client.kind,
    );
  }

  /**
   * Restores the pauses from before a restart, once, and only if the sources have the same kinds in the same order. A pause for the wrong chain is
   * not restored, because `verify` detects a wrong chain before anything else is requested.
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
   * Runs `work` against the first source that may be asked; after an outage, runs it from its start against the next one. Returns the last outage if
   * all of them failed. If all are paused, the outage states how long it is until the first pause ends.
   */
  attempt<T>(nowMs: number, work: Work<T>): Promise<Result<Answered<T>, Outage>> {
    return this.#firstOf(this.available(nowMs), nowMs, work);
  }

  /** Like `attempt`, but without `first` and the sources in `askedToo`: for a second or third opinion. */
  attemptWithout<T>(
    first: ChainClient,
    nowMs: number,
    work: Work<T>,
    askedToo: readonly ChainClient[] = [],
  ): Promise<Result<Answered<T>, Outage>> {
    const second = this.second(first, nowMs, askedToo);
    const asked = [first, second, ...askedToo];
    const rest = this.available(nowMs).filter((client) => !asked.includes(client));
    return this.#firstOf(second === undefined ? [] : [second, ...rest], nowMs, work);
  }

  /**
   * Runs `work`, which also verifies the chain, against all sources at once, paused or not, because an operator may have corrected what was wrong.
   * Only a source that refuses requests is left alone until its pause ends: requests during a ban prolong it.
   */
  tryEach<T>(nowMs: number, work: Work<T>): Promise<readonly Tried<T>[]> {
    return Promise.all(
      this.#sources.map(async ({ client }, place) => {
        const isAsked = !this.#isRefusing(client, nowMs);
        const answer = isAsked ? await work(client) : undefined;
        if (answer?.ok === false) this.#open(client, this.#parts.nowMs?.() ?? nowMs, answer.error);
        // Parallel work may have been refused meanwhile: keeps that pause.
        if (answer?.ok === true && !this.#isRefusing(client, nowMs)) this.#reopen(client, nowMs);
        return { client, answer, state: this.states()[place] ?? closedState(client) };
      }),
    );
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

  #isRefusing(client: ChainClient, nowMs: number): boolean {
    const state = this.#sources.find((source) => source.client === client)?.state;
    if (state === undefined || state.lastOutage === null) return false;
    return isRefusal(state.lastOutage) && endOf(state, nowMs) > nowMs;
  }

  #reopen(client: ChainClient, nowMs: number): void {
    this.#note(client, { ...NO_RECORD, answeredAtMs: nowMs });
    this.#change(client, (source) => ({ ...source, isVerified: true, state: closedState(client) }));
  }

  #note(client: ChainClient, record: SourceRecord): void {
    this.#change(client, (source) => ({ ...source, record: newerRecord(source.record, record) }));
  }

  #isVerified(client: ChainClient): boolean {
    return this.#sources.some((source) => source.client === client && source.isVerified);
  }

  #close(client: ChainClient, nowMs: number): void {
    this.#note(client, { ...NO_RECORD, answeredAtMs: nowMs });
    this.#change(client, (source) => {
      // Parallel work may have failed meanwhile: keeps its pause.
      if (endOf(source.state, nowMs) > nowMs) return source;
      return { ...source, state: closedState(client) };
    });
  }

  #open(client: ChainClient, nowMs: number, { kind, retryAfterMs }: Outage): void {
    const { network, random, report } = this.#parts;
    this.#change(client, ({ state, record: known }, place) => {
      // Calls that were in progress when the pause began fail together and count as one failure. Otherwise six failed calls would turn a pause of
      // half a minute into ten minutes.
      const before = endOf(state, nowMs) > nowMs ? Math.max(0, state.failures - 1) : state.failures;
      const pauseMs = pauseAfter({ kind, retryAfterMs, failures: before, random: random() });
      const what = kind === "WRONG_CHAIN" ? "SERVES ANOTHER CHAIN than the configured one" : `failed: ${kind}`;
      report(`chains: ${network} source ${place + 1} (${client.kind}) ${what}; paused for ${pauseMs} ms`);
      const openUntilMs = Math.max(endOf(state, nowMs), nowMs + pauseMs);
      const next = { kind: client.kind, failures: before + 1, openUntilMs, lastOutage: kind };
      const record = newerRecord(known, { ...NO_RECORD, failedAtMs: nowMs, failure: kind });
      return { client, isVerified: false, state: next, record };
    });
  }

  #change(client: ChainClient, next: (source: Source, place: number) => Source): void {
    this.#sources = this.#sources.map((source, place) => (source.client === client ? next(source, place) : source));
  }

  #nobody(nowMs: number): Outage {
    const soonest = Math.min(...this.#sources.map(({ state }) => state.openUntilMs));
    const waitMs = Number.isFinite(soonest) ? Math.max(0, soonest - nowMs) : null;
    return outage("UNREACHABLE", "every source is paused after failures", waitMs);
  }
}

/** The state of a source that has not failed. */
function closedState({ kind }: ChainClient): SourceState {
  return { kind, failures: 0, openUntilMs: 0, lastOutage: null };
}

/** When a pause ends. A pause that is longer than the longest possible one was written by a clock that was ahead, and counts as over. */
function endOf({ openUntilMs }: SourceState, nowMs: number): number {
  return openUntilMs > nowMs + LONGEST_PAUSE_MS ? 0 : openUntilMs;
}

/** How long a source is paused after an outage; `failures` is the number of outages in a row before it. */
function pauseAfter(of: Pick<Outage, "kind" | "retryAfterMs"> & { failures: number; random: number }): number {
  if (of.kind === "WRONG_CHAIN") return WRONG_CHAIN_MS;
  const { failures: attempt, random } = of;
  const jitterMs = fullJitterMs({ attempt, baseMs: BACKOFF_BASE_MS, capMs: BACKOFF_CAP_MS, random });
  const askedMs = Math.min(of.retryAfterMs ?? 0, RETRY_AFTER_CAP_MS);
  return Math.max(jitterMs, leastPauseMs(of), askedMs);
}

/** The shortest pause. Jitter may be 0, which is too short after a refusal: requests during a ban prolong it. */
function leastPauseMs(of: Pick<Outage, "kind" | "retryAfterMs"> & { readonly failures: number }): number {
  const { kind, retryAfterMs, failures } = of;
  const doubled = 2 ** Math.min(failures, MOST_DOUBLINGS);
  if (kind === "RATE_LIMITED") return BACKOFF_BASE_MS;
  if (kind === "BANNED")
    return Math.min(RETRY_AFTER_CAP_MS, Math.max(retryAfterMs ?? BAN_BASE_MS, SECOND_MS) * doubled);
  return kind === "UNAVAILABLE" ? Math.min(AWAY_CAP_MS, AWAY_BASE_MS * doubled) : 0;
}
