// The server's clock, continued by a monotonic clock: the time setting of the payer's machine does not matter.

export interface Clock {
  /** The server said `serverMs` at the moment `atMs` of `performance.now()`. Ignores an invalid time. */
  set(serverMs: number, atMs: number): void;
  /** Milliseconds since 1970, by the server. */
  nowMs(): number;
}

/** `renderedMs`: when the server rendered the page, which was when its answer began. */
export function serverClock(renderedMs: number): Clock {
  const [arrival] = performance.getEntriesByType("navigation");
  const begunMs = arrival instanceof PerformanceNavigationTiming ? arrival.responseStart : performance.now();
  let aheadMs = Number.isFinite(renderedMs) ? renderedMs - begunMs : performance.timeOrigin;
  return {
    set: (serverMs, atMs) => {
      if (Number.isFinite(serverMs)) aheadMs = serverMs - atMs;
    },
    nowMs: () => performance.now() + aheadMs,
  };
}
