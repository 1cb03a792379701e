// The platform's real limits on a pass: the queries, CPU time and memory of a Worker's invocation, and the limits of the database.
import type { Dice } from "../../support/dice.ts";
import type { Effect } from "../engine/sqlite-d1.ts";

/** The queries allowed in one invocation on the paid plan. */
export const QUERIES_AN_INVOCATION = 1_000;

export type Ending =
  /** After this many queries D1 refuses all further ones of the invocation. */
  | { readonly kind: "statements"; readonly most: number }
  /** The Worker crashes at this storage call, which may still take effect. */
  | { readonly kind: "worker"; readonly at: number }
  /** The database is reset at this call, before or after executing it. */
  | { readonly kind: "database"; readonly at: number; readonly message: string };

/** The platform's full allowance. */
export const SPARED: Ending = { kind: "statements", most: QUERIES_AN_INVOCATION };

/** D1's messages, word for word (its documentation, "Debug D1", "Error list"). */
const RESETS = [
  "D1_ERROR: D1 DB exceeded its CPU time limit and was reset.",
  "D1_ERROR: D1 DB exceeded its memory limit and was reset.",
];
const TOO_MANY = "D1_ERROR: Too many API requests by single worker invocation.";

/** Most passes get the full allowance. About a third are cut short by a limit, a crash or a reset. */
export function drawEnding(dice: Dice): Ending {
  if (dice.chance(0.65)) return SPARED;
  return dice.oneOf<() => Ending>([
    () => ({ kind: "statements", most: dice.between(1, 60) }),
    () => ({ kind: "worker", at: dice.between(1, 14) }),
    () => ({ kind: "database", at: dice.between(1, 14), message: dice.oneOf(RESETS) }),
  ])();
}

/** The storage of one invocation. `isOver`: whether its limit is reached. */
export function limitedEffect(ending: Ending, dice: Dice, die: () => void): { effect: Effect; isOver(): boolean } {
  let calls = 0;
  let queries = 0;
  let isOver = false;
  const effect: Effect = async (_, work, statements = 1) => {
    calls++;
    queries += statements;
    if (ending.kind === "statements") {
      if (queries <= ending.most) return work();
      isOver = true;
      throw new Error(TOO_MANY);
    }
    if (calls !== ending.at) return work();
    isOver = true;
    if (dice.chance(0.5)) work();
    if (ending.kind === "database") throw new Error(ending.message);
    die();
    return new Promise(() => {});
  };
  return { effect, isOver: () => isOver };
}
