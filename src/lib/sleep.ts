/**
 * Ends a sleep early. Every storage call has one for its time limit. An `AbortController` would do the same, but costs 40 microseconds of CPU each.
 */
export class Cancellation {
  #wake: (() => void) | undefined;
  #isCancelled = false;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#wake?.();
  }

  /** Calls `wake` on cancellation, or at once if it is already cancelled. Only one sleeper per cancellation. */
  onCancel(wake: () => void): void {
    if (this.#isCancelled) wake();
    else this.#wake = wake;
  }
}

/**
 * Resolves after `ms`, or at once when cancelled, so that a timer that is no longer needed does not keep running.
 * Operations take this as an argument; the simulator passes its own clock.
 */
export type Sleep = (ms: number, cancellation?: Cancellation) => Promise<void>;

export const sleep: Sleep = (ms, cancellation) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    cancellation?.onCancel(() => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * A `Sleep` for one request: all its sleepers share one timer, and cancelling one only removes it from a list. Setting and clearing a timer for
 * every storage call took 4 % of the CPU of creating an invoice. Remaining timers end with the request.
 */
export function requestSleep(): Sleep {
  const sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>();
  let nextMs = Number.POSITIVE_INFINITY;
  const arm = (atMs: number): void => {
    if (atMs >= nextMs) return;
    nextMs = atMs;
    setTimeout(wakeDue, Math.max(0, atMs - Date.now()));
  };
  const wakeDue = (): void => {
    nextMs = Number.POSITIVE_INFINITY;
    const nowMs = Date.now();
    for (const sleeper of [...sleepers]) {
      if (sleeper.atMs > nowMs) arm(sleeper.atMs);
      else if (sleepers.delete(sleeper)) sleeper.wake();
    }
  };
  return (ms, cancellation) =>
    new Promise((resolve) => {
      const sleeper = { atMs: Date.now() + ms, wake: resolve };
      sleepers.add(sleeper);
      cancellation?.onCancel(() => {
        sleepers.delete(sleeper);
        resolve();
      });
      arm(sleeper.atMs);
    });
}
