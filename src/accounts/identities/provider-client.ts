// The interface of a sign-in provider's client, and the requests to it: one time limit, a limited response size, no redirects, only https (in
// development also http to localhost). A provider may hang, send an HTML page or send false data: each of these becomes a named problem, never an
// exception, and the provider's text is never passed on.
import * as oauth from "oauth4webapi";
import { readBytes } from "../../lib/read-bytes.ts";
import { err, type Result } from "../../lib/result.ts";
import { abortedAfter } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { isEndpoint } from "../security-policies/providers.ts";
import type { ProvedIdentity, ProviderProblem } from "./identity.ts";

/** The time limit of all requests of one step, bodies included. */
export const PROVIDER_LIMIT_MS = 5 * SECOND_MS;
const LIMIT_BYTES = 262_144;

/** Secrets of an attempt. The state and the nonce pass through the browser in URLs; the code verifier is only sent to the provider. */
export interface AttemptSecrets {
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier. */
  readonly codeVerifier: string;
}

/** The parameters with which the provider sent the browser back. */
export interface CallbackAnswer {
  readonly code: string;
  /** The issuer (RFC 9207); absent if the provider does not send it. */
  readonly iss: string | undefined;
}

export interface ProviderClient {
  /** The provider's page that the browser must open. */
  authorizeUrl(attempt: AttemptSecrets): Promise<Result<string, ProviderProblem>>;
  /** Identifies the account to which the code belongs. Must not be repeated, because a code works only once. */
  identify(attempt: AttemptSecrets, answer: CallbackAnswer): Promise<Result<ProvedIdentity, ProviderProblem>>;
}

export interface ProviderDependencies {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  /** Whether plain http to localhost is allowed, for development. */
  readonly isLoopbackAllowed: boolean;
}

/** A request by the library or by our own code. */
interface Ask {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams | undefined;
}

/** The options for the library's calls. */
export interface AskOptions {
  readonly [oauth.customFetch]: (url: string, ask: Ask) => Promise<Response>;
  readonly [oauth.allowInsecureRequests]: boolean;
}

/** Thrown if the provider gave no usable response. */
class OutageError extends Error {
  override readonly name = "OutageError";
}

export function refused(reason: string) {
  return err<ProviderProblem>({ kind: "REFUSED", reason });
}

export function unavailable(problem: string) {
  return err<ProviderProblem>({ kind: "UNAVAILABLE", problem });
}

/** Runs one step against a provider within the time limit; `problemOf` turns a thrown error into a problem. */
export function askProvider<T>(
  deps: ProviderDependencies,
  step: (options: AskOptions) => Promise<Result<T, ProviderProblem>>,
): Promise<Result<T, ProviderProblem>> {
  return abortedAfter(PROVIDER_LIMIT_MS, async (signal) => {
    try {
      return await step({
        [oauth.customFetch]: (url, ask) => boundedFetch(deps, { ...ask, url, signal }),
        [oauth.allowInsecureRequests]: deps.isLoopbackAllowed,
      });
    } catch (error) {
      return err(problemOf(error));
    }
  });
}

/** The response with its whole body. Keeps only the status and the content type, because no other header is used. */
async function boundedFetch(
  deps: ProviderDependencies,
  of: Ask & { readonly url: string; readonly signal: AbortSignal },
): Promise<Response> {
  const { url, signal, method = "GET", body = null } = of;
  if (!isEndpoint(url, deps.isLoopbackAllowed)) throw new OutageError("an endpoint does not use https");
  const headers = { ...of.headers, "user-agent": "edgetill" };
  try {
    const response = await deps.fetch(url, { method, headers, body, signal, redirect: "manual" });
    const { status } = response;
    const type = response.headers.get("content-type") ?? "";
    if (status === 204 || status === 304) throw new OutageError(`status ${status}`);
    return new Response(await boundedText(response), { status, headers: { "content-type": type } });
  } catch (error) {
    if (error instanceof OutageError) throw error;
    throw new OutageError(signal.aborted ? "no response within the time limit" : "it cannot be reached");
  }
}

async function boundedText({ body }: Response): Promise<string> {
  const { bytes, isWhole } = await readBytes(body, { limitBytes: LIMIT_BYTES });
  if (!isWhole) throw new OutageError("its response is too large");
  return new TextDecoder().decode(bytes);
}

/** The error codes of RFC 6749 and of GitHub for a code that is wrong, was already used or belongs to another client. */
const WRONG_CODE: readonly string[] = ["invalid_grant", "bad_verification_code"];

/** Readable names of ID token claims. */
const CLAIMS: Readonly<Record<string, string>> = { nonce: "nonce", iss: "issuer", aud: "audience", azp: "audience" };

/** Describes the library's error in our own words, because its messages and causes contain what the provider sent. */
function problemOf(error: unknown): ProviderProblem {
  if (error instanceof OutageError) return { kind: "UNAVAILABLE", problem: error.message };
  if (error instanceof oauth.ResponseBodyError) {
    if (WRONG_CODE.includes(error.error))
      return { kind: "REFUSED", reason: "the provider did not accept the code; start again" };
    return { kind: "UNAVAILABLE", problem: `status ${error.status} with an OAuth error` };
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return { kind: "UNAVAILABLE", problem: "it did not accept the client id and secret" };
  const code = codeOf(error);
  if (code === oauth.JWT_TIMESTAMP_CHECK)
    return { kind: "REFUSED", reason: "the ID token has expired or is not valid yet" };
  if (code === oauth.JWT_CLAIM_COMPARISON) return { kind: "REFUSED", reason: wrongClaim(error) };
  if (isAboutToken(error, code)) return { kind: "REFUSED", reason: "the ID token is not valid" };
  return { kind: "UNAVAILABLE", problem: `an invalid response (${code ?? "unknown"})` };
}

/** Describes an error in checking the signature: any error except an outage of the key endpoint means that the signature is not the provider's. */
export function signatureProblemOf(error: unknown): ProviderProblem {
  const code = codeOf(error);
  const isOutage = [oauth.RESPONSE_IS_NOT_CONFORM, oauth.RESPONSE_IS_NOT_JSON, oauth.PARSE_ERROR].some(
    (each) => each === code,
  );
  if (isOutage || code === undefined) return problemOf(error);
  return { kind: "REFUSED", reason: "the ID token is not signed by the provider" };
}

function wrongClaim(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const claim = typeof cause === "object" && cause !== null && "claim" in cause ? String(cause.claim) : "";
  return `the ID token has another ${CLAIMS[claim] ?? "claim"} than expected`;
}

/** Whether the token itself is wrong. If the response around it is wrong instead, the cause of the library's error holds the whole body. */
function isAboutToken(error: unknown, code: string | undefined): boolean {
  if (code !== oauth.INVALID_RESPONSE && code !== oauth.UNSUPPORTED_OPERATION) return false;
  const cause = error instanceof Error ? error.cause : undefined;
  return !(typeof cause === "object" && cause !== null && "body" in cause);
}

function codeOf(error: unknown): string | undefined {
  const isKnown = error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError;
  return isKnown ? error.code : undefined;
}

/** The authorization request of RFC 6749 4.1.1, with PKCE S256. */
export async function authorizeUrlOf(
  endpoint: string,
  of: {
    readonly clientId: string;
    readonly redirectUri: string;
    readonly scope: string;
    readonly state: string;
    readonly codeVerifier: string;
  },
): Promise<URL> {
  const url = new URL(endpoint);
  url.searchParams.set("client_id", of.clientId);
  url.searchParams.set("redirect_uri", of.redirectUri);
  url.searchParams.set("response_type", "code");
  url.searchParams.set("scope", of.scope);
  url.searchParams.set("state", of.state);
  url.searchParams.set("code_challenge", await oauth.calculatePKCECodeChallenge(of.codeVerifier));
  url.searchParams.set("code_challenge_method", "S256");
  return url;
}
