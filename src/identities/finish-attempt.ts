// A browser comes back from a provider. The attempt is taken away before anything else, so that a state works once whatever becomes of it;
// then the code is exchanged, and whoever the provider vouches for is signed in, or linked to the session that asked (security.md 1).
import { authenticatePerson } from "../auth/authenticate-session.ts";
import type { PersonPrincipal } from "../auth/principal.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { equalDigests, sha256Hex } from "../lib/bytes.ts";
import type { RequestId, SessionId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { unseal } from "../lib/seal.ts";
import type { SignInProvider } from "../teams/security-policy.ts";
import { type Attempt, attemptContext, isToken, parseAttempt } from "./attempt.ts";
import { type AttemptEffects, clientOf, failureOf } from "./begin-attempt.ts";
import type { IdentityKey } from "./identity.ts";
import { linkIdentity } from "./link-identity.ts";
import { type IdentitySession, openIdentitySession, type SignInEffects } from "./open-identity-session.ts";
import { takeAttempt } from "./store.ts";

export interface Callback {
  /** As the path names it. */
  readonly provider: string | undefined;
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly iss: string | undefined;
  /** What the provider says went wrong; looked at, never repeated. */
  readonly error: string | undefined;
  /** The browser's cookies. */
  readonly browserToken: string | undefined;
  readonly sessionToken: string | undefined;
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

/** SIGN_IN_REFUSED with why; PROVIDER_UNAVAILABLE; IDENTITY_TAKEN when linking. After any of them the person starts again. */
export async function finishAttempt(
  fx: AttemptEffects & SignInEffects,
  of: Callback,
): Promise<Result<Finished, Failure>> {
  const found = clientOf(fx, of.provider);
  if (!found.ok) return found;
  const { provider, client } = found.value;
  const taken = await takeOwn(fx, of, provider);
  if (!taken.ok) return taken;
  const { attempt, sessionId } = taken.value;
  const { state = "", code = "", iss } = of;
  if (of.error !== undefined) return refused(errorReason(of.error));
  if (code === "") return refused("the provider sent no code");
  const linking = attempt.purpose === "LINK" ? await linkingSession(fx, of, sessionId) : ok(undefined);
  if (!linking.ok) return linking;
  const proved = await client.identify(
    { state, nonce: attempt.nonce, codeVerifier: attempt.codeVerifier },
    { code, iss },
  );
  if (!proved.ok) return err(failureOf(provider, proved.error));
  const { returnTo } = attempt;
  const identity = proved.value;
  if (linking.value !== undefined) {
    const linked = await linkIdentity(fx, { identity, principal: linking.value, ip: of.ip, requestId: of.requestId });
    return linked.ok ? ok({ kind: "LINKED", identity, returnTo }) : linked;
  }
  const opened = await openIdentitySession(fx, { ...of, identity, browserHash: attempt.browserHash });
  return opened.ok ? ok({ ...opened.value, returnTo }) : opened;
}

/** One answer for a state that is unknown, used, expired, another provider's or another browser's: which, is nobody's to know. */
async function takeOwn(fx: AttemptEffects, of: Callback, provider: SignInProvider): Promise<Result<Taken, Failure>> {
  const none = refused("the attempt is unknown, used, expired or another browser's; start again");
  const { state, browserToken } = of;
  if (!isToken(state)) return none;
  const hash = sha256Hex(state);
  // Repeating is safe: at worst the row is gone without having been seen, and the person starts again.
  const rows = await readWithRetry(fx.sleep, async () => takeAttempt(fx.db, hash));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  if (row === undefined || row.data === null || fx.nowMs >= row.expiresAtMs) return none;
  const opened = await unseal(fx.keys, attemptContext(hash), row.data);
  if (opened === undefined) return none;
  const attempt = parseAttempt(opened);
  const isOwn = browserToken !== undefined && equalDigests(sha256Hex(browserToken), attempt.browserHash);
  return isOwn && attempt.provider === provider ? ok({ attempt, sessionId: row.sessionId }) : none;
}

/** The session that asked for the link, live and in this browser. */
async function linkingSession(
  fx: AttemptEffects,
  { sessionToken = "" }: Callback,
  sessionId: SessionId | null,
): Promise<Result<PersonPrincipal, Failure>> {
  const credentials = { token: sessionToken, nowMs: fx.nowMs, sleep: fx.sleep, mayOweFactor: false };
  const caller = await authenticatePerson(fx.db, credentials, []);
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
