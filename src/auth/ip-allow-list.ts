// `allowedIps` of an API key: CIDRs or single addresses, IPv4 and IPv6. An address that cannot be read matches nothing.

/** Whether `ip` (as Cloudflare's CF-Connecting-IP gives it) lies in one of the ranges. */
export function isIpAllowed(ip: string | undefined, ranges: readonly string[]): boolean {
  const address = ip === undefined ? undefined : parseIp(ip);
  if (address === undefined) return false;
  return ranges.some((range) => contains(range, address));
}

/** Whether a text is an address or CIDR this list understands. */
export function isIpRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

interface IpAddress {
  readonly value: bigint;
  /** 32 or 128. */
  readonly bits: number;
}

function contains(range: string, address: IpAddress): boolean {
  const parsed = parseRange(range);
  if (parsed === undefined || parsed.address.bits !== address.bits) return false;
  const shift = BigInt(address.bits - parsed.prefix);
  return parsed.address.value >> shift === address.value >> shift;
}

function parseRange(text: string): { readonly address: IpAddress; readonly prefix: number } | undefined {
  const [ip = "", length, ...rest] = text.split("/");
  const address = parseIp(ip);
  if (address === undefined || rest.length > 0) return undefined;
  if (length === undefined) return { address, prefix: address.bits };
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  return prefix <= address.bits ? { address, prefix } : undefined;
}

function parseIp(text: string): IpAddress | undefined {
  const v4 = parseIpv4(text);
  if (v4 !== undefined) return { value: v4, bits: 32 };
  const v6 = parseIpv6(text);
  if (v6 === undefined) return undefined;
  // ::ffff:a.b.c.d is the IPv4 address it carries.
  return v6 >> 32n === 0xffffn ? { value: v6 & 0xffffffffn, bits: 32 } : { value: v6, bits: 128 };
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2 || !text.includes(":")) return undefined;
  const head = groupsOf(halves[0] ?? "");
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? "") : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** The 16-bit groups of one side of `::`; a trailing dotted IPv4 counts as two. */
function groupsOf(text: string): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [position, part] of parts.entries()) {
    const v4 = position === parts.length - 1 ? parseIpv4(part) : undefined;
    if (v4 !== undefined) groups.push(Number(v4 >> 16n), Number(v4 & 0xffffn));
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}
