// Sends the work of many callers together. While a call is running, new items wait for the next one. An idle gatherer sends as soon as the callers
// that are running now have run: those that shared the last call continue together, but arrive one after another. If the first did not wait for the
// others, the group would break up at each call.
import { Cancellation, type Sleep } from "../../lib/sleep.ts";

/** The most concurrent calls: a stalled one and one more. */
const MOST_CALLS = 2;
/** After this many turns of the event loop without an arrival, no more callers are expected. */
const QUIET_TURNS = 2;
/** The longest wait for late arrivals, even if they never stop coming or other work fills each turn. */
const LONGEST_GATHERING_MS = 5;

interface Gathering<I, O> {
  /**
   * Sends the items as one call; resolves to their outcomes in order. If it throws, every item gets the error. `settle` gives an item its outcome
   * before the others have theirs.
   */
  send(items: readonly I[], settle: (item: I, outcome: O) => void): Promise<readonly O[]>;
  /** Chooses the items of the next call from the waiting ones; at least one. */
  choose(waiting: readonly I[]): readonly I[];
  /** A call that takes longer than this no longer delays the next one. */
  readonly stalledMs: number;
  /** Whether something else delays the next call. When that is over, `goOn` must be called. */
  isHeldUp?(): boolean;
  /** Called when a call no longer delays the next one. */
  onFree?(): void;
  readonly turns?: Turns;
  readonly sleep: Sleep;
}

/** Lets one turn of the event loop pass, in which expected callers may arrive. */
interface Turns {
  next(): Promise<void>;
  nowMs(): number;
  /** Once this many items are waiting, the gatherer stops waiting for more. */
  readonly fullAt: number;
}

interface Waiting<I, O> {
  readonly item: I;
  resolve(outcome: O): void;
  reject(error: unknown): void;
}

export class Gatherer<I, O> {
  readonly #gathering: Gathering<I, O>;
  #waiting: Waiting<I, O>[] = [];
  /** Whether the gatherer is waiting for callers that are running now, before it sends the next call. */
  #isLettingOthersRun = false;
  /** Called on each arrival. Ends the wait for the current turn if enough items are waiting, or if the wait has lasted too long. */
  #onArrival = () => {};
  /** How many items the last call had. */
  #lastSize = 0;
  /** How many calls delay the next one, and how many are running. */
  #holding = 0;
  #underWay = 0;

  constructor(gathering: Gathering<I, O>) {
    this.#gathering = gathering;
  }

  has(isSo: (item: I) => boolean): boolean {
    return this.#waiting.some(({ item }) => isSo(item));
  }

  /** Whether nothing is waiting and no call is running. */
  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#underWay === 0;
  }

  get isGathering(): boolean {
    return this.#isLettingOthersRun;
  }

  /** Whether a call that has not stalled is running. */
  get isCalling(): boolean {
    return this.#holding > 0;
  }

  add(item: I): Promise<O> {
    const outcome = new Promise<O>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
    });
    this.#onArrival();
    this.goOn();
    return outcome;
  }

  /** Sends the waiting items, unless a call or something else delays them. */
  goOn(): void {
    if (this.#isLettingOthersRun || !this.#maySend()) return;
    this.#isLettingOthersRun = true;
    this.#letOthersRun().then(() => {
      this.#isLettingOthersRun = false;
      if (this.#maySend()) this.#sendNext();
    });
  }

  /**
   * Callers that were answered together usually make their next calls together, but spread over several turns of the event loop. So this waits as
   * long as more of them arrive. It does not wait for a lone caller, whose requests come one after another, or when the group is full.
   */
  async #letOthersRun(): Promise<void> {
    const { turns } = this.#gathering;
    if (turns !== undefined && this.#lastSize > 1) await this.#untilQuiet(turns);
    await othersHaveRun();
  }

  async #untilQuiet(turns: Turns): Promise<void> {
    const untilMs = turns.nowMs() + LONGEST_GATHERING_MS;
    const isOver = () => this.#waiting.length >= turns.fullAt || turns.nowMs() >= untilMs;
    for (let quiet = 0; quiet < QUIET_TURNS && !isOver(); ) {
      const before = this.#waiting.length;
      // Under load a turn takes seconds, because the runtime runs timers only when it has nothing else to do. So an arrival can end the wait as well.
      const arrived = new Promise<void>((end) => {
        this.#onArrival = () => isOver() && end();
      });
      await Promise.race([turns.next(), arrived]);
      quiet = this.#waiting.length > before ? 0 : quiet + 1;
    }
    this.#onArrival = () => {};
  }

  #maySend(): boolean {
    if (this.#waiting.length === 0 || this.#holding > 0 || this.#underWay >= MOST_CALLS) return false;
    return this.#gathering.isHeldUp?.() !== true;
  }

  #sendNext(): void {
    const chosen = new Set(this.#gathering.choose(this.#waiting.map(({ item }) => item)));
    const group = this.#waiting.filter(({ item }) => chosen.has(item));
    if (group.length === 0) throw new Error("nothing was chosen");
    this.#waiting = this.#waiting.filter(({ item }) => !chosen.has(item));
    this.#lastSize = group.length;
    this.#send(group);
  }

  /** Never rejects. */
  async #send(group: readonly Waiting<I, O>[]): Promise<void> {
    this.#underWay += 1;
    this.#holding += 1;
    let isHolding = true;
    const letGo = () => {
      if (!isHolding) return;
      isHolding = false;
      this.#holding -= 1;
      this.goOn();
      this.#gathering.onFree?.();
    };
    const stalled = new Cancellation();
    this.#gathering.sleep(this.#gathering.stalledMs, stalled).then(() => {
      if (!stalled.isCancelled) letGo();
    }, letGo);
    try {
      const byItem = new Map(group.map((each) => [each.item, each]));
      const settle = (item: I, outcome: O) => byItem.get(item)?.resolve(outcome);
      const items = group.map(({ item }) => item);
      const outcomes = await this.#gathering.send(items, settle);
      if (outcomes.length !== group.length) throw new Error(`${outcomes.length} outcomes for ${group.length} items`);
      for (const [n, outcome] of outcomes.entries()) group[n]?.resolve(outcome);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    stalled.cancel();
    this.#underWay -= 1;
    letGo();
    this.goOn();
  }
}

/** How many promise steps a caller may take between one call and its next. */
const STEPS = 100;

/** Resolves once all callers that are running now are waiting for something. It awaits only promises, so it takes microseconds. */
async function othersHaveRun(): Promise<void> {
  for (let step = 0; step < STEPS; step++) await undefined;
}
