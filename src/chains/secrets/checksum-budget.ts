// Limits the cost of searching one body for private keys. Finding base58 and listed words is fast, but the checksum of each candidate takes time. An
// attacker can fill any number of fields with candidates, so the whole body has one budget.
import { LIMITS } from "../../lib/limits.ts";

export class ChecksumBudget {
  #left = LIMITS.checksumsPerBody;

  /** Pays for the checksum of a string. An extended key takes as long as three shorter ones. */
  pays(text: string): boolean {
    return this.spend(text.length > 64 ? 3 : 1);
  }

  /** False if too little of the budget is left; from then on every call returns false. */
  spend(checksums: number): boolean {
    this.#left -= checksums;
    return this.#left >= 0;
  }

  /** Whether more was requested than the budget held. */
  get isUsedUp(): boolean {
    return !this.spend(0);
  }
}
