// The IP networks by which callers are counted for rate limits.
import { LIMITS } from "./limits.ts";

/** The network of an address: the first four groups of IPv6 (the /64 of one caller), or the whole IPv4 address, even if it is mapped into IPv6. */
export function networkOf(ip: string): string {
  if (!ip.includes(":")) return ip;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip) ?? [];
  if (mapped !== undefined) return mapped;
  const [head = "", tail = ""] = ip.split("::");
  const before = head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = ip.includes("::") ? new Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0") : [];
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group || "0", 16).toString(16)).join(":");
}

/** A network that is counted for a caller; its limit is `times` the limit of one caller. */
export interface CallerNetwork {
  readonly network: string;
  readonly times: number;
}

/** An IPv6 customer often has a whole /48, that is 65,536 /64 networks. Together they count as this many callers. */
const CALLERS_OF_A_SITE = LIMITS.callersPerIpv6Site;

/** The caller's own network, and for IPv6 also the /48 around it. A caller over the limit of either is refused. */
export function callersOf(ip: string): readonly CallerNetwork[] {
  const network = networkOf(ip);
  const own = { network, times: 1 };
  return isIpv6Network(network) ? [own, { network: siteOf(network), times: CALLERS_OF_A_SITE }] : [own];
}

/**
 * The name under which a limiter counts a caller if each name has the same limit. The /64 networks of a /48 share `CALLERS_OF_A_SITE` names, so that
 * together they count as that many callers.
 */
export function sharedNameOf(ip: string): string {
  const network = networkOf(ip);
  if (!isIpv6Network(network)) return network;
  const last = Number.parseInt(network.slice(network.lastIndexOf(":") + 1), 16);
  return `${siteOf(network)}#${last % CALLERS_OF_A_SITE}`;
}

function isIpv6Network(network: string): boolean {
  return network.includes(":");
}

function siteOf(network: string): string {
  return `${network.slice(0, network.lastIndexOf(":"))}/48`;
}

/** Whether an address is loopback, which every caller of a development server has. */
export function isLoopback(ip: string): boolean {
  return ip === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(ip);
}

/** Whether secrets may be sent to, or served at, an origin: https, or loopback, which never leaves the machine (like browsers' secure contexts). */
export function isOriginSafe(origin: string): boolean {
  const protocol = URL.parse(origin)?.protocol;
  return protocol === "https:" || (protocol === "http:" && isLoopbackUrl(origin));
}

export function isLoopbackUrl(url: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(URL.parse(url)?.hostname ?? "");
}
