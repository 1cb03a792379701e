// As whom the callers of a merchant's object are counted, remembered so that their next requests are counted beside the storage call that
// authenticates them, instead of after it. It only foresees: the count is used if the request is then found to be of this caller, and permitted.

/** As whom the requests of an authenticated caller are counted. */
export interface CountedAs {
  /** The caller's own counter. */
  readonly name: string;
  /** What each IP address is counted for first; only for keys that anyone can see. */
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

  /** After one was not: its next requests are not counted before they are refused. */
  forget(operationId: string, credentialHash: string): void {
    this.#known.delete(nameOf(operationId, credentialHash));
  }
}

function nameOf(operationId: string, credentialHash: string): string {
  return `${operationId} ${credentialHash}`;
}
