// Finds recovery phrases inside other text. Twelve words from the list may follow each other by chance, so the checksum decides (BIP39 "Generating
// the mnemonic": 12 to 24 words of 11 bits; one bit in 33 comes from the SHA-256 of the others). The check of @scure/bip39 is not used, because it
// rebuilds its word table for each phrase (half a millisecond), and a text may contain a thousand phrases.

import { sha256 } from "@noble/hashes/sha2.js";
import { wordlist } from "@scure/bip39/wordlists/english";
import { hexToBytes } from "../../lib/bytes.ts";
import { lazily } from "../../lib/lazily.ts";
import type { ChecksumBudget } from "./checksum-budget.ts";

const indexes = lazily((): ReadonlyMap<string, number> => new Map(wordlist.map((word, index) => [word, index])));
const LENGTHS: readonly number[] = [12, 15, 18, 21, 24];
const BITS_PER_WORD = 11;

/**
 * Whether a string contains a phrase from the English list with a valid checksum, in any case and with any characters except letters between the
 * words. Also true if the budget does not cover all runs of twelve words: one checksum in sixteen is valid by chance, so no real text has that many
 * runs without a valid one.
 */
export function holdsRecoveryPhrase(text: string, budget: ChecksumBudget): boolean {
  const words =
    text
      // Normalization would expand these two Arabic ligatures to 18 and 8 letters, and no word in the list contains them.
      .replace(/[\uFDFA\uFDFB]/g, " ")
      .normalize("NFKD")
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  let row: number[] = [];
  for (const word of words) {
    const index = indexes().get(word);
    if (index === undefined) row = [];
    else row.push(index);
    for (const length of LENGTHS) {
      if (row.length < length) break;
      if (!budget.spend(1) || isChecksumValid(row.slice(-length))) return true;
    }
  }
  return false;
}

/** `indices`: the positions of 12, 15, 18, 21 or 24 words in the list. */
function isChecksumValid(indices: readonly number[]): boolean {
  const checksumBits = (indices.length * BITS_PER_WORD) / 33;
  const bits = BigInt(checksumBits);
  const all = indices.reduce((sum, index) => (sum << BigInt(BITS_PER_WORD)) | BigInt(index), 0n);
  const entropy = hexToBytes((all >> bits).toString(16).padStart(checksumBits * 8, "0"));
  const [first = 0] = sha256(entropy);
  return first >> (8 - checksumBits) === Number(all & ((1n << bits) - 1n));
}
