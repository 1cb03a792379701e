// How many statements one pass may send to D1, which ends an invocation at 1,000 (docs/design/platform.md). A part starts nothing more once it has used up its
// share; what it has started is bounded, so that a whole pass stays below 500. A flood that uses up the share of the scan leaves the other parts their own.

/** Each counted from the start of the pass. */
export const PASS_STATEMENTS = { scan: 350, recheck: 400, reread: 440 } as const;

/** For a look at one transaction, which is an invocation of its own. */
export const LOOK_STATEMENTS = 300;
