// A set-up link: anyone who can deploy makes one (scripts/setup-link.ts). It works once, within 24 hours, and makes its redeemer an operator. Its
// token is in the fragment of the link, which is never sent to a server; storage has only the hash.
import { sha256Hex } from "../../lib/bytes.ts";
import type { UserId } from "../../lib/ids.ts";
import { HOUR_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";

export const SET_UP_LINK_LIFETIME_MS = 24 * HOUR_MS;

interface SetUpLink {
  readonly tokenHash: string;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
}

/** The stored form of a link's token. */
export function linkHashOf(token: string): string {
  return sha256Hex(token);
}

/** Whether the link can be redeemed now. */
export function isRedeemable(link: SetUpLink | undefined, nowMs: number): link is SetUpLink {
  return link !== undefined && link.usedAtMs === null && nowMs < link.expiresAtMs;
}

/** The data stored with the challenge for a set-up's passkey. */
export interface SetUpChallenge {
  readonly linkHash: string;
  /** As the operator typed it. */
  readonly email: string;
  readonly name: string;
}

/** A stored challenge, if it was given to the holder of this link and is live. */
export function challengeOf(
  given:
    | {
        readonly kind: string;
        readonly userId: UserId | null;
        readonly data: string | null;
        readonly expiresAtMs: number;
      }
    | undefined,
  linkHash: string,
  nowMs: number,
): (SetUpChallenge & { readonly userId: UserId }) | undefined {
  if (given?.kind !== "SET_UP" || given.userId === null || given.data === null || nowMs >= given.expiresAtMs)
    return undefined;
  const challenge = parseJson<SetUpChallenge>(given.data);
  return challenge.linkHash === linkHash ? { ...challenge, userId: given.userId } : undefined;
}
