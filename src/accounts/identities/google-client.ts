// Google, or any other OpenID Connect provider with the configured issuer: discovery, the code flow, and an ID token whose issuer, audience,
// expiry, nonce and signature are all checked (OpenID Connect Core 3.1.3.7).
import * as oauth from "oauth4webapi";
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { type GoogleClient, isEndpoint } from "../security-policies/providers.ts";
import type { ProvedIdentity, ProviderProblem } from "./identity.ts";
import {
  type AskOptions,
  type AttemptSecrets,
  askProvider,
  authorizeUrlOf,
  type CallbackAnswer,
  type ProviderClient,
  type ProviderDependencies,
  refused,
  signatureProblemOf,
  unavailable,
} from "./provider-client.ts";

const SCOPE = "openid email";

const claimsOf = lazily(() => z.object({ sub: z.string().min(1).max(255) }));
const verifiedEmail = lazily(() => z.object({ email: z.email().max(320), email_verified: z.literal(true) }));

export function googleClient(deps: ProviderDependencies, of: GoogleClient): ProviderClient {
  return {
    authorizeUrl: (attempt) => askProvider(deps, (options) => authorizeUrl(deps, of, attempt, options)),
    identify: (attempt, answer) => askProvider(deps, (options) => identify(deps, of, { attempt, answer, options })),
  };
}

/** Fetched in each step of an attempt, because the keys and endpoints must be current. */
async function discover({ issuer }: GoogleClient, options: AskOptions): Promise<oauth.AuthorizationServer> {
  const expected = new URL(issuer);
  return oauth.processDiscoveryResponse(expected, await oauth.discoveryRequest(expected, options));
}

async function authorizeUrl(
  deps: ProviderDependencies,
  of: GoogleClient,
  attempt: AttemptSecrets,
  options: AskOptions,
): Promise<Result<string, ProviderProblem>> {
  const { authorization_endpoint: endpoint } = await discover(of, options);
  if (endpoint === undefined || !isEndpoint(endpoint, deps.isLoopbackAllowed))
    return unavailable("its metadata has no authorization endpoint with https");
  const { clientId } = of;
  const url = await authorizeUrlOf(endpoint, { ...attempt, clientId, redirectUri: deps.redirectUri, scope: SCOPE });
  url.searchParams.set("nonce", attempt.nonce);
  return ok(url.href);
}

async function identify(
  deps: ProviderDependencies,
  of: GoogleClient,
  step: { readonly attempt: AttemptSecrets; readonly answer: CallbackAnswer; readonly options: AskOptions },
): Promise<Result<ProvedIdentity, ProviderProblem>> {
  const { attempt, answer, options } = step;
  const client: oauth.Client = { client_id: of.clientId };
  const server = await discover(of, options);
  const parameters = validCallback(server, client, attempt, answer);
  if (parameters === undefined) return refused("the response does not come from the provider of this sign-in");
  const secret = oauth.ClientSecretPost(of.clientSecret);
  const { redirectUri } = deps;
  const { codeVerifier, nonce } = attempt;
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    secret,
    parameters,
    redirectUri,
    codeVerifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  try {
    await oauth.validateApplicationLevelSignature(server, response, options);
  } catch (error) {
    return err(signatureProblemOf(error));
  }
  return identityIn(oauth.getValidatedIdTokenClaims(tokens));
}

/**
 * Undefined if the response is from another issuer (RFC 9207). The library checks the state again, although it was already used to find the attempt.
 */
function validCallback(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  { state }: AttemptSecrets,
  { code, iss }: CallbackAnswer,
): URLSearchParams | undefined {
  const parameters = new URLSearchParams({ code, state, ...(iss === undefined ? {} : { iss }) });
  try {
    return oauth.validateAuthResponse(server, client, parameters, state);
  } catch (error) {
    if (error instanceof oauth.OperationProcessingError) return undefined;
    throw error;
  }
}

function identityIn(claims: unknown): Result<ProvedIdentity, ProviderProblem> {
  const subject = claimsOf().safeParse(claims);
  if (!subject.success) return refused("the ID token is not valid");
  const email = verifiedEmail().safeParse(claims);
  if (!email.success)
    return refused("the email address of the Google account is missing or not verified; verify it at Google first");
  return ok({ provider: "google", subject: subject.data.sub, email: email.data.email });
}
