// Jobs for the load generator and its results; the two processes exchange them as messages.

/** Digits of the counter in a template. Fixed width, so that a request is patched in place and its length never changes. */
export const COUNTER_DIGITS = 9;
/** Where a template contains the request's number: in an idempotency key or an email. */
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
  /** A regular expression with one group that every answer must match; the groups' distinct values are counted. */
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
  /** Distinct values of the pattern's group. */
  readonly distinct: number;
  /** Answers with another status or without the pattern, and broken connections; the first is reported. */
  readonly failures: number;
  readonly firstFailure: string | null;
}

/** The next number that was not yet sent: `numbers.from` of a following job. */
export type Reply =
  | { readonly kind: "result"; readonly result: LoadResult }
  | { readonly kind: "error"; readonly message: string };
