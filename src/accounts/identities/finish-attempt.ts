// A browser comes back from a provider. The attempt is deleted before anything else, so that a state works only once, even if the rest fails.
// Then the code is exchanged, and the identity that the provider vouches for is signed in, or linked to the session that asked.

import { equalDigests, sha256Hex } from "../../lib/bytes.ts";
import type { RequestId, SessionId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { unseal } from "../../lib/seal.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { authenticateUser } from "../auth/authenticate-session.ts";
import type { UserPrincipal } from "../auth/principal.ts";
import type { SignInProvider } from "../teams/security-policy.ts";
import { type Attempt, attemptContext, isToken, parseAttempt } from "./attempt.ts";
import { type AttemptDependencies, clientOf, failureOf } from "./begin-attempt.ts";
import type { IdentityKey } from "./identity.ts";
import { linkIdentity } from "./link-identity.ts";
import { type IdentitySession, openIdentitySession, type SignInDependencies } from "./open-identity-session.ts";
import { takeAttempt } from "./store.ts";

export interface Callback {
  /** As the path names it. */
  readonly provider: string | undefined;
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly iss: string | undefined;
  /** What the provider says went wrong; read, never repeated. */
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

/** SIGN_IN_REFUSED with why; PROVIDER_UNAVAILABLE; IDENTITY_TAKEN when linking. After any of them the user starts again. */
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

/** The same answer for a state that is unknown, used, expired, another provider's or another browser's: it must not reveal which. */
async function takeOwn(
  deps: AttemptDependencies,
  of: Callback,
  provider: SignInProvider,
): Promise<Result<Taken, Failure>> {
  const none = refused("the attempt is unknown, used, expired or another browser's; start again");
  const { state, browserToken } = of;
  if (!isToken(state)) return none;
  const hash = sha256Hex(state);
  // Repeating is safe: at worst the row was deleted without being read, and the user starts again.
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

/** The session that asked for the link, live and in this browser. */
async function linkingSession(
  deps: AttemptDependencies,
  { sessionToken = "" }: Callback,
  sessionId: SessionId | null,
): Promise<Result<UserPrincipal, Failure>> {
  const credentials = { token: sessionToken, nowMs: deps.nowMs, sleep: deps.sleep, mayOweFactor: false };
  const caller = await authenticateUser(deps.db, credentials, []);
  if (!caller.ok && caller.error.code === "STORAGE_UNAVAILABLE") return caller;
  if (caller.ok && caller.value.principal.session.id === sessionId) return ok(caller.value.principal);
  return refused("the session that asked for the link is over, or another one is signed in now");
}

function errorReason(error: string): string {
  return error === "access_denied" ? "it was cancelled at the provider" : "the provider reported an error";
}

function refused(reason: string) {
  return err<Failure>({ code: "SIGN_IN_REFUSED", reason });
}
