// GitHub: OAuth with PKCE, without an ID token. Its API identifies the account of the access token, which is not stored.
import * as oauth from "oauth4webapi";
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { GithubClient } from "../security-policies/providers.ts";
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
  unavailable,
} from "./provider-client.ts";

/** Gives access to the email addresses; the public profile needs no scope. */
const SCOPE = "user:email";

const account = lazily(() => z.object({ id: z.int().positive() }));
const emails = lazily(() => z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() })));
const bareEmail = lazily(() => z.email().max(320));

export function githubClient(deps: ProviderDependencies, of: GithubClient): ProviderClient {
  const { clientId, authorizeUrl } = of;
  return {
    authorizeUrl: (attempt) =>
      askProvider(deps, async () => {
        const url = await authorizeUrlOf(authorizeUrl, {
          ...attempt,
          clientId,
          redirectUri: deps.redirectUri,
          scope: SCOPE,
        });
        return ok(url.href);
      }),
    identify: (attempt, answer) => askProvider(deps, (options) => identify(deps, of, { attempt, answer, options })),
  };
}

async function identify(
  deps: ProviderDependencies,
  of: GithubClient,
  step: { readonly attempt: AttemptSecrets; readonly answer: CallbackAnswer; readonly options: AskOptions },
): Promise<Result<ProvedIdentity, ProviderProblem>> {
  const { options } = step;
  const token = await accessToken(deps, of, step);
  const api = of.apiUrl.replace(/\/+$/, "");
  const user = account().safeParse(await getJson(options, `${api}/user`, token));
  if (!user.success) return unavailable("its API did not return the account of the token");
  const listed = emails().safeParse(await getJson(options, `${api}/user/emails?per_page=100`, token));
  if (!listed.success) return unavailable("its API did not return the account's email addresses");
  const primary = listed.data.find((each) => each.primary && each.verified);
  const email = bareEmail().safeParse(primary?.email);
  if (!email.success)
    return refused("the GitHub account has no primary email address that is verified; verify it at GitHub first");
  return ok({ provider: "github", subject: String(user.data.id), email: email.data });
}

async function accessToken(
  { redirectUri }: ProviderDependencies,
  of: GithubClient,
  step: { readonly attempt: AttemptSecrets; readonly answer: CallbackAnswer; readonly options: AskOptions },
): Promise<string> {
  const { codeVerifier, state } = step.attempt;
  const server: oauth.AuthorizationServer = {
    issuer: new URL(of.authorizeUrl).origin,
    authorization_endpoint: of.authorizeUrl,
    token_endpoint: of.tokenUrl,
  };
  const client: oauth.Client = { client_id: of.clientId };
  const parameters = oauth.validateAuthResponse(
    server,
    client,
    new URLSearchParams({ code: step.answer.code, state }),
    state,
  );
  const secret = oauth.ClientSecretPost(of.clientSecret);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    secret,
    parameters,
    redirectUri,
    codeVerifier,
    { ...step.options, [oauth.customFetch]: errorsAs400(step.options[oauth.customFetch]) },
  );
  return (await oauth.processAuthorizationCodeResponse(server, client, response)).access_token;
}

/**
 * GitHub reports an error with status 200 (its documentation, "Troubleshooting OAuth app access token request errors"). The library recognises it
 * only with an error status.
 */
function errorsAs400(fetch: AskOptions[typeof oauth.customFetch]): AskOptions[typeof oauth.customFetch] {
  return async (url, ask) => {
    const response = await fetch(url, ask);
    const text = await response.text();
    const isError = z.object({ error: z.string() }).safeParse(jsonOf(text)).success;
    const { status, headers } = response;
    return new Response(text, { status: status === 200 && isError ? 400 : status, headers });
  };
}

/** Undefined unless the response is a 200 with JSON; the caller's schema then refuses the value. */
async function getJson(options: AskOptions, url: string, token: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, accept: "application/vnd.github+json" };
  const response = await options[oauth.customFetch](url, { headers });
  const text = await response.text();
  return response.status === 200 ? jsonOf(text) : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
