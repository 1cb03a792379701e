// Messages between the benchmark and its two helper processes, the receiver and the bare loop, and the clock that they share.

/** Milliseconds of the machine's monotonic clock, which is the same for all processes. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** POSTs of the recorded event with the ids `from`, `from + 1` ..., signed one by one. */
export interface BareJob {
  readonly url: string;
  readonly merchantId: string;
  readonly webhookId: string;
  readonly secret: string;
  readonly from: number;
  readonly count: number;
  readonly atOnce: number;
}

/** Messages to the receiver. Those with a key concern requests to `/ok/<key>/...` and `/hang/<key>/...`. */
export type Ask =
  /** Answered once this many POSTs have arrived since the last answer of this kind. */
  | { readonly kind: "expect"; readonly key: string; readonly posts: number }
  /** `/hang` stops answering. */
  | { readonly kind: "hold" }
  /** `/hang` answers like `/ok`, and pending requests are answered. */
  | { readonly kind: "release" };

export interface Seen {
  /** The time at which each POST had fully arrived, in order. */
  readonly arrivals: readonly { readonly eventId: string; readonly atMs: number }[];
  /** The last POST. */
  readonly sample: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
}

/** A request to a helper process, or its answer, which has the same number. */
export interface Envelope<T> {
  readonly call: number;
  readonly content: T;
}
