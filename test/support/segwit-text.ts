import { bech32, bech32m } from "@scure/base";
import type { WitnessProgram } from "../../src/chains/encodings/segwit.ts";

/** The lower-case text of a witness program (BIP173, BIP350), of any version and length, including unspendable ones. */
export function encodeSegwit({ hrp, version, program }: WitnessProgram): string {
  const words = [version, ...bech32.toWords(program)];
  return version === 0 ? bech32.encode(hrp, words) : bech32m.encode(hrp, words);
}
