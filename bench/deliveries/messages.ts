// What the benchmark and its two helping processes, the receiver and the bare loop, say to each other, and the clock that they share.

/** Milliseconds of the machine's monotonic clock, which is one for all processes. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** POSTs of the recorded event under ids `from`, `from + 1` ..., signed one by one. */
export interface BareJob {
  readonly url: string;
  readonly merchantId: string;
  readonly webhookId: string;
  readonly secret: string;
  readonly from: number;
  readonly count: number;
  readonly atOnce: number;
}

/** To the receiver. Those with a key are about what comes to `/ok/<key>/...` and `/hang/<key>/...`. */
export type Ask =
  /** Answered when so many have come since the last such answer. */
  | { readonly kind: "expect"; readonly key: string; readonly posts: number }
  /** `/hang` answers no more. */
  | { readonly kind: "hold" }
  /** `/hang` answers like `/ok`, and whoever waits is answered. */
  | { readonly kind: "release" };

export interface Seen {
  /** When each was there whole, in order. */
  readonly arrivals: readonly { readonly eventId: string; readonly atMs: number }[];
  /** The last one. */
  readonly sample: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
}

/** Requests to a helping process carry a number, its answers carry it back. */
export interface Envelope<T> {
  readonly call: number;
  readonly content: T;
}
