// Sends the work of many callers together. While a call is under way, what arrives waits and goes with the next one; an idle gatherer sends at
// once, so nothing ever waits for a timer.
import { Cancellation, type Sleep } from "../../lib/sleep.ts";

/** Calls under way at once: the one that stalls, and one more. */
const MOST_CALLS = 2;

export interface Gathering<I, O> {
  /** Sends the items as one call; resolves to their outcomes in order. What it throws is thrown to all of them. */
  send(items: readonly I[]): Promise<readonly O[]>;
  /** The first of the waiting items that go with the next call; at least one. */
  choose(waiting: readonly I[]): readonly I[];
  /** A call that takes longer than this no longer holds up the next one. */
  readonly stalledMs: number;
  readonly sleep: Sleep;
}

interface Waiting<I, O> {
  readonly item: I;
  resolve(outcome: O): void;
  reject(error: unknown): void;
}

export class Gatherer<I, O> {
  readonly #gathering: Gathering<I, O>;
  #waiting: Waiting<I, O>[] = [];
  /** Calls that hold up the next one, and all calls under way. */
  #holding = 0;
  #underWay = 0;

  constructor(gathering: Gathering<I, O>) {
    this.#gathering = gathering;
  }

  /** Whether nothing waits and no call is under way. */
  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#underWay === 0;
  }

  add(item: I): Promise<O> {
    const outcome = new Promise<O>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
    });
    this.#sendNext();
    return outcome;
  }

  #sendNext(): void {
    if (this.#waiting.length === 0 || this.#holding > 0 || this.#underWay >= MOST_CALLS) return;
    const chosen = new Set(this.#gathering.choose(this.#waiting.map(({ item }) => item)));
    const group = this.#waiting.filter(({ item }) => chosen.has(item));
    if (group.length === 0) throw new Error("a gatherer must choose at least one item");
    this.#waiting = this.#waiting.filter(({ item }) => !chosen.has(item));
    this.#send(group);
  }

  /** Never rejects. */
  async #send(group: readonly Waiting<I, O>[]): Promise<void> {
    this.#underWay += 1;
    this.#holding += 1;
    let isHolding = true;
    const letGo = () => {
      if (isHolding) this.#holding -= 1;
      isHolding = false;
    };
    const stalled = new Cancellation();
    this.#gathering.sleep(this.#gathering.stalledMs, stalled).then(() => {
      if (stalled.isCancelled) return;
      letGo();
      this.#sendNext();
    }, letGo);
    try {
      const outcomes = await this.#gathering.send(group.map(({ item }) => item));
      if (outcomes.length !== group.length) throw new Error(`${outcomes.length} outcomes for ${group.length} items`);
      for (const [n, outcome] of outcomes.entries()) group[n]?.resolve(outcome);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    stalled.cancel();
    letGo();
    this.#underWay -= 1;
    this.#sendNext();
  }
}
