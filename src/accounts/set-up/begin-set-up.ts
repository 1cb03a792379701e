// The first half of a set-up: the options for the future operator's passkey. Writes nothing without a link that can be redeemed.
import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import { emailKeyOf } from "../../lib/email.ts";
import { makeId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { keepChallenge, newChallenge, type PasskeyDependencies } from "../passkeys/begin-passkey.ts";
import { relyingPartyOf } from "../passkeys/credential.ts";
import { creationOptions } from "../passkeys/options.ts";
import { selectCredentials } from "../passkeys/store.ts";
import { selectUserByEmail } from "../users/store.ts";
import { isRedeemable, linkHashOf, type SetUpChallenge } from "./set-up-link.ts";
import { selectSetUpLink } from "./store.ts";

interface SetUpToBegin {
  readonly token: string;
  readonly email: string;
  readonly name: string;
}

/** Fails with SETUP_LINK_INVALID if the link is unknown, used or expired. The challenge works once, for 5 minutes, with this link. */
export async function beginSetUp(
  deps: PasskeyDependencies,
  { token, email, name }: SetUpToBegin,
): Promise<Result<PublicKeyCredentialCreationOptionsJSON, Failure>> {
  const { db, nowMs } = deps;
  const linkHash = linkHashOf(token);
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(db, [selectSetUpLink(db, linkHash), selectUserByEmail(db, emailKeyOf(email))]),
  );
  if (!rows.ok) return rows;
  const [[link], [known]] = rows.value;
  if (!isRedeemable(link, nowMs)) return err({ code: "SETUP_LINK_INVALID" });
  const user = known?.user ?? { id: makeId("usr", deps.newOperationId()), email, name };
  const own = await readWithRetry(deps.sleep, async () => selectCredentials(db, user.id));
  if (!own.ok) return own;
  const rpId = relyingPartyOf(deps.publicUrl).id;
  const options = creationOptions({ rpId, challenge: newChallenge(), user, registered: own.value });
  const data = JSON.stringify({ linkHash, email, name } satisfies SetUpChallenge);
  const given = { kind: "SET_UP", userId: user.id, sessionId: null, data } as const;
  const kept = await keepChallenge(deps, options.challenge, given);
  return kept.ok ? ok(options) : kept;
}
