// What the search of one body for private keys may cost. Base58 and listed words are searched quickly; what takes time is the checksum of each
// place where a key could be. An author can put such places everywhere, and over as many texts as they like, so a body has one budget.
import { LIMITS } from "../../lib/limits.ts";

export class ChecksumBudget {
  #left = LIMITS.checksumsPerBody;

  /** Pays for the checksum of a text. An extended key takes as long as three shorter ones. */
  pays(text: string): boolean {
    return this.spend(text.length > 64 ? 3 : 1);
  }

  /** False if too little is left, and from then on. */
  spend(checksums: number): boolean {
    this.#left -= checksums;
    return this.#left >= 0;
  }

  /** Whether more was asked for than there is. */
  get isUsedUp(): boolean {
    return !this.spend(0);
  }
}
