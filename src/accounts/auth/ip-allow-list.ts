// `allowedIps` of an API key: CIDR ranges or single addresses, IPv4 and IPv6. An unreadable address matches nothing. The runtime's BlockList
// compares the addresses; an IPv4-mapped IPv6 address (::ffff:a.b.c.d) counts as that IPv4 address.
import { BlockList, isIP } from "node:net";

/** Whether `ip` (the value of CF-Connecting-IP) is in one of the ranges. */
export function isIpAllowed(ip: string | undefined, ranges: readonly string[]): boolean {
  const family = ip === undefined ? undefined : familyOf(ip);
  if (ip === undefined || family === undefined) return false;
  const list = new BlockList();
  const isCallerIpv4 = isIpv4(ip, family);
  for (const range of ranges) {
    const subnet = parseRange(range);
    // A BlockList with ::/0 contains every IPv4 address; here an IPv6 range only contains IPv4 addresses if it is a mapped range.
    if (subnet === undefined || (isCallerIpv4 && !isIpv4(subnet.address, subnet.family))) continue;
    list.addSubnet(subnet.address, subnet.prefix, subnet.family);
  }
  return list.check(ip, family);
}

/** Whether a string is an IP address or a CIDR range. */
export function isIpRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** Whether `outer` admits every caller that `range` admits; false also if either is unreadable, or only one of them is written as IPv4. */
export function isRangeWithin(range: string, outer: string): boolean {
  const [inside, around] = [parseRange(range), parseRange(outer)];
  if (inside === undefined || around === undefined || inside.family !== around.family) return false;
  return inside.prefix >= around.prefix && isIpAllowed(inside.address, [outer]);
}

/** Whether it is an IPv4 address, also in the mapped form of IPv6. */
function isIpv4(address: string, family: Family): boolean {
  if (family === "ipv4") return true;
  const mapped = new BlockList();
  mapped.addSubnet("::ffff:0:0", 96, "ipv6");
  return mapped.check(address, "ipv6");
}

type Family = "ipv4" | "ipv6";

function familyOf(address: string): Family | undefined {
  // A zone (`fe80::1%eth0`) has no meaning on the edge.
  if (address.includes("%")) return undefined;
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? "ipv4" : "ipv6";
}

function parseRange(
  text: string,
): { readonly address: string; readonly prefix: number; readonly family: Family } | undefined {
  const [, address = "", length] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const family = familyOf(address);
  if (family === undefined) return undefined;
  const bits = family === "ipv4" ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  return prefix <= bits ? { address, prefix, family } : undefined;
}
