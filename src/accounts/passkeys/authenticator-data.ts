import type { parseAuthenticatorData } from "@simplewebauthn/server/helpers";
import { bytesToHex, sha256Hex } from "../../lib/bytes.ts";

/**
 * Steps that WebAuthn level 3, 7.1 and 7.2 share: made for this RP id, by a user who was there and was verified, and backed up only if it
 * can be.
 */
export function isMadeFor(
  rpId: string,
  { rpIdHash, flags }: Pick<ReturnType<typeof parseAuthenticatorData>, "rpIdHash" | "flags">,
): boolean {
  return bytesToHex(rpIdHash) === sha256Hex(rpId) && flags.up && flags.uv && (flags.be || !flags.bs);
}
