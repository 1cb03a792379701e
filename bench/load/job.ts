// What is asked of the load generator and what it answers; the two processes exchange these as messages.

/** Digits of the counter in a template. Fixed width, so that a request is patched in place and its length never changes. */
export const COUNTER_DIGITS = 9;
/** Where a template carries the request's number: in an idempotency key, an email. */
export const COUNTER = "#".repeat(COUNTER_DIGITS);

export interface Job {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** The run ends at whichever comes first. */
  readonly maxSeconds: number;
  readonly maxRequests: number;
  /** Whole HTTP requests, used in turn. */
  readonly templates: readonly string[];
  /** Numbers written at COUNTER: `from`, `from + 1` ... and again from the start after `count`. */
  readonly numbers: { readonly from: number; readonly count: number };
  readonly expectStatus: number;
  /** A regular expression with one group that every answer must match; what the groups hold is counted without repeats. */
  readonly pattern: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Different values of the pattern's group. */
  readonly distinct: number;
  /** Answers with another status or without the pattern, and connections that broke; the first is told. */
  readonly failures: number;
  readonly firstFailure: string | null;
}

/** The next number that was not yet sent: `numbers.from` of a following job. */
export type Reply =
  | { readonly kind: "result"; readonly result: LoadResult }
  | { readonly kind: "error"; readonly message: string };
