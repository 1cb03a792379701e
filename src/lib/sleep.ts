/**
 * What lets a sleeper be woken early. An `AbortController` does the same at 40 microseconds of CPU a time, and every call of storage has one
 * of these for its time limit.
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

  /** Calls `wake` on cancelling, or at once when that has happened; one sleeper each. */
  onCancel(wake: () => void): void {
    if (this.#isCancelled) wake();
    else this.#wake = wake;
  }
}

/**
 * Resolves after `ms`, or at once when cancelled, so that a timer which lost its race does not stay behind.
 * Operations take this as an argument; the simulator puts its own clock in its place.
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
 * A sleep for one request: all its sleepers share a timer, and a cancelled one is only taken off the list. Setting and clearing a timer for
 * every call of storage was 4 % of the CPU of a create; what is left when the request ends, ends with it.
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
