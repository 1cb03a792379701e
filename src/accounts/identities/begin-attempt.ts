// Sends a browser to a provider. The attempt is stored encrypted under the hash of its state, and bound to the browser by its nonce cookie. Its
// secrets are never logged, and never stored in plain text.

import { sha256Hex } from "../../lib/bytes.ts";
import type { SessionId, UserId } from "../../lib/ids.ts";
import type { Keyring } from "../../lib/keyring.ts";
import { log } from "../../lib/log.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { seal } from "../../lib/seal.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { commitBatch } from "../../platform/db/commit-batch.ts";
import type { Failure } from "../../platform/failures.ts";
import { parseProvider } from "../security-policies/providers.ts";
import type { SignInProvider } from "../security-policies/security-policy.ts";
import { newToken } from "../sessions/open-session.ts";
import { ATTEMPT_LIFETIME_MS, type Attempt, attemptContext, isToken } from "./attempt.ts";
import type { ProviderProblem } from "./identity.ts";
import type { ProviderClient } from "./provider-client.ts";
import { insertAttempt, selectAttempt } from "./store.ts";

export interface AttemptDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  /** The keys in SECRETS_AES_KEY. */
  readonly keys: Keyring;
  /** Undefined if the provider is not configured. */
  readonly client: (provider: SignInProvider) => ProviderClient | undefined;
}

export interface AttemptToBegin {
  /** The provider's name in the path. */
  readonly provider: string | undefined;
  /** The browser's nonce cookie. An existing one is kept, so that an attempt in another tab stays valid. */
  readonly browserToken: string | undefined;
  readonly returnTo: string;
  /** The user and session to link the account to; null to sign in. */
  readonly linkTo: { readonly userId: UserId; readonly sessionId: SessionId } | null;
}

interface Begun {
  /** The provider's page that the browser must open. */
  readonly url: string;
  /** The value of the browser's nonce cookie. */
  readonly browserToken: string;
}

/** Fails with PROVIDER_NOT_CONFIGURED, also for an unknown provider, or with PROVIDER_UNAVAILABLE if its authorization URL cannot be found. */
export async function beginAttempt(deps: AttemptDependencies, of: AttemptToBegin): Promise<Result<Begun, Failure>> {
  const found = clientOf(deps, of.provider);
  if (!found.ok) return found;
  const { provider, client } = found.value;
  const secrets = { state: newToken(), nonce: newToken(), codeVerifier: newToken() };
  const url = await client.authorizeUrl(secrets);
  if (!url.ok) return err(failureOf(provider, url.error));
  const browserToken = isToken(of.browserToken) ? of.browserToken : newToken();
  const { state, ...kept } = secrets;
  const stored = await store(deps, of.linkTo, sha256Hex(state), {
    ...kept,
    provider,
    purpose: of.linkTo === null ? "SIGN_IN" : "LINK",
    browserHash: sha256Hex(browserToken),
    returnTo: of.returnTo,
  });
  return stored.ok ? ok({ url: url.value, browserToken }) : stored;
}

async function store(
  deps: AttemptDependencies,
  linkTo: AttemptToBegin["linkTo"],
  hash: string,
  attempt: Attempt,
): Promise<Result<void, Failure>> {
  const { db, nowMs } = deps;
  const row = {
    hash,
    kind: "OAUTH",
    userId: linkTo?.userId ?? null,
    sessionId: linkTo?.sessionId ?? null,
    data: await seal(deps.keys, attemptContext(hash), JSON.stringify(attempt)),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + ATTEMPT_LIFETIME_MS,
  } as const;
  const committed = await commitBatch(deps, () => selectAttempt(db, hash), [insertAttempt(db, row)]);
  return committed.kind === "committed" ? ok(undefined) : err({ code: "STORAGE_UNAVAILABLE" });
}

/** The provider named in the path, with its client. */
export function clientOf(
  deps: Pick<AttemptDependencies, "client">,
  name: string | undefined,
): Result<{ readonly provider: SignInProvider; readonly client: ProviderClient }, Failure> {
  const provider = parseProvider(name);
  // An unknown name is not repeated in the response.
  if (provider === undefined) return err({ code: "PROVIDER_NOT_CONFIGURED", provider: "this provider" });
  const client = deps.client(provider);
  return client === undefined ? err({ code: "PROVIDER_NOT_CONFIGURED", provider }) : ok({ provider, client });
}

/**
 * The failure to return for a provider's problem. An outage is also logged: a wrong client secret is one possible cause, and only the operator can
 * correct it.
 */
export function failureOf(provider: SignInProvider, problem: ProviderProblem): Failure {
  if (problem.kind === "REFUSED") return { code: "SIGN_IN_REFUSED", reason: problem.reason };
  log("warn", { provider, problem: problem.problem });
  return { code: "PROVIDER_UNAVAILABLE", provider };
}
