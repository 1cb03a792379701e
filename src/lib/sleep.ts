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
