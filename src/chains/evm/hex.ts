import type { Hex } from "viem";
import { isHex } from "viem/utils";

/** The text as viem's type. For text that a schema or the registry has already checked. */
export function hexOf(text: string): Hex {
  if (!isHex(text)) throw new Error("the text is not hexadecimal");
  return text;
}
