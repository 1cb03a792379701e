// What the search of one body for private keys may cost. Base58 and listed words are searched quickly; what takes time is the checksum of each
// place where a key could be. An author can put such places everywhere, and over as many texts as they like, so a body has one budget.
import { LIMITS } from "../lib/limits.ts";

/** An extended key takes as long as three shorter ones. */
const LONG_TEXT = 64;

export class ChecksumBudget {
  #left = LIMITS.checksumsPerBody;

  /** Pays for the checksum of a text; false if too little is left, and from then on. */
  pays(text: string): boolean {
    return this.spend(text.length > LONG_TEXT ? 3 : 1);
  }

  spend(checksums: number): boolean {
    this.#left -= checksums;
    return !this.isUsedUp;
  }

  /** Whether more was asked for than there is. */
  get isUsedUp(): boolean {
    return this.#left < 0;
  }
}
