// The statements of several independent changes as one batch: what all of them insert into a table is one statement, so that a batch of fifty
// changes has hardly more statements than a batch of one.
import type { Statement } from "./batch.ts";
import { withNewsOfAll } from "./client.ts";
import { PreparedStatement } from "./prepared-statement.ts";

/** D1 takes 2 MB as one value. The longest row of ours is an event of 128 KB. */
const LONGEST_PARAMETER = 1_000_000;

type Joint = readonly [PreparedStatement<unknown>, ...PreparedStatement<unknown>[]];

/**
 * One list of statements that does what the lists do. The order within each list is kept; the lists must not depend on each other, because a
 * statement of the second may come before one of the first.
 */
export function joinStatements(lists: readonly (readonly Statement[])[]): readonly Statement[] {
  const slots: Statement[][] = [];
  for (const list of lists) {
    let from = 0;
    for (const statement of list) {
      // The slot before `from` holds this list's previous statement: behind it in the same slot is still behind it.
      const found = slots.findIndex((slot, at) => at >= from - 1 && isJoint(slot[0], statement));
      if (found === -1) slots.splice(from, 0, [statement]);
      else slots[found]?.push(statement);
      from = found === -1 ? from + 1 : found + 1;
    }
  }
  return slots.flatMap(joinSlot);
}

/** The reads of several callers as fewer statements. */
export interface JoinedReads {
  readonly statements: readonly Statement[];
  /** For each caller the results of its reads, in their order. `results`: those of `statements`. */
  resultsOf(results: readonly unknown[]): readonly (readonly unknown[])[];
}

/** Equal reads become one statement, and so do lookups of one kind. */
export function joinReads(lists: readonly (readonly Statement[])[]): JoinedReads {
  const slots: Statement[][] = [];
  const slotOfKind = new Map<object, number>();
  const known = new Map<object, Map<string, Place>>();
  const add = (read: Statement): Place => {
    // It was not compiled before, so that nothing cheap shows whether it equals another one.
    if (!(read instanceof PreparedStatement)) return { slot: slots.push([read]) - 1, part: 0 };
    const ofKind = known.get(read.kind) ?? new Map<string, Place>();
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
interface Place {
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

function isJoint(one: Statement | undefined, other: Statement): boolean {
  return one instanceof PreparedStatement && other instanceof PreparedStatement && one.isJointWith(other);
}

/** As few statements as the longest parameter allows. */
function joinSlot(slot: readonly Statement[]): readonly Statement[] {
  const joint = slot.filter((statement) => statement instanceof PreparedStatement);
  const [first, ...others] = joint;
  if (first === undefined || others.length === 0) return slot;
  return parts([first, ...others]).map((part) => {
    const [head, ...tail] = part;
    return tail.length === 0 ? head : withNewsOfAll(head.joinedWith(tail), part);
  });
}

function parts([first, ...others]: Joint): readonly Joint[] {
  const full: Joint[] = [];
  let part: Joint = [first];
  let length = lengthOf(first);
  for (const statement of others) {
    const own = lengthOf(statement);
    if (length + own > LONGEST_PARAMETER) {
      full.push(part);
      part = [statement];
      length = own;
    } else {
      part = [...part, statement];
      length += own;
    }
  }
  return [...full, part];
}

/** An upper bound in bytes of JSON: six for each character of text, as for one that JSON escapes. */
function lengthOf(statement: PreparedStatement<unknown>): number {
  return statement.toSQL().params.reduce<number>((sum, each) => sum + 6 * String(each).length + 3, 0);
}
