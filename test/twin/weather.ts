// How slow and faulty the environment is: latencies as quantiles (sources in docs/design/reliability.md), and the share of calls that fail.

/** Milliseconds within which 50 % and 99 % of calls finish. */
export interface Delay {
  readonly p50: number;
  readonly p99: number;
}

export interface Weather {
  /** Latency between the Worker and an object. */
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

/** Reads "12/60": 50 % of calls finish within 12 ms and 99 % within 60 ms. */
export function delayIn(text: string): Delay | undefined {
  const [, p50, p99] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const delay = { p50: Number(p50), p99: Number(p99) };
  return delay.p99 >= delay.p50 ? delay : undefined;
}

/** Draws from a log-normal distribution, which has the long tail of networks: the 99th percentile is 2.326 deviations from the median. */
export function drawMs({ p50, p99 }: Delay, random: () => number): number {
  if (p50 <= 0) return 0;
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return p50 * Math.exp((Math.log(p99 / p50) / 2.326) * normal);
}
