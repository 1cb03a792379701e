// The watched addresses of a watcher that reads whole blocks: a set of strings, read from storage at the start and kept while the object lives.
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";

/** The longest delay after which a method may appear in storage with an earlier activation time. */
const LATE_ROWS_MS = 2 * MINUTE_MS;
const RELOAD_AFTER_MS = HOUR_MS;

/** A method that is watched. */
interface Recipient {
  readonly address: string;
  readonly cryptocurrency: string;
}

/** The addresses and assets to look for. An address that is not ours does no harm; a missing one could lose a payment. */
export class RecipientBook {
  /** Each address once, in the order of activation. Only the strings are kept, because with 100,000 addresses there is no memory for more. */
  readonly #addresses = new Set<string>();
  readonly #codes = new Set<string>();
  readonly #loadedAtMs: number;
  #readAtMs: number;

  constructor(nowMs: number) {
    this.#loadedAtMs = nowMs;
    this.#readAtMs = nowMs;
  }

  get addresses(): ReadonlySet<string> {
    return this.#addresses;
  }

  /** Codes of the assets to look for. */
  get codes(): ReadonlySet<string> {
    return this.#codes;
  }

  add(rows: readonly Recipient[]): void {
    for (const { address, cryptocurrency } of rows) {
      this.#codes.add(cryptocurrency);
      this.#addresses.add(address);
    }
  }

  /** Rows activated after this time must be read again. */
  get refreshFromMs(): number {
    return this.#readAtMs - LATE_ROWS_MS;
  }

  noteRefresh(nowMs: number): void {
    this.#readAtMs = nowMs;
  }

  /** Whether it is time to read all recipients again, which removes those of finished invoices. */
  isOld(nowMs: number): boolean {
    return nowMs - this.#loadedAtMs > RELOAD_AFTER_MS;
  }
}
