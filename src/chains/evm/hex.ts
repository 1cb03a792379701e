import type { Hex } from "viem";
import { isHex } from "viem/utils";

/** Text that a schema or a registry vouches for, as viem takes it. */
export function hexOf(text: string): Hex {
  if (!isHex(text)) throw new Error("text that is not hexadecimal");
  return text;
}
