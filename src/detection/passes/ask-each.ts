// Asks a source for many items one by one, and decides whether a failure is caused by one item or by the source. The source is at fault if it no
// longer answers for an item that it should answer for (`control`); if so, the items that have just failed do not count as refused. Otherwise only
// the failed items count as refused, whatever the HTTP status, and the others continue.
import { isRefusal } from "../../chains/sources/source-state.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import type { Result } from "../../lib/result.ts";

/** A Worker may have six connections open at once, and a pass needs some for storage. */
const AT_ONCE = 4;
/** After this many failures the source is tested with a different item (`control`). */
const DOUBTS_AFTER = 4;
/** The most items that may fail in one pass; the next pass continues after them. */
export const MOST_REFUSED = 16;

export interface Asked<T, R> {
  readonly answers: ReadonlyMap<T, R>;
  /** Items that failed although the source answers. */
  readonly refused: ReadonlyMap<T, Outage>;
  /** Set if the source failed. Items in neither map were not asked about, or may be asked about again. */
  readonly outage: Outage | undefined;
}

export interface Asking<T, R> {
  ask(item: T): Promise<Result<R, Outage>>;
  /** Starts nothing more after this many refusals. */
  readonly mostRefused: number;
  /** Asks for a different item: one that was answered in this pass or earlier, or one that any source answers. */
  control(answered: readonly T[], failed: ReadonlyMap<T, Outage>): Promise<Result<unknown, Outage>>;
  nowMs(): number;
  /** Starts nothing more after this time. */
  readonly untilMs: number;
}

export async function askEach<T, R>(items: Iterable<T>, of: Asking<T, R>): Promise<Asked<T, R>> {
  const rest = [...items];
  const answers = new Map<T, R>();
  const refused = new Map<T, Outage>();
  const isOver = () => rest.length === 0 || of.nowMs() > of.untilMs || refused.size >= of.mostRefused;
  do {
    const failed = await askSome(rest, answers, of);
    const [last] = [...failed.values()].slice(-1);
    if (last === undefined) continue;
    const alive = await of.control([...answers.keys()], failed);
    if (!alive.ok) return { answers, refused, outage: last };
    for (const [item, outage] of failed) refused.set(item, outage);
  } while (!isOver());
  return { answers, refused, outage: undefined };
}

/** Takes items from `rest` until all are asked, time is up or the source is in doubt; returns the failed items. */
async function askSome<T, R>(rest: T[], answers: Map<T, R>, of: Asking<T, R>): Promise<ReadonlyMap<T, Outage>> {
  const failed = new Map<T, Outage>();
  let isLimited = false;
  async function takeTurns(): Promise<void> {
    do {
      const item = rest.shift();
      if (item === undefined) return;
      const answer = await of.ask(item);
      if (answer.ok) answers.set(item, answer.value);
      else failed.set(item, answer.error);
      isLimited ||= !answer.ok && isRefusal(answer.error.kind);
    } while (!isLimited && failed.size < DOUBTS_AFTER && of.nowMs() <= of.untilMs);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
  return failed;
}
