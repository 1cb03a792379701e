// Signs in with only a passkey. The authenticator has verified its user, so no second factor is needed.

import { sha256Hex } from "../../lib/bytes.ts";
import type { Result } from "../../lib/result.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { userOf } from "../auth/authenticate-session.ts";
import { type Browser, openSession, type SignedIn } from "../sessions/open-session.ts";
import { selectSessionByToken } from "../sessions/store.ts";
import { selectUserById } from "../users/store.ts";
import type { PasskeyDependencies } from "./begin-passkey.ts";
import type { Assertion } from "./credential.ts";
import { verifyPasskey } from "./verify-passkey.ts";

interface PasskeySignIn extends Browser {
  readonly credential: Assertion;
  /** The browser's cookies: its nonce, and its current session, if any, which ends. */
  readonly nonce: string | undefined;
  readonly oldToken: string | undefined;
}

/** Fails with PASSKEY_REFUSED if anything is wrong. Of two sign-ins with the same challenge only one succeeds. */
export async function openPasskeySession(
  deps: PasskeyDependencies,
  of: PasskeySignIn,
): Promise<Result<SignedIn, Failure>> {
  const { db } = deps;
  const { credential, nonce, ip, requestId } = of;
  const used = await verifyPasskey(deps, { kind: "PASSKEY_SIGN_IN", credential, nonce, trail: { ip, requestId } });
  if (!used.ok) return used;
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(db, [selectUserById(db, used.value.userId), selectSessionByToken(db, sha256Hex(of.oldToken ?? ""))]),
  );
  if (!rows.ok) return rows;
  const [[known], [oldSession]] = rows.value;
  if (known === undefined) throw new Error(`the passkey ${used.value.passkeyId} has no user`);
  const user = userOf(known.user, known.links);
  const given = { signedInWith: "PASSKEY", factor: "PASSKEY" } as const;
  return changeOnce(deps, { name: "a sign-in", refusal: { code: "PASSKEY_REFUSED" } }, ({ operationId }) => {
    const opened = openSession(deps, { user, ...given, browser: of, replaced: oldSession }, operationId);
    return { value: opened.signedIn, statements: [...used.value.statements, ...opened.statements] };
  });
}
