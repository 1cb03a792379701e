// Which hosts are names of the public Internet, for every request that we send on a caller's word. It judges
// the host of a *parsed* URL, so that no spelling of an address gets past: the parser has turned hex, octal, one number, full-width digits
// and percent-encoding into four decimal bytes, and a name of any script into lower-case ASCII.

const MAX_LENGTH = 253;

/** Labels of at most 63; in all but the last an underscore too, as parsers and resolvers take it. The last one is no number. */
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Ends of host names that never are the public Internet's: IANA's special-use names (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476; all
 * of `arpa`, so home.arpa as well), `internal` and those that ICANN set apart because private networks use them.
 */
const RESERVED_ENDS =
  "alt arpa corp home internal intranet invalid lan local localdomain localhost mail onion private test".split(" ");

/**
 * Public names that answer with an address written into them, or with loopback. A courtesy that warns the merchant early: an attacker has
 * a domain of their own, and only what a name resolves to decides.
 */
const ADDRESS_ECHOES =
  "1u.ms backname.io lacolhost.com local.gd localhost.direct localtest.me lvh.me nip.io rbndr.us sslip.io traefik.me vcap.me xip.io xip.name";

const ECHO = new RegExp(`(?:^|\\.)(?:${ADDRESS_ECHOES.replaceAll(".", "\\.").replaceAll(" ", "|")})$`);

/**
 * Why a host, as `URL.hostname` gives it, is no name of the public Internet: a clause to show. Undefined when it is one. A name that ends in
 * a dot is refused, not mended: it would be a second spelling of the same host, and certificates and virtual hosts do not know it.
 */
export function hostProblem(hostname: string): string | undefined {
  if (hostname.startsWith("[") || /^[\d.]+$/.test(hostname)) return "the host is an IP address";
  if (hostname.endsWith(".")) return "the host ends in a dot";
  const end = hostname.slice(hostname.lastIndexOf(".") + 1);
  if (RESERVED_ENDS.includes(end)) return `the host's ending "${end}" is reserved`;
  if (!hostname.includes(".")) return "the host is a single label";
  if (hostname.length > MAX_LENGTH || !HOST_NAME.test(hostname)) return "the host is not a valid name";
  return ECHO.test(hostname) ? "the host resolves to whatever address its name spells" : undefined;
}
