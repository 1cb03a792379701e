// The statements of several independent changes as one batch: all inserts into one table become one statement, so that a batch of fifty changes has hardly more
// statements than a batch of one.
import { joinNews, statementOf } from "./batch.ts";
import { PreparedStatement } from "./prepared-statement.ts";
import { Effect, type Statement, type Write } from "./statement.ts";

/** D1 accepts a value of up to 2 MB. Our longest row is an event of 128 KB. */
const LONGEST_PARAMETER = 1_000_000;

/**
 * One list of statements that does what the lists do. The order within each list is kept; the lists must not depend on each other, because a
 * statement of the second may come before one of the first.
 */
export function joinStatements(lists: readonly (readonly Write[])[]): readonly Write[] {
  const slots: Write[][] = [];
  for (const list of lists) {
    let from = 0;
    for (const write of list) {
      // The slot before `from` holds this list's previous statement: after it in the same slot is still after it.
      const found = slots.findIndex((slot, at) => at >= from - 1 && isJoint(slot[0], write));
      if (found === -1) slots.splice(from, 0, [write]);
      else slots[found]?.push(write);
      from = found === -1 ? from + 1 : found + 1;
    }
  }
  return slots.flatMap(joinSlot);
}

/** The reads of several callers as fewer statements. */
interface JoinedReads {
  readonly statements: readonly Statement[];
  /** For each caller the results of its reads, in their order. `results`: those of `statements`. */
  resultsOf(results: readonly unknown[]): readonly (readonly unknown[])[];
}

/** Equal reads become one statement, and so do lookups of one kind. */
export function joinReads(lists: readonly (readonly Statement[])[]): JoinedReads {
  const slots: Statement[][] = [];
  const slotOfKind = new Map<object, number>();
  const known = new Map<object, Map<string, JoinedSlot>>();
  const add = (read: Statement): JoinedSlot => {
    // It is not compiled, so there is no cheap way to see whether it equals another one.
    if (!(read instanceof PreparedStatement)) return { slot: slots.push([read]) - 1, part: 0 };
    const ofKind = known.get(read.kind) ?? new Map<string, JoinedSlot>();
    known.set(read.kind, ofKind);
    const values = JSON.stringify(read.toSQL().params);
    const same = ofKind.get(values);
    if (same !== undefined) return same;
    const found = read.isLookup ? slotOfKind.get(read.kind) : undefined;
    const slot = found ?? slots.push([]) - 1;
    if (read.isLookup) slotOfKind.set(read.kind, slot);
    const place = { slot, part: (slots[slot]?.push(read) ?? 1) - 1 };
    ofKind.set(values, place);
    return place;
  };
  const places = lists.map((reads) => reads.map(add));
  return {
    statements: slots.map(joinLookups),
    resultsOf: (results) =>
      places.map((own) => own.map(({ slot, part }) => partOf(slots[slot]?.[0], results[slot], part))),
  };
}

/** The joined statement with the result of a read, and the read's place among those that it joins. */
interface JoinedSlot {
  readonly slot: number;
  readonly part: number;
}

function joinLookups(slot: readonly Statement[]): Statement {
  const [first, ...others] = slot;
  if (first === undefined) throw new Error("no read");
  if (others.length === 0 || !(first instanceof PreparedStatement)) return first;
  return first.joinedWith(others.filter((each) => each instanceof PreparedStatement));
}

function partOf(statement: Statement | undefined, result: unknown, part: number): unknown {
  return statement instanceof PreparedStatement && statement.isLookup ? statement.partOf(result, part) : result;
}

function isJoint(one: Write | undefined, other: Write): boolean {
  if (one === undefined) return false;
  const [first, second] = [statementOf(one), statementOf(other)];
  return first instanceof PreparedStatement && second instanceof PreparedStatement && first.isJointWith(second);
}

/** As few statements as the longest parameter allows. */
function joinSlot(slot: readonly Write[]): readonly Write[] {
  return slot.length === 1 ? slot : parts(slot).map(joinPart);
}

function joinPart(part: readonly Write[]): Write {
  const [first, ...others] = part.map(statementOf).filter((each) => each instanceof PreparedStatement);
  if (first === undefined) throw new Error("no statement");
  const joined = others.length === 0 ? first : first.joinedWith(others);
  const effects = part.flatMap((each) => (each instanceof Effect ? [each.consequences] : []));
  if (effects.length === 0) return joined;
  return new Effect(joined, {
    newsOf: (result) => joinNews(effects.map((each) => each.newsOf?.(result) ?? {})),
    revokes: effects.flatMap(({ revokes = [] }) => revokes),
  });
}

function parts(slot: readonly Write[]): readonly (readonly Write[])[] {
  const full: Write[][] = [];
  let part: Write[] = [];
  let length = 0;
  for (const write of slot) {
    const own = lengthOf(statementOf(write));
    if (part.length > 0 && length + own > LONGEST_PARAMETER) {
      full.push(part);
      part = [];
      length = 0;
    }
    part.push(write);
    length += own;
  }
  return [...full, part];
}

/** An upper bound in bytes of JSON: six for each character, as if JSON escaped it. */
function lengthOf(statement: Statement): number {
  if (!(statement instanceof PreparedStatement)) return 0;
  return statement.toSQL().params.reduce<number>((sum, each) => sum + 6 * String(each).length + 3, 0);
}
