// Finishes an attempt when the browser comes back from a provider. The attempt is deleted first, so that a state works only once, even if the rest
// fails. Then the code is exchanged, and the provider's identity is signed in, or linked to the user of the session that began the attempt.

import { equalDigests, sha256Hex } from "../../lib/bytes.ts";
import type { RequestId, SessionId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { unseal } from "../../lib/seal.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { authenticateUser } from "../auth/authenticate-session.ts";
import type { UserPrincipal } from "../auth/principal.ts";
import type { SignInProvider } from "../security-policies/security-policy.ts";
import { type Attempt, attemptContext, isToken, parseAttempt } from "./attempt.ts";
import { type AttemptDependencies, clientOf, failureOf } from "./begin-attempt.ts";
import type { IdentityKey } from "./identity.ts";
import { linkIdentity } from "./link-identity.ts";
import { type IdentitySession, openIdentitySession, type SignInDependencies } from "./open-identity-session.ts";
import { takeAttempt } from "./store.ts";

export interface Callback {
  /** The provider's name in the path. */
  readonly provider: string | undefined;
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly iss: string | undefined;
  /** The provider's error code; never repeated in a response. */
  readonly error: string | undefined;
  /** The browser's cookies. */
  readonly browserToken: string | undefined;
  readonly sessionToken: string | undefined;
  readonly knownBrowser: string | undefined;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: RequestId;
}

export type Finished = { readonly returnTo: string } & (
  | IdentitySession
  | { readonly kind: "LINKED"; readonly identity: IdentityKey & { readonly email: string } }
);

interface Taken {
  readonly attempt: Attempt;
  readonly sessionId: SessionId | null;
}

/**
 * Fails with SIGN_IN_REFUSED and the reason, with PROVIDER_UNAVAILABLE, or with IDENTITY_TAKEN when linking. After any of them the user must start
 * again.
 */
export async function finishAttempt(
  deps: AttemptDependencies & SignInDependencies,
  of: Callback,
): Promise<Result<Finished, Failure>> {
  const found = clientOf(deps, of.provider);
  if (!found.ok) return found;
  const { provider, client } = found.value;
  const taken = await takeOwn(deps, of, provider);
  if (!taken.ok) return taken;
  const { attempt, sessionId } = taken.value;
  const { state = "", code = "", iss } = of;
  if (of.error !== undefined) return refused(errorReason(of.error));
  if (code === "") return refused("the provider sent no code");
  const linking = attempt.purpose === "LINK" ? await linkingSession(deps, of, sessionId) : ok(undefined);
  if (!linking.ok) return linking;
  const proved = await client.identify(
    { state, nonce: attempt.nonce, codeVerifier: attempt.codeVerifier },
    { code, iss },
  );
  if (!proved.ok) return err(failureOf(provider, proved.error));
  const { returnTo } = attempt;
  const identity = proved.value;
  if (linking.value !== undefined) {
    const linked = await linkIdentity(deps, { identity, principal: linking.value, ip: of.ip, requestId: of.requestId });
    return linked.ok ? ok({ kind: "LINKED", identity, returnTo }) : linked;
  }
  const opened = await openIdentitySession(deps, { ...of, identity, browserHash: attempt.browserHash });
  return opened.ok ? ok({ ...opened.value, returnTo }) : opened;
}

/** Refuses in the same way if the state is unknown, used, expired, or belongs to another provider or browser, so that the refusal reveals nothing. */
async function takeOwn(
  deps: AttemptDependencies,
  of: Callback,
  provider: SignInProvider,
): Promise<Result<Taken, Failure>> {
  const none = refused("the attempt is unknown, used, expired or from another browser; start again");
  const { state, browserToken } = of;
  if (!isToken(state)) return none;
  const hash = sha256Hex(state);
  // Repeating is safe: at worst the row was deleted but not read, and the user must start again.
  const rows = await readWithRetry(deps.sleep, async () => takeAttempt(deps.db, hash));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  if (row === undefined || row.data === null || deps.nowMs >= row.expiresAtMs) return none;
  const opened = await unseal(deps.keys, attemptContext(hash), row.data);
  if (opened === undefined) return none;
  const attempt = parseAttempt(opened);
  const isOwn = browserToken !== undefined && equalDigests(sha256Hex(browserToken), attempt.browserHash);
  return isOwn && attempt.provider === provider ? ok({ attempt, sessionId: row.sessionId }) : none;
}

/** The session that began the link, if it is live and belongs to this browser. */
async function linkingSession(
  deps: AttemptDependencies,
  { sessionToken = "" }: Callback,
  sessionId: SessionId | null,
): Promise<Result<UserPrincipal, Failure>> {
  const credentials = { token: sessionToken, nowMs: deps.nowMs, sleep: deps.sleep, mayOweFactor: false };
  const caller = await authenticateUser(deps.db, credentials, []);
  if (!caller.ok && caller.error.code === "STORAGE_UNAVAILABLE") return caller;
  if (caller.ok && caller.value.principal.session.id === sessionId) return ok(caller.value.principal);
  return refused("the session that began the link has ended, or this browser has another session now; start again");
}

function errorReason(error: string): string {
  return error === "access_denied" ? "you cancelled it at the provider" : "the provider reported an error";
}

function refused(reason: string) {
  return err<Failure>({ code: "SIGN_IN_REFUSED", reason });
}
