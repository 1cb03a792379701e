// Which IP addresses are on the public Internet, by IANA's special-purpose registries for IPv4 and IPv6 (RFC 6890 and later entries). A few of their
// blocks have single addresses that are reachable; these are refused with their block, because no merchant's server uses one.

/** The first 32 bits of a block, and the length of its prefix. */
type Block = readonly [bits: number, length: number];

const IPV4_SPECIAL: readonly Block[] = [
  [0x00000000, 8], // 0.0.0.0/8, this network
  [0x0a000000, 8], // 10.0.0.0/8, private
  [0x64400000, 10], // 100.64.0.0/10, shared by carriers
  [0x7f000000, 8], // 127.0.0.0/8, loopback
  [0xa9fe0000, 16], // 169.254.0.0/16, link local, where clouds serve their metadata
  [0xac100000, 12], // 172.16.0.0/12, private
  [0xc0000000, 24], // 192.0.0.0/24, protocol assignments
  [0xc0000200, 24], // 192.0.2.0/24, documentation
  [0xc0586300, 24], // 192.88.99.0/24, 6to4 relays
  [0xc0a80000, 16], // 192.168.0.0/16, private
  [0xc6120000, 15], // 198.18.0.0/15, benchmarks
  [0xc6336400, 24], // 198.51.100.0/24, documentation
  [0xcb007100, 24], // 203.0.113.0/24, documentation
  [0xe0000000, 3], // 224.0.0.0/4 multicast and 240.0.0.0/4 reserved, including broadcast
];

/** The block from which IANA assigns global unicast addresses; ::1, mapped IPv4, NAT64, local and multicast addresses are outside. */
const IPV6_GLOBAL: Block = [0x20000000, 3];

const IPV6_SPECIAL: readonly Block[] = [
  [0x20010000, 23], // 2001::/23, protocol assignments, including Teredo
  [0x20010db8, 32], // 2001:db8::/32, documentation
  [0x20020000, 16], // 2002::/16, 6to4, which carries any IPv4 address
  [0x3fff0000, 20], // 3fff::/20, documentation
];

/**
 * `global`: an address on the public Internet. `special`: any other address. Undefined for a string that is not an address in the strict form that
 * DNS responses use, such as one with a zone, or an IPv4 address with leading zeros or fewer than four numbers.
 */
export function addressScope(address: string): "global" | "special" | undefined {
  const v4 = ipv4Bits(address);
  if (v4 !== undefined) return liesIn(v4, IPV4_SPECIAL) ? "special" : "global";
  const v6 = ipv6Groups(address);
  if (v6 === undefined) return undefined;
  const [first = 0, second = 0] = v6;
  // The first 32 bits distinguish all blocks in the list.
  const head = first * 0x10000 + second;
  return liesIn(head, [IPV6_GLOBAL]) && !liesIn(head, IPV6_SPECIAL) ? "global" : "special";
}

function liesIn(bits: number, blocks: readonly Block[]): boolean {
  return blocks.some(([first, length]) => (bits ^ first) >>> (32 - length) === 0);
}

function ipv4Bits(text: string): number | undefined {
  const bytes = text.split(".");
  if (bytes.length !== 4 || !bytes.every((byte) => /^(?:0|[1-9]\d{0,2})$/.test(byte) && Number(byte) < 256))
    return undefined;
  return bytes.reduce((bits, byte) => bits * 256 + Number(byte), 0);
}

/** Eight groups of 16 bits (RFC 4291 "Text Representation of Addresses"). */
function ipv6Groups(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const last = (halves.length === 2 ? tail : head).at(-1);
  const bits = last === undefined ? undefined : ipv4Bits(last);
  if (bits !== undefined) {
    const groups = halves.length === 2 ? tail : head;
    groups.splice(-1, 1, (bits >>> 16).toString(16), (bits & 0xffff).toString(16));
  }
  const missing = 8 - head.length - tail.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return undefined;
  const groups = [...head, ...new Array<string>(missing).fill("0"), ...tail];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined;
}
