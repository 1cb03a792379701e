// Messages between the benchmark and its two helper processes, the receiver and the bare loop, and their shared clock.

/** Milliseconds of the machine's monotonic clock, which is the same for all processes. */
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

/** To the receiver. Those with a key concern requests to `/ok/<key>/...` and `/hang/<key>/...`. */
export type Ask =
  /** Answered once this many have arrived since the last such answer. */
  | { readonly kind: "expect"; readonly key: string; readonly posts: number }
  /** `/hang` stops answering. */
  | { readonly kind: "hold" }
  /** `/hang` answers like `/ok`, and pending requests are answered. */
  | { readonly kind: "release" };

export interface Seen {
  /** When each had fully arrived, in order. */
  readonly arrivals: readonly { readonly eventId: string; readonly atMs: number }[];
  /** The last one. */
  readonly sample: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
}

/** Requests to a helper process have a number, which its answers repeat. */
export interface Envelope<T> {
  readonly call: number;
  readonly content: T;
}
