// Which URLs webhooks may have, checked at registration and again before every attempt: https on port 443 to a public host name. The addresses
// that the name resolves to are checked separately, before every attempt (host-resolver-client.ts).
import { hostProblem } from "../../lib/public-host.ts";
import { err, ok, type Result } from "../../lib/result.ts";

const MAX_LENGTH = 2_048;

/**
 * Characters that a parser drops or a reader cannot see: controls, spaces of any kind, format and other ignorable characters, lone surrogates;
 * also the backslash.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\\]/u;

/** Loopback only in these three forms, so that no user comes to rely on another. */
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:[/?]|$)/i;
const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

interface EndpointUrl {
  /** The normalised URL, which is stored, shown and requested. Parsing it again gives the same. */
  readonly href: string;
  /** The name to resolve before an attempt, in ASCII. */
  readonly host: string;
  /** Whether the receiver is on the developer's own machine; its host is not resolved. */
  readonly isLoopback: boolean;
}

export interface EndpointRules {
  /** Development only: `http://localhost`, `http://127.0.0.1` and `http://[::1]` are also allowed, on any port. */
  readonly isLoopbackOpen: boolean;
  /** `URL.host` of this deployment's PUBLIC_URL, because it does not deliver to itself; undefined if not set. */
  readonly ownHost?: string | undefined;
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
  // The parser forgets an empty user name: `https://@host`.
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
  // RFC 6761 lets such names be resolved like any other, but no real receiver can use them.
  if (/(?:^|\.)example$/.test(hostname)) return `the host's ending "example" is reserved`;
  return hostProblem(hostname);
}

function isOwn({ host, port }: URL, isLoopback: boolean, ownHost: string | undefined): boolean {
  if (!isLoopback) return host === ownHost;
  return LOOPBACK_HOSTS.some((name) => ownHost === (port === "" ? name : `${name}:${port}`));
}
