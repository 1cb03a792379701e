// Remembers the counters of a merchant object's callers, so that their next requests are counted during the storage call that authenticates them, not
// after it. It is only a prediction: the count is used only if the request turns out to be from this caller and permitted.

/** The counters for the requests of an authenticated caller. */
export interface CountedAs {
  /** The caller's own counter. */
  readonly name: string;
  /** The name under which the caller's IP address is counted first; only for public keys, which anyone can see. */
  readonly act: string | undefined;
}

/** Callers beyond this number are not remembered; they are counted after they are authenticated. */
const MOST_REMEMBERED = 1_024;

/** The remembered counters, by route and credential, because what a caller may do differs between routes. */
export class CountedCallers {
  readonly #known = new Map<string, CountedAs>();

  find(operationId: string, credentialHash: string): CountedAs | undefined {
    return this.#known.get(nameOf(operationId, credentialHash));
  }

  /** Called after a caller's request was permitted. */
  remember(operationId: string, credentialHash: string, caller: CountedAs): void {
    if (this.#known.size < MOST_REMEMBERED) this.#known.set(nameOf(operationId, credentialHash), caller);
  }

  /** Called after a request was not permitted: the caller's next requests are not counted before they are refused. */
  forget(operationId: string, credentialHash: string): void {
    this.#known.delete(nameOf(operationId, credentialHash));
  }
}

function nameOf(operationId: string, credentialHash: string): string {
  return `${operationId} ${credentialHash}`;
}
