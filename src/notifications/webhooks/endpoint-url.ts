// Where a webhook may go, asked at registration and again before every attempt: https on port 443 to a name
// of the public Internet. What that name resolves to is judged apart, before every attempt (host-resolver-client.ts).
import { hostProblem } from "../../lib/public-host.ts";
import { err, ok, type Result } from "../../lib/result.ts";

const MAX_LENGTH = 2_048;

/** What a parser drops or a reader does not see: controls, spaces of any kind, format and other ignorable characters, half characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\\]/u;

/** Loopback in these three spellings alone, so that no user comes to rely on another. */
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:[/?]|$)/i;
const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

export interface EndpointUrl {
  /** Normalised: what is stored, shown and asked for. Parsed again it is the same. */
  readonly href: string;
  /** The name to resolve before an attempt, in ASCII. */
  readonly host: string;
  /** A receiver on the developer's own machine, whose host is not resolved. */
  readonly isLoopback: boolean;
}

export interface EndpointRules {
  /** Development only: `http://localhost`, `http://127.0.0.1` and `http://[::1]` on any port are good too, and nothing else is. */
  readonly isLoopbackOpen: boolean;
  /** `URL.host` of this deployment's PUBLIC_URL, which does not deliver to itself; undefined where none is set. */
  readonly ownHost?: string | undefined;
}

/**
 * The URL of an endpoint, at most 2,048 characters as given and as normalised; else why not, a clause to show that repeats nothing of what
 * was given but a reserved ending. A fragment is refused: no request carries it, so its author meant another address.
 */
export function parseEndpointUrl(text: string, rules: EndpointRules): Result<EndpointUrl, string> {
  if (text.length > MAX_LENGTH) return err(TOO_LONG);
  if (UNSEEN.test(text)) return err("it holds a space, a backslash or a character that cannot be seen");
  const isLoopback = rules.isLoopbackOpen && LOOPBACK.test(text);
  if (!isLoopback && !/^https:\/\/[^/?#]/i.test(text)) return err("it does not begin with https:// and a host");
  // The parser forgets an empty user name: `https://@host`.
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return err("it holds a user name or a password");
  if (text.includes("#")) return err("it holds a fragment");
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
  if (port !== "") return "it names another port than 443";
  // RFC 6761 lets such names be resolved as any other; but nobody will ever receive anything there.
  if (/(?:^|\.)example$/.test(hostname)) return `the host's ending "example" is reserved`;
  return hostProblem(hostname);
}

function isOwn({ host, port }: URL, isLoopback: boolean, ownHost: string | undefined): boolean {
  if (!isLoopback) return host === ownHost;
  return LOOPBACK_HOSTS.some((name) => ownHost === (port === "" ? name : `${name}:${port}`));
}
