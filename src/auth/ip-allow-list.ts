// `allowedIps` of an API key: CIDRs or single addresses, IPv4 and IPv6. An address that cannot be read matches nothing.
import ipaddr from "ipaddr.js";

/** Whether `ip` (as CF-Connecting-IP gives it) lies in one of the ranges; an IPv4 inside an IPv6 address is that IPv4. */
export function isIpAllowed(ip: string | undefined, ranges: readonly string[]): boolean {
  if (ip === undefined || !ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return ranges.some((range) => {
    const subnet = parseRange(range);
    return subnet !== undefined && subnet[0].kind() === address.kind() && address.match(subnet);
  });
}

/** Whether a text is an address or a CIDR. */
export function isIpRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
