// Which network a caller's address is counted as, where requests are counted per caller.
import { LIMITS } from "./limits.ts";

/** An IPv6 caller owns its whole /64: its first four groups, written out. An IPv4 address is its own network, also mapped into IPv6. */
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

/** Who is counted for a caller's address, and how many callers' worth of requests they have together. */
export interface CallerNetwork {
  readonly network: string;
  readonly times: number;
}

/** An IPv6 customer often has a whole /48, so 65,536 networks of /64: together they count as this many callers. */
const CALLERS_OF_A_SITE = LIMITS.callersPerIpv6Site;

/** The caller's own network first; for IPv6 then the /48 around it. A caller over the limit of either is refused. */
export function callersOf(ip: string): readonly CallerNetwork[] {
  const network = networkOf(ip);
  const own = { network, times: 1 };
  return isIpv6Network(network) ? [own, { network: siteOf(network), times: CALLERS_OF_A_SITE }] : [own];
}

/** One name to count by, where a limit cannot be multiplied: the networks of a /48 are dealt to as many names as it counts for. */
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

/** This very machine: what a development server sees of everybody. */
export function isLoopback(ip: string): boolean {
  return ip === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(ip);
}
