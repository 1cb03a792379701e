// A browser that has signed in to an address keeps a proof of that in a cookie. Without it, strangers who use up the address's limit of emailed codes
// could lock out its owner. The proof is an HMAC over the address: it identifies no one, signs no one in, and only serves to request a code. Codes
// for such a browser are counted per proof, and strangers do not have one.
import { lengthPrefixed, sha256Hex } from "../../lib/bytes.ts";
import { isMacOf, type Keyring, macText } from "../../lib/keyring.ts";
import { DAY_MS } from "../../lib/time.ts";

/** The longest time for which browsers keep a cookie. */
export const KNOWN_BROWSER_MS = 400 * DAY_MS;
/** The maximum number of addresses per browser: several users may share it, and a user may have several addresses. */
const MOST_ADDRESSES = 5;

interface Proof {
  readonly atMs: number;
  readonly macKeyId: string;
  readonly mac: string;
}

/** The SHA-256 of the browser's proof for the address, by which its codes are counted; undefined if `cookie` has no valid proof. */
export function knownBrowserOf(
  keys: Keyring,
  of: { readonly cookie: string | undefined; readonly emailKey: string; readonly nowMs: number },
): string | undefined {
  const proof = proofsIn(of.cookie).find((each) => proves(keys, each, of));
  return proof === undefined ? undefined : sha256Hex(textOf(proof));
}

/** The cookie's value after a sign-in to the address. Keeps the proofs of other addresses, except the oldest if there are too many. */
export function knownBrowserValue(
  keys: Keyring,
  of: { readonly cookie: string | undefined; readonly emailKey: string; readonly nowMs: number },
): string {
  const { emailKey, nowMs } = of;
  const others = proofsIn(of.cookie).filter((proof) => !proves(keys, proof, of));
  const fresh = { atMs: nowMs, ...macText(keys, proofText(emailKey, nowMs)) };
  return [fresh, ...others.slice(0, MOST_ADDRESSES - 1)].map(textOf).join("~");
}

function proves(keys: Keyring, proof: Proof, of: { readonly emailKey: string; readonly nowMs: number }): boolean {
  const { atMs } = proof;
  return atMs > of.nowMs - KNOWN_BROWSER_MS && isMacOf(keys, proofText(of.emailKey, atMs), proof);
}

function proofText(emailKey: string, atMs: number): string {
  return lengthPrefixed(["known browser", emailKey, String(atMs)]);
}

function textOf({ atMs, macKeyId, mac }: Proof): string {
  return `${atMs}.${macKeyId}.${mac}`;
}

/** The proofs in a cookie; ignores anything else. */
function proofsIn(cookie: string | undefined): readonly Proof[] {
  return (cookie ?? "").split("~", MOST_ADDRESSES).flatMap((text) => {
    const [, at, macKeyId, mac] = /^(\d{1,15})\.([A-Za-z0-9_-]{1,32})\.([0-9a-f]{64})$/.exec(text) ?? [];
    return at === undefined || macKeyId === undefined || mac === undefined ? [] : [{ atMs: Number(at), macKeyId, mac }];
  });
}
