// What the platform ends a pass by, for real: the queries of an invocation, the CPU time and memory of a Worker, and those of the database.
import type { Dice } from "../../support/dice.ts";
import type { Effect } from "../engine/sqlite-d1.ts";

/** Queries of one invocation on the paid plan. */
export const QUERIES_AN_INVOCATION = 1_000;

export type Ending =
  /** After so many queries D1 refuses each further one of the invocation. */
  | { readonly kind: "statements"; readonly most: number }
  /** The Worker is gone at this call of storage, which may still land. */
  | { readonly kind: "worker"; readonly at: number }
  /** The database is reset at this call, before or after it has done it. */
  | { readonly kind: "database"; readonly at: number; readonly message: string };

/** As much as the platform gives. */
export const SPARED: Ending = { kind: "statements", most: QUERIES_AN_INVOCATION };

/** What D1 says, word for word (its documentation, "Debug D1", "Error list"). */
const RESETS = [
  "D1_ERROR: D1 DB exceeded its CPU time limit and was reset.",
  "D1_ERROR: D1 DB exceeded its memory limit and was reset.",
];
const TOO_MANY = "D1_ERROR: Too many API requests by single worker invocation.";

/** Most passes are spared; a third is ended, early enough that it matters. */
export function drawEnding(dice: Dice): Ending {
  if (dice.chance(0.65)) return SPARED;
  return dice.oneOf<() => Ending>([
    () => ({ kind: "statements", most: dice.between(1, 60) }),
    () => ({ kind: "worker", at: dice.between(1, 14) }),
    () => ({ kind: "database", at: dice.between(1, 14), message: dice.oneOf(RESETS) }),
  ])();
}

/** Storage of one invocation. `isOver`: whether it has come to its limit. */
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
