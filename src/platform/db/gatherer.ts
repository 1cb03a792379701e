// Sends the work of many callers together. While a call is running, new items wait for the next one; an idle gatherer sends at once, so nothing ever waits for
// a timer.
//
// "At once" means after the callers that are running now: those that shared the last call continue at the same time and arrive one after another. If the first
// did not wait for the rest, the group would break up at each call.
import { Cancellation, type Sleep } from "../../lib/sleep.ts";

/** Concurrent calls: a stalled one, and one more. */
const MOST_CALLS = 2;
/** After this many turns without an arrival, all expected callers have arrived. */
const QUIET_TURNS = 2;
/** The longest wait for late arrivals, even if they never stop coming or other work fills each turn. */
const LONGEST_GATHERING_MS = 5;

interface Gathering<I, O> {
  /**
   * Sends the items as one call; resolves to their outcomes in order. What it throws is thrown to all of them. `settle` gives an item its outcome
   * before the others have theirs.
   */
  send(items: readonly I[], settle: (item: I, outcome: O) => void): Promise<readonly O[]>;
  /** The first of the waiting items that go with the next call; at least one. */
  choose(waiting: readonly I[]): readonly I[];
  /** A call that takes longer than this no longer delays the next one. */
  readonly stalledMs: number;
  /** Whether something else delays the next call. `goOn` must be called when that ends. */
  isHeldUp?(): boolean;
  /** Called when a call no longer delays the next one. */
  onFree?(): void;
  readonly turns?: Turns;
  readonly sleep: Sleep;
}

/** Turns of the event loop, in which the expected callers arrive. */
interface Turns {
  next(): Promise<void>;
  nowMs(): number;
  /** With this many waiting, it waits for no more. */
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
  /** Whether the next call waits for callers that are running now. */
  #isLettingOthersRun = false;
  /** Ends the wait for a turn once enough items wait, or it takes too long. */
  #onArrival = () => {};
  /** How many items the last call had. */
  #lastSize = 0;
  /** Calls that delay the next one, and all running calls. */
  #holding = 0;
  #underWay = 0;

  constructor(gathering: Gathering<I, O>) {
    this.#gathering = gathering;
  }

  /** Whether `isSo` holds for one of the waiting items. */
  has(isSo: (item: I) => boolean): boolean {
    return this.#waiting.some(({ item }) => isSo(item));
  }

  /** Whether nothing is waiting and no call is running. */
  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#underWay === 0;
  }

  /** Whether the next call waits for expected callers. */
  get isGathering(): boolean {
    return this.#isLettingOthersRun;
  }

  /** Whether a call is running that has not stalled. */
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

  /** Sends the waiting items, unless a call delays them. */
  goOn(): void {
    if (this.#isLettingOthersRun || !this.#maySend()) return;
    this.#isLettingOthersRun = true;
    this.#letOthersRun().then(() => {
      this.#isLettingOthersRun = false;
      if (this.#maySend()) this.#sendNext();
    });
  }

  /**
   * Callers that were answered together come back together, but spread over the next turns of the event loop: keeps waiting as long as more of them arrive. A
   * lone caller, whose requests come one after another, does not wait, nor does a full group.
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
      // Under load a turn takes seconds, because the runtime runs timers only when nothing else is to be done. A new arrival ends the wait.
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

/** The least number of promise steps to allow a caller between one call and its next. */
const STEPS = 100;

/** Resolves once the callers that are running now wait for something else. Only promises, so it takes microseconds. */
async function othersHaveRun(): Promise<void> {
  for (let step = 0; step < STEPS; step++) await undefined;
}
