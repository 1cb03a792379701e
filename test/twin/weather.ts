// How slow and faulty the environment is: times as quantiles (sources in docs/design/reliability.md), and the documented faults of D1.

/** Milliseconds within which half of all calls finish, and 99 of 100. */
export interface Delay {
  readonly p50: number;
  readonly p99: number;
}

export interface Weather {
  /** Between the Worker and an object. */
  readonly hop: Delay;
  readonly read: Delay;
  readonly write: Delay;
  /** The share of database calls that fail, half of them after the work was done. */
  readonly faults: number;
}

export const QUIET_WEATHER: Weather = {
  hop: { p50: 0, p99: 0 },
  read: { p50: 0, p99: 0 },
  write: { p50: 0, p99: 0 },
  faults: 0,
};
export const NEAR: Weather = {
  hop: { p50: 3, p99: 20 },
  read: { p50: 5, p99: 25 },
  write: { p50: 8, p99: 50 },
  faults: 0,
};
export const USUAL: Weather = { ...NEAR, read: { p50: 12, p99: 60 }, write: { p50: 22, p99: 90 } };
export const FAR: Weather = { ...NEAR, read: { p50: 100, p99: 250 }, write: { p50: 100, p99: 250 } };

/** "12/60": 12 ms for half of all calls and 60 for 99 of 100. */
export function delayIn(text: string): Delay | undefined {
  const [, p50, p99] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const delay = { p50: Number(p50), p99: Number(p99) };
  return delay.p99 >= delay.p50 ? delay : undefined;
}

/**
 * The spread of a log-normal distribution, which has the long tail of networks: the 99th percentile is 2.326 deviations from the
 * median.
 */
export function drawMs({ p50, p99 }: Delay, random: () => number): number {
  if (p50 <= 0) return 0;
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return p50 * Math.exp((Math.log(p99 / p50) / 2.326) * normal);
}

/** All D1 errors, as listed on its error page (developers.cloudflare.com/d1/observability/debug-d1). */
export const D1_FAULTS = [
  "Network connection lost.",
  "Cannot resolve D1 DB due to transient issue on remote node.",
  "D1 DB reset because its code was updated.",
  "Internal error while starting up D1 DB storage caused object to be reset.",
  "Internal error in D1 DB storage caused object to be reset.",
  "Can't read from request stream because client disconnected.",
  "D1 DB storage operation exceeded timeout which caused object to be reset.",
  "D1 DB is overloaded. Requests queued for too long.",
  "D1 DB is overloaded. Too many requests queued.",
  "D1 DB's isolate exceeded its memory limit and was reset.",
  "D1 DB exceeded its CPU time limit and was reset.",
] as const;
/** Errors of calls that never started. */
export const isRefusal = (fault: string) => /overloaded|resolve/.test(fault);
