// How many statements one pass may send to D1, which ends an invocation at 1,000 (docs/design/platform.md). A part of the pass starts nothing more
// once it has used up its share. Work that has started is bounded, so a whole pass stays below 500. A flood that uses up the scan's share does not
// reduce the shares of the other parts.

/** The limits are cumulative: each counts all statements since the start of the pass. */
export const PASS_STATEMENTS = { scan: 350, recheck: 400, reread: 440 } as const;

/** The limit for the lookup of one transaction, which has its own invocation. */
export const LOOK_STATEMENTS = 300;
