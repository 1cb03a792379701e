// A real OpenID Connect provider on loopback in place of Google: npm's oidc-provider, which signs in the user that the test sets. On request it
// alters its ID tokens and signs them again, with its own key or another one; everything else is unchanged.
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import Provider from "oidc-provider";
import { type Listening, listen } from "./listen.ts";

interface User {
  readonly subject: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
}

type Claims = Record<string, unknown>;

/** How the next token answer differs from a correct one. */
export interface Lie {
  readonly claims?: (honest: Claims) => Claims;
  readonly isSignedByStranger?: true;
  /** Replaces the token endpoint's whole answer. */
  readonly answer?: { readonly status: number; readonly body: string };
}

export interface OidcProvider {
  readonly issuer: string;
  /** The user who signs in next; null cancels. */
  user: User | null;
  lie: Lie;
  close(): Promise<void>;
}

export interface OidcClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

const KEY_ID = "honest";

export async function startOidcProvider(client: OidcClient, port?: number): Promise<OidcProvider> {
  const keys = { honest: newKey(), stranger: newKey() };
  const server = createServer();
  const listening: Listening = await listen(server, port);
  const people = new Map<string, User>();
  const it: OidcProvider = { issuer: listening.origin, user: null, lie: {}, close: listening.close };
  const provider = new Provider(listening.origin, configurationOf(client, keys.honest, people));
  const serve = provider.callback();
  const answer: RequestListener = (request, response) => {
    const { pathname } = new URL(request.url ?? "/", listening.origin);
    if (pathname.startsWith("/interaction/")) {
      const { user } = it;
      if (user !== null) people.set(user.subject, user);
      const result = user === null ? { error: "access_denied" } : { login: { accountId: user.subject } };
      provider
        .interactionFinished(request, response, result)
        .catch((error: unknown) => response.destroy(Object(error)));
      return;
    }
    if (pathname === "/token") alterAnswer(response, (body) => toldBy(it.lie, body, keys));
    serve(request, response);
  };
  server.on("request", answer);
  return it;
}

function configurationOf(client: OidcClient, key: KeyObject, people: ReadonlyMap<string, User>) {
  return {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [client.redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    jwks: { keys: [{ ...key.export({ format: "jwk" }), kid: KEY_ID, alg: "RS256", use: "sig" }] },
    cookies: { keys: [randomUUID()] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    // Puts the email into the ID token, as Google does.
    conformIdTokenClaims: false,
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => {
        const user = people.get(accountId);
        return { sub: accountId, email: user?.email, email_verified: user?.isEmailVerified };
      },
    }),
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope("openid email");
      await grant.save();
      return grant;
    },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  };
}

interface GrantContext {
  readonly oidc: {
    readonly provider: Provider;
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

interface Keys {
  readonly honest: KeyObject;
  readonly stranger: KeyObject;
}

function toldBy(lie: Lie, body: string, keys: Keys): { status?: number; body: string } {
  if (lie.answer !== undefined) return lie.answer;
  const answer: Claims = JSON.parse(body);
  if (typeof answer.id_token !== "string" || (lie.claims === undefined && !lie.isSignedByStranger)) return { body };
  const honest: Claims = JSON.parse(Buffer.from(answer.id_token.split(".")[1] ?? "", "base64url").toString());
  const claims = lie.claims?.({ ...honest }) ?? honest;
  const idToken = signed(claims, lie.isSignedByStranger ? keys.stranger : keys.honest);
  return { body: JSON.stringify({ ...answer, id_token: idToken }) };
}

/** Signs with RS256 under the genuine key's id, no matter which key signs. */
function signed(claims: Claims, key: KeyObject): string {
  const parts = [{ alg: "RS256", kid: KEY_ID }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const text = parts.join(".");
  return `${text}.${createSign("RSA-SHA256").update(text).sign(key).toString("base64url")}`;
}

function newKey(): KeyObject {
  return generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
}

/** Waits until a listener has written its whole answer, then sends another one instead. */
function alterAnswer(response: ServerResponse, alter: (body: string) => { status?: number; body: string }): void {
  const end = response.end.bind(response);
  response.end = (chunk?: unknown) => {
    const { status = response.statusCode, body } = alter(chunk === undefined ? "" : String(chunk));
    response.statusCode = status;
    response.setHeader("content-length", Buffer.byteLength(body));
    return end(body);
  };
}

/** The challenge that S256 derives from a verifier (RFC 7636 4.6). */
export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}
