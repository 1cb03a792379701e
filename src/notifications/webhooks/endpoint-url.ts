// Which URLs webhooks may have: https on port 443 to a public host name. Checked at registration and again before every round of deliveries, which
// also checks the addresses that the name resolves to (host-resolver-client.ts).
import { hostProblem } from "../../lib/public-host.ts";
import { err, ok, type Result } from "../../lib/result.ts";

const MAX_LENGTH = 2_048;

/**
 * Characters that a parser drops or a reader cannot see: control characters, all kinds of spaces, format and other ignorable characters, lone
 * surrogates; and the backslash.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\\]/u;

/** Loopback is allowed only in these three forms, so that no user relies on another form. */
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:[/?]|$)/i;
const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

interface EndpointUrl {
  /** The normalised URL, which is stored, shown and requested. Parsing it again gives the same URL. */
  readonly href: string;
  /** The name to resolve before a request, in ASCII. */
  readonly host: string;
  /** Whether the receiver is on the developer's own machine; its host is not resolved. */
  readonly isLoopback: boolean;
}

export interface EndpointRules {
  /** Development only: `http://localhost`, `http://127.0.0.1` and `http://[::1]` are also allowed, on any port. */
  readonly isLoopbackOpen: boolean;
  /** `URL.host` of PUBLIC_URL, because a deployment does not deliver to itself; undefined if PUBLIC_URL is not set. */
  readonly ownHost?: string | undefined;
}

/** The rules of a deployment that is reached at `origin`, which is "" if it is not known yet. */
export function rulesOf(
  { WEBHOOK_LOOPBACK }: { readonly WEBHOOK_LOOPBACK?: string | undefined },
  { isDevelopment, origin }: { readonly isDevelopment: boolean; readonly origin: string },
): EndpointRules {
  return {
    isLoopbackOpen: isDevelopment && WEBHOOK_LOOPBACK === "on",
    ownHost: URL.canParse(origin) ? new URL(origin).host : undefined,
  };
}

/**
 * Parses the URL of an endpoint, at most 2,048 characters as given and as normalised. The error is a clause for the user that repeats nothing
 * of the input except a reserved ending. A fragment is refused: no request carries it, so its author meant another URL.
 */
export function parseEndpointUrl(text: string, rules: EndpointRules): Result<EndpointUrl, string> {
  if (text.length > MAX_LENGTH) return err(TOO_LONG);
  if (UNSEEN.test(text)) return err("it contains a space, a backslash or an invisible character");
  const isLoopback = rules.isLoopbackOpen && LOOPBACK.test(text);
  if (!isLoopback && !/^https:\/\/[^/?#]/i.test(text)) return err("it must start with https:// and a host");
  // The parser drops an empty user name: `https://@host`.
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return err("it contains a user name or a password");
  if (text.includes("#")) return err("it contains a fragment; remove the # and what follows");
  if (!URL.canParse(text)) return err("it is not a URL");
  const url = new URL(text);
  const { href, hostname: host } = url;
  const problem = isLoopback ? undefined : publicProblem(url);
  if (problem !== undefined) return err(problem);
  if (href.length > MAX_LENGTH) return err(TOO_LONG);
  return isOwn(url, isLoopback, rules.ownHost) ? err("the host is this service's own") : ok({ href, host, isLoopback });
}

const TOO_LONG = "it is longer than 2,048 characters";

function publicProblem({ port, hostname }: URL): string | undefined {
  if (port !== "") return "its port must be 443";
  // By RFC 6761 names under `example` are resolved like any other, but no real receiver can have one.
  if (/(?:^|\.)example$/.test(hostname)) return `the host's ending "example" is reserved`;
  return hostProblem(hostname);
}

function isOwn({ host, port }: URL, isLoopback: boolean, ownHost: string | undefined): boolean {
  if (!isLoopback) return host === ownHost;
  return LOOPBACK_HOSTS.some((name) => ownHost === (port === "" ? name : `${name}:${port}`));
}
