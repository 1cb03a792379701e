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

function parts(slot: Joint): readonly Joint[] {
  const [first, ...others] = slot;
  const found: [Joint, ...Joint[]] = [[first]];
  let length = lengthOf(first);
  for (const statement of others) {
    const own = lengthOf(statement);
    const last = found.at(-1) ?? found[0];
    const isFull = length + own > LONGEST_PARAMETER;
    if (isFull) found.push([statement]);
    else found[found.length - 1] = [...last, statement];
    length = isFull ? own : length + own;
  }
  return found;
}

/** An upper bound in bytes of JSON: six for each character of text, as for one that JSON escapes. */
function lengthOf(statement: PreparedStatement<unknown>): number {
  return statement.toSQL().params.reduce<number>((sum, each) => sum + 6 * String(each).length + 3, 0);
}
