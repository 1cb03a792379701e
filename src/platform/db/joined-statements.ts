// Joins the statements of several independent changes into one batch: all inserts into one table become one statement, so that fifty changes need
// hardly more statements than one.
import { joinNews, statementOf } from "./batch.ts";
import { PreparedStatement } from "./prepared-statement.ts";
import { Effect, type Statement, type Write } from "./statement.ts";

/** D1 accepts a value of up to 2 MB, and our rows are far smaller. */
const LONGEST_PARAMETER = 1_000_000;

/**
 * Joins lists of statements into one with the same effect. The order within each list is kept; the lists must not depend on each other, because a
 * statement of the second may come before one of the first.
 */
export function joinStatements(lists: readonly (readonly Write[])[]): readonly Write[] {
  const slots: Write[][] = [];
  for (const list of lists) {
    let from = 0;
    for (const write of list) {
      // The slot before `from` holds this list's previous statement. A statement appended to that slot still runs after it.
      const found = slots.findIndex((slot, at) => at >= from - 1 && isJoint(slot[0], write));
      if (found === -1) slots.splice(from, 0, [write]);
      else slots[found]?.push(write);
      from = found === -1 ? from + 1 : found + 1;
    }
  }
  return slots.flatMap(joinSlot);
}

/** The reads of several callers, joined into fewer statements. */
interface JoinedReads {
  readonly statements: readonly Statement[];
  /** For each caller, the results of its reads, in their order. `results`: the results of `statements`. */
  resultsOf(results: readonly unknown[]): readonly (readonly unknown[])[];
}

/** Equal reads become one statement. Lookups of one kind become one statement too. */
export function joinReads(lists: readonly (readonly Statement[])[]): JoinedReads {
  const slots: Statement[][] = [];
  const slotOfKind = new Map<object, number>();
  const known = new Map<object, Map<string, JoinedSlot>>();
  const add = (read: Statement): JoinedSlot => {
    // This read is not compiled, so it cannot be compared cheaply with others.
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

/** Where the result of a read is found: the joined statement, and the position of the read in it. */
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

/** Joins the writes into as few statements as the longest parameter allows. */
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

/** An upper bound in bytes of JSON: six for each character, as if JSON escaped all of them. */
function lengthOf(statement: Statement): number {
  if (!(statement instanceof PreparedStatement)) return 0;
  return statement.toSQL().params.reduce<number>((sum, each) => sum + 6 * String(each).length + 3, 0);
}
