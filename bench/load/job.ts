// Jobs for the load generator and its results; the two processes exchange them as messages.

/** The number of digits of the counter in a template. The width is fixed, so that a request is changed in place and its length stays the same. */
export const COUNTER_DIGITS = 9;
/** Stands for the request's number in a template: in an idempotency key or an email. */
export const COUNTER = "#".repeat(COUNTER_DIGITS);

export interface Job {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** The run ends when this time or the number of requests is reached. */
  readonly maxSeconds: number;
  readonly maxRequests: number;
  /** Whole HTTP requests, used in turn. */
  readonly templates: readonly string[];
  /** The numbers that replace COUNTER: `from`, `from + 1` ... and again from the start after `count`. */
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
  /** Answers with a different status or without the pattern, and broken connections. The first failure is reported. */
  readonly failures: number;
  readonly firstFailure: string | null;
}

/** The generator's reply to a job. */
export type Reply =
  | { readonly kind: "result"; readonly result: LoadResult }
  | { readonly kind: "error"; readonly message: string };
