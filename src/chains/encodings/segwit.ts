// Witness programs as text (BIP173, BIP350): human-readable part, "1", version, program in 5-bit words, checksum of six characters.
// @scure/btc-signer decodes the addresses that receive payments (address.ts). This file identifies other texts, of any chain, and finds what
// is wrong with them.
import { bech32, bech32m } from "@scure/base";
import { err, ok, type Result } from "../../lib/result.ts";

export interface WitnessProgram {
  readonly hrp: string;
  readonly version: number;
  readonly program: Uint8Array;
}

/** BIP173: at most 90 characters in all. */
const MAX_LENGTH = 90;

/** Decodes by the rules of BIP173 and BIP350, whatever the human-readable part: version 0 is bech32, 1 to 16 are bech32m. */
export function decodeSegwit(text: string): Result<WitnessProgram, string> {
  if (text !== text.toLowerCase() && text !== text.toUpperCase())
    return err("it mixes upper and lower case; write it in lower case");
  const plain = bech32.decodeUnsafe(text, MAX_LENGTH);
  const decoded = plain ?? bech32m.decodeUnsafe(text, MAX_LENGTH);
  if (decoded === undefined) return err("its checksum fails: a character is wrong or missing");
  const [version, ...words] = decoded.words;
  if (version === undefined || version > 16) return err("its witness version is missing or above 16");
  if (version === 0 && plain === undefined) return err("witness version 0 must be encoded as bech32, not bech32m");
  if (version !== 0 && plain !== undefined)
    return err("witness version 1 and above must be encoded as bech32m, not bech32");
  const program = bech32.fromWordsUnsafe(words) ?? undefined;
  if (program === undefined || program.length < 2 || program.length > 40)
    return err("its witness program is malformed");
  if (version === 0 && program.length !== 20 && program.length !== 32)
    return err("its witness program has the wrong length");
  return ok({ hrp: decoded.prefix, version, program });
}
