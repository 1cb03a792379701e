// Decides which hosts are names on the public Internet, for every request to a URL that a caller gave. It checks the host of a *parsed* URL, so that
// no spelling of an IP address passes: the parser turns hex, octal, a single number, full-width digits and percent-encoding into four decimal bytes,
// and a name in any script into lower-case ASCII.

const MAX_LENGTH = 253;

/** Labels of at most 63 characters. All but the last may have underscores, which parsers and resolvers accept. The last one is not a number. */
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Top-level labels that are never on the public Internet: IANA's special-use names (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476; all of `arpa`,
 * so home.arpa as well), `internal`, and those that ICANN reserved because private networks use them.
 */
const RESERVED_ENDS =
  "alt arpa corp home internal intranet invalid lan local localdomain localhost mail onion private test".split(" ");

/**
 * Public domains whose names resolve to an address that is part of the name, or to loopback. This only warns a merchant early. It does not stop an
 * attacker, who can use their own domain: what matters is the address to which a name resolves.
 */
const ADDRESS_ECHOES =
  "1u.ms backname.io lacolhost.com local.gd localhost.direct localtest.me lvh.me nip.io rbndr.us sslip.io traefik.me vcap.me xip.io xip.name";

const ADDRESS_ECHO = new RegExp(`(?:^|\\.)(?:${ADDRESS_ECHOES.replaceAll(".", "\\.").replaceAll(" ", "|")})$`);

/**
 * Why a host (`URL.hostname`) is not a name on the public Internet, as a clause for the user; undefined if it is one. A name with a dot at its end
 * is refused and not corrected: it would be a second spelling of the same host, and certificates and virtual hosts do not include it.
 */
export function hostProblem(hostname: string): string | undefined {
  if (hostname.startsWith("[") || /^[\d.]+$/.test(hostname)) return "the host is an IP address";
  if (hostname.endsWith(".")) return "the host ends in a dot";
  const end = hostname.slice(hostname.lastIndexOf(".") + 1);
  if (RESERVED_ENDS.includes(end)) return `the host's ending "${end}" is reserved`;
  if (!hostname.includes(".")) return "the host is a single label";
  if (hostname.length > MAX_LENGTH || !HOST_NAME.test(hostname)) return "the host is not a valid name";
  return ADDRESS_ECHO.test(hostname) ? "the host resolves to the address in its own name" : undefined;
}
