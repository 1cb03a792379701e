// GitHub as an OAuth app sees it, on loopback: it checks the client, the redirect address and PKCE, reports errors with status 200 as GitHub
// does, and signs in the user that the test sets.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { listen } from "./listen.ts";
import { challengeOf, type OidcClient } from "./oidc-server.ts";

interface GithubEmail {
  readonly email: string;
  readonly primary: boolean;
  readonly verified: boolean;
}

interface GithubUser {
  readonly id: number;
  readonly emails: readonly GithubEmail[];
}

export interface GithubStandIn {
  readonly origin: string;
  /** The user who signs in next. */
  user: GithubUser;
  /** If set, the answer to every API call. */
  outage: { readonly status: number; readonly body: string } | null;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly location?: string;
}

export async function startGithub(client: OidcClient): Promise<GithubStandIn> {
  const server = createServer();
  const { origin, close } = await listen(server);
  const codes = new Map<string, { readonly challenge: string; readonly user: GithubUser }>();
  const tokens = new Map<string, GithubUser>();
  const it: GithubStandIn = { origin, user: { id: 1, emails: [] }, outage: null, close };

  function authorize(query: URLSearchParams): Answer {
    const isKnown = query.get("client_id") === client.clientId && query.get("redirect_uri") === client.redirectUri;
    if (!isKnown || query.get("code_challenge_method") !== "S256") return { status: 404 };
    const code = randomUUID();
    codes.set(code, { challenge: query.get("code_challenge") ?? "", user: it.user });
    const back = new URL(client.redirectUri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    return { status: 302, location: back.href };
  }

  function exchange(form: URLSearchParams): Answer {
    if (form.get("client_id") !== client.clientId || form.get("client_secret") !== client.clientSecret)
      return { status: 200, body: { error: "incorrect_client_credentials", error_description: "canary-words" } };
    const code = form.get("code") ?? "";
    const known = codes.get(code);
    codes.delete(code);
    const isGood = known?.challenge === challengeOf(form.get("code_verifier") ?? "");
    if (known === undefined || !isGood || form.get("redirect_uri") !== client.redirectUri)
      return { status: 200, body: { error: "bad_verification_code", error_description: "canary-words" } };
    const token = `gho_${randomUUID()}`;
    tokens.set(token, known.user);
    return { status: 200, body: { access_token: token, token_type: "bearer", scope: "user:email" } };
  }

  function api(path: string, request: IncomingMessage): Answer {
    const user = tokens.get((request.headers.authorization ?? "").replace("Bearer ", ""));
    if (user === undefined || request.headers["user-agent"] === undefined) return { status: 401, body: {} };
    if (path === "/api/user") return { status: 200, body: { id: user.id, login: "somebody", email: null } };
    return path === "/api/user/emails" ? { status: 200, body: user.emails } : { status: 404, body: {} };
  }

  server.on("request", async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const answer = (): Answer => {
      if (it.outage !== null && pathname.startsWith("/api/")) return it.outage;
      if (pathname === "/login/oauth/authorize") return authorize(searchParams);
      if (pathname === "/login/oauth/access_token") return exchange(new URLSearchParams(body));
      return api(pathname, request);
    };
    const { status, body: content, location } = answer();
    response.writeHead(status, {
      "content-type": "application/json; charset=utf-8",
      ...(location === undefined ? {} : { location }),
    });
    response.end(typeof content === "string" ? content : JSON.stringify(content));
  });
  return it;
}
