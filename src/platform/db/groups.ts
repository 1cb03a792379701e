// The storage calls of the concurrent requests of one merchant, joined into groups: all waiting reads are one batch, and all waiting changes are one
// batch with one statement for each table. A change is as isolated as without a group: a conflict halves the group down to the change that causes it,
// which is decided again. After several conflicts, the rest of the group is decided again too.

import type { Sleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { batch, statementOf } from "./batch.ts";
import type { Db, Sender } from "./client.ts";
import { sendBatch } from "./commit-batch.ts";
import { Gatherer } from "./gatherer.ts";
import { joinReads, joinStatements } from "./joined-statements.ts";
import { Meter } from "./meter.ts";
import { PreparedStatement } from "./prepared-statement.ts";
import type { AskedWhen, GroupedChange, RequestGroup, Sent } from "./request-group.ts";
import { faultKind, OverloadedError, withinLimit } from "./retry.ts";
import type { Statement, Write } from "./statement.ts";

/** The most requests in a group, and the most bytes in its changes' values. */
const MOST_IN_GROUP = 64;
const MOST_BYTES = 512 * 1_024;
/** The most requests in a group that may come from browsers: a quarter. */
const MOST_PUBLIC = MOST_IN_GROUP / 4;
/** A read that has waited longer than this is refused: nothing is reserved yet, so its caller can simply repeat the request. */
const LONGEST_WAIT_MS = 2 * SECOND_MS;
/** After this many conflicts, the rest of a group is decided again. */
const MOST_CONFLICTS = 4;
/** How long a call may delay the next one. It is shorter than a read may wait, so that a call that hangs does not make other requests fail. */
const STALLED_MS = SECOND_MS;
/** How long a call to another object may delay the next one. The object is near and does little work, so a slow call delays only its own callers. */
const STALLED_ASKING_MS = 50;
/** For how many subjects the last change is remembered. */
const REMEMBERED_SUBJECTS = 4_096;

interface Waiting {
  /** Whether the request needs no secret, so that anyone can send it from a browser. */
  readonly isPublic: boolean;
}

interface Reading extends Waiting {
  readonly statements: readonly Statement[];
  readonly sinceMs: number;
  /** Called when the batch is sent. */
  readonly onSend: () => void;
  readonly meter: Meter | undefined;
}

interface Writing extends Waiting, GroupedChange {
  readonly bytes: number;
  readonly meter: Meter | undefined;
  /** Whether a subject has changed since the request's last read. */
  readonly isStale: () => boolean;
}

type WriteOutcome = Sent | { readonly kind: "failed"; readonly error: unknown };
type ReadOutcome = { readonly results: readonly unknown[] } | { readonly error: unknown };

export interface GroupDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  nowMs(): number;
}

interface Questions {
  readonly asked: Gatherer<Question, ReadOutcome>;
  readonly when: AskedWhen;
}

interface Question {
  readonly item: unknown;
  readonly send: (items: readonly unknown[]) => Promise<readonly unknown[]>;
}

/** The groups of one merchant. Kept only in memory: requests that are lost with the memory were never answered. */
export class Groups {
  readonly #deps: GroupDependencies;
  readonly #reads: Gatherer<Reading, ReadOutcome>;
  readonly #writes: Gatherer<Writing, WriteOutcome>;
  /** The calls to other objects, by name, and whether reads wait for them. */
  readonly #questions = new Map<string, Questions>();
  /** How many groups of changes have ended; and for each subject, the number of the last group that changed it. */
  #ended = 0;
  readonly #changedBy = new Map<string, number>();

  constructor(deps: GroupDependencies) {
    this.#deps = deps;
    const { sleep } = deps;
    this.#reads = new Gatherer({
      sleep,
      stalledMs: STALLED_MS,
      choose: (waiting) => this.#chooseReads(waiting),
      send: (items) => this.#read(items),
      // Requests that arrive before the end of a write cannot be written before the next write anyway, so one read serves all of them.
      isHeldUp: () => this.#writes.isCalling || this.#isAsking(),
      turns: { next: () => sleep(0), nowMs: () => deps.nowMs(), fullAt: MOST_IN_GROUP },
    });
    this.#writes = new Gatherer({
      sleep,
      stalledMs: STALLED_MS,
      choose: chooseChanges,
      send: (items, settle) => this.#write(items, settle),
      onFree: () => {
        this.#reads.goOn();
        this.#askBesideRead();
      },
    });
  }

  /** Whether reads of requests of this kind have waited longer than allowed; then a new request would be refused too. */
  isBehind(isPublic: boolean): boolean {
    return this.#reads.has((each) => each.isPublic === isPublic && this.#isLate(each));
  }

  /** `meter`: counts the request's share of the calls that it takes part in. */
  request(isPublic: boolean, meter?: Meter): RequestGroup {
    let readAfter = this.#ended;
    const onSend = () => {
      readAfter = this.#ended;
    };
    const isStale = (subjects: readonly string[]) =>
      subjects.some((subject) => (this.#changedBy.get(subject) ?? 0) > readAfter);
    return {
      read: async (statements) => {
        const outcome = await this.#reads.add({ statements, isPublic, sinceMs: this.#deps.nowMs(), onSend, meter });
        if ("error" in outcome) throw outcome.error;
        return outcome.results;
      },
      write: async ({ statements, subjects }) => {
        const bytes = bytesOf(statements);
        const change = { statements, subjects, isPublic, bytes, meter, isStale: () => isStale(subjects) };
        const outcome = await this.#writes.add(change);
        if (outcome.kind === "failed") throw outcome.error;
        return outcome;
      },
      ask: (name: string, item, send, when) => this.#ask(name, item, send, when),
    };
  }

  #ask<I, O>(name: string, item: I, send: (items: readonly I[]) => Promise<readonly O[]>, when?: AskedWhen): Promise<O>;
  async #ask(name: string, item: unknown, send: Question["send"], when: AskedWhen = "AFTER_READ"): Promise<unknown> {
    const questions = this.#questions.get(name) ?? { asked: this.#newQuestions(when), when };
    this.#questions.set(name, questions);
    const { asked } = questions;
    const outcome = await asked.add({ item, send });
    // Deleted once idle, because there is a name for each IP address that calls.
    if (asked.isIdle) this.#questions.delete(name);
    if ("error" in outcome) throw outcome.error;
    return outcome.results[0];
  }

  #newQuestions(when: AskedWhen): Gatherer<Question, ReadOutcome> {
    const { sleep } = this.#deps;
    return new Gatherer({
      sleep,
      stalledMs: STALLED_ASKING_MS,
      choose: (waiting) => waiting.slice(0, MOST_IN_GROUP),
      send: (questions: readonly Question[]) => askAll(sleep, questions),
      onFree: () => this.#reads.goOn(),
      // The call waits for the read, so that all requests of that read share it.
      isHeldUp: () => when === "BESIDE_READ" && (this.#reads.isGathering || this.#writes.isCalling),
    });
  }

  #askBesideRead(): void {
    for (const { asked, when } of this.#questions.values()) if (when === "BESIDE_READ") asked.goOn();
  }

  /** Whether a request that has finished its read is waiting for another object, whose answer is not late. */
  #isAsking(): boolean {
    return [...this.#questions.values()].some(({ asked, when }) => when === "AFTER_READ" && asked.isCalling);
  }

  async #read(items: readonly Reading[]): Promise<readonly ReadOutcome[]> {
    this.#askBesideRead();
    const due = items.filter((item) => !this.#isLate(item));
    for (const { onSend } of due) onSend();
    const found = await this.#readAll(due);
    return items.map((item) => found.get(item) ?? { error: new OverloadedError("a read has waited too long") });
  }

  #isLate({ sinceMs }: Reading): boolean {
    return sinceMs < this.#deps.nowMs() - LONGEST_WAIT_MS;
  }

  /** Takes a full group and all late reads, which are refused. If these counted towards the group, all other reads would become late too. */
  #chooseReads(waiting: readonly Reading[]): readonly Reading[] {
    const late = new Set(waiting.filter((item) => this.#isLate(item)));
    return [...late, ...first(waiting, (item) => !late.has(item))];
  }

  /** Sends all reads as one batch. If one of them may be the reason for a failure, repeats each alone. */
  async #readAll(items: readonly Reading[]): Promise<ReadonlyMap<Reading, ReadOutcome>> {
    const { db, sleep } = this.#deps;
    if (items.length === 0) return new Map();
    const { statements, resultsOf } = joinReads(items.map((item) => item.statements));
    const meter = new Meter();
    try {
      const results = resultsOf(await withinLimit(sleep, batch(metered(db, meter), statements)));
      share(meter, items);
      return new Map(items.map((item, n) => [item, { results: results[n] ?? [] }]));
    } catch (error) {
      if (items.length === 1 || faultKind(error) !== "other") return new Map(items.map((item) => [item, { error }]));
      const alone = await Promise.all(items.map((item) => this.#readAll([item])));
      return new Map(alone.flatMap((each) => [...each]));
    }
  }

  async #write(items: readonly Writing[], settle: Settle<Writing>): Promise<readonly WriteOutcome[]> {
    const fresh = items.filter(({ isStale }) => !isStale());
    // Servers' changes first, so that a browser's refused change delays only browsers.
    const inOrder = [...fresh.filter(({ isPublic }) => !isPublic), ...fresh.filter(({ isPublic }) => isPublic)];
    const sent = new Map<Writing, WriteOutcome>();
    await sendGroup(this.#deps, inOrder, {
      conflicts: 0,
      settle: (item, outcome) => {
        sent.set(item, outcome);
        if (outcome.kind !== "conflict")
          for (const subject of item.subjects) this.#noteChange(subject, this.#ended + 1);
        settle(item, outcome);
      },
    });
    this.#ended += 1;
    return items.map((item) => sent.get(item) ?? decideAgain());
  }

  #noteChange(subject: string, group: number): void {
    this.#changedBy.delete(subject);
    this.#changedBy.set(subject, group);
    const [oldest] = this.#changedBy.keys();
    if (oldest !== undefined && this.#changedBy.size > REMEMBERED_SUBJECTS) this.#changedBy.delete(oldest);
  }
}

/** The outcome of a change that was not sent alone, so that it is unknown whether it conflicts: its request must decide again. */
const decideAgain = (mayCommit = false): Sent => ({ kind: "conflict", conflict: { kind: "assertion" }, mayCommit });

type Settle<I> = (item: I, outcome: WriteOutcome) => void;

/** A group while it is being sent. */
interface Sending<I> {
  /** How many of its changes conflicted when they were sent alone. */
  conflicts: number;
  /** Called once for each change, as soon as its outcome is known. */
  readonly settle: Settle<I>;
}

/**
 * Sends the changes as one batch. If the database refuses it, halves it down to the change that is refused, even if an earlier attempt may have
 * committed, because a committed change then violates its own key. If several changes conflict, most of the group probably relied on a fact that is
 * no longer true: the remaining changes are decided again instead of being sent one by one.
 */
async function sendGroup<I extends Measured>(
  deps: GroupDependencies,
  items: readonly I[],
  sending: Sending<I>,
  mayCommit = false,
): Promise<void> {
  if (items.length === 0) return;
  if (sending.conflicts >= MOST_CONFLICTS) {
    for (const item of items) sending.settle(item, decideAgain(mayCommit));
    return;
  }
  const outcome = alsoAfter(mayCommit, await sendOnce(deps, items));
  const isRefused = outcome.kind === "conflict" || outcome.kind === "failed";
  if (isRefused && items.length > 1) {
    const half = Math.ceil(items.length / 2);
    for (const part of [items.slice(0, half), items.slice(half)])
      await sendGroup(deps, part, sending, "mayCommit" in outcome && outcome.mayCommit);
    return;
  }
  if (outcome.kind === "conflict") sending.conflicts += 1;
  for (const item of items) sending.settle(item, outcome);
}

async function sendOnce(deps: GroupDependencies, items: readonly Measured[]): Promise<WriteOutcome> {
  const meter = new Meter();
  try {
    const own = { ...deps, db: metered(deps.db, meter) };
    return await sendBatch(own, joinStatements(items.map(({ statements }) => statements)));
  } catch (error) {
    return { kind: "failed", error };
  } finally {
    share(meter, items);
  }
}

/** The client for one batch, whose calls `meter` counts. */
function metered({ $client, listeners }: Sender, meter: Meter): Sender {
  return { $client, listeners, meter };
}

type Measured = GroupedChange & Pick<Writing, "meter">;

/** Each item took part in all calls, so all calls are counted for it, and a share of their rows. */
function share({ cost }: Meter, items: readonly Pick<Writing, "meter">[]): void {
  for (const { meter } of items) meter?.add(cost, items.length);
}

/** `mayCommit`: whether an attempt to send the whole group, which included this part, may still commit. */
function alsoAfter(mayCommit: boolean, part: WriteOutcome): WriteOutcome {
  return "mayCommit" in part ? { ...part, mayCommit: part.mayCommit || mayCommit } : part;
}

/** Sends all items in one call. If one of them may be the reason for a failure, sends each in a separate call. */
async function askAll(sleep: Sleep, questions: readonly Question[]): Promise<readonly ReadOutcome[]> {
  const [first] = questions;
  if (first === undefined) return [];
  try {
    const results = await withinLimit(sleep, first.send(questions.map(({ item }) => item)));
    return questions.map((_, n) => ({ results: [results[n]] }));
  } catch (error) {
    if (questions.length === 1 || faultKind(error) !== "other") return questions.map(() => ({ error }));
    return (await Promise.all(questions.map((question) => askAll(sleep, [question])))).flat();
  }
}

function chooseChanges(waiting: readonly Writing[]): readonly Writing[] {
  const taken = new Set<string>();
  let bytes = 0;
  return first(waiting, (change) => {
    // A stale change uses up no subjects or bytes: it is not sent, but decided again.
    if (change.isStale()) return true;
    if (change.subjects.some((subject) => taken.has(subject))) return false;
    if (bytes > 0 && bytes + change.bytes > MOST_BYTES) return false;
    bytes += change.bytes;
    for (const subject of change.subjects) taken.add(subject);
    return true;
  });
}

/** The first waiting items that fit, at most a full group. */
function first<T extends Waiting>(waiting: readonly T[], fits: (item: T) => boolean): readonly T[] {
  const chosen: T[] = [];
  let publicOnes = 0;
  for (const item of waiting) {
    if (chosen.length === MOST_IN_GROUP) break;
    if ((item.isPublic && publicOnes === MOST_PUBLIC) || !fits(item)) continue;
    if (item.isPublic) publicOnes += 1;
    chosen.push(item);
  }
  return chosen;
}

function bytesOf(writes: readonly Write[]): number {
  const values = writes.flatMap((write) => {
    const statement = statementOf(write);
    return statement instanceof PreparedStatement ? statement.toSQL().params : [];
  });
  return values.reduce<number>((sum, value) => sum + String(value).length, 0);
}
