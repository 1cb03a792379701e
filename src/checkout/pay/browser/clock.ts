// The server's clock, continued by a monotonic clock, so that the payer's own clock does not matter.

export interface Clock {
  /** Sets the server's time `serverMs` at `atMs` of `performance.now()`. Ignores an invalid time. */
  set(serverMs: number, atMs: number): void;
  /** Milliseconds since 1970 by the server's clock. */
  nowMs(): number;
}

/** `renderedMs`: when the server rendered the page, that is, when its response began. */
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
