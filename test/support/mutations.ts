import fc from "fast-check";

/** The text with one character replaced by another of the alphabet, at any position from `from`. */
export function mutationOf(text: string, alphabet: string, from = 0): fc.Arbitrary<string> {
  return fc
    .record({ at: fc.integer({ min: from, max: text.length - 1 }), to: fc.constantFrom(...alphabet) })
    .map(({ at, to }) => text.slice(0, at) + to + text.slice(at + 1))
    .filter((mutated) => mutated !== text);
}

export const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
export const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
