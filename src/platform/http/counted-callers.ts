// Remembers the counters of a merchant object's callers, so that their next requests are counted during the storage call that authenticates them, not after it.
// It is only a prediction: the count is used if the request then proves to be this caller's, and permitted.

/** The counters for the requests of an authenticated caller. */
export interface CountedAs {
  /** The caller's own counter. */
  readonly name: string;
  /** The act for which the IP address is counted first; only for keys that anyone can see. */
  readonly act: string | undefined;
}

/** More are not remembered; they are counted after they are authenticated. */
const MOST_REMEMBERED = 1_024;

/** By route and credential: what a caller may do differs between routes. */
export class CountedCallers {
  readonly #known = new Map<string, CountedAs>();

  find(operationId: string, credentialHash: string): CountedAs | undefined {
    return this.#known.get(nameOf(operationId, credentialHash));
  }

  /** After the request of a caller was permitted. */
  remember(operationId: string, credentialHash: string, caller: CountedAs): void {
    if (this.#known.size < MOST_REMEMBERED) this.#known.set(nameOf(operationId, credentialHash), caller);
  }

  /** After a request was not permitted: the caller's next requests are not counted before they are refused. */
  forget(operationId: string, credentialHash: string): void {
    this.#known.delete(nameOf(operationId, credentialHash));
  }
}

function nameOf(operationId: string, credentialHash: string): string {
  return `${operationId} ${credentialHash}`;
}
