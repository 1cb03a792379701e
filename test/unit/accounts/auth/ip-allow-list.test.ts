import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isIpAllowed, isIpRange, isRangeWithin } from "../../../../src/accounts/auth/ip-allow-list.ts";
import { RUNS } from "../../../support/property-runs.ts";

const cases: readonly [string, string, boolean][] = [
  ["192.0.2.1", "192.0.2.1", true],
  ["192.0.2.2", "192.0.2.1", false],
  ["192.0.2.1", "192.0.2.1/32", true],
  ["192.0.2.0", "192.0.2.0/31", true],
  ["192.0.2.1", "192.0.2.0/31", true],
  ["192.0.2.2", "192.0.2.0/31", false],
  ["192.0.1.255", "192.0.2.0/24", false],
  ["192.0.2.0", "192.0.2.0/24", true],
  ["192.0.2.255", "192.0.2.0/24", true],
  ["192.0.3.0", "192.0.2.0/24", false],
  ["192.0.2.77", "192.0.2.9/24", true],
  ["255.255.255.255", "0.0.0.0/0", true],
  ["0.0.0.0", "0.0.0.0/0", true],
  ["2001:db8::1", "2001:db8::1", true],
  ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1", true],
  ["2001:DB8::1", "2001:db8::1", true],
  ["2001:db8::2", "2001:db8::1", false],
  ["2001:db8::", "2001:db8::/127", true],
  ["2001:db8::1", "2001:db8::/127", true],
  ["2001:db8::2", "2001:db8::/127", false],
  ["2001:db8:0:0:ffff:ffff:ffff:ffff", "2001:db8::/64", true],
  ["2001:db8:0:1::", "2001:db8::/64", false],
  ["ffff::", "::/0", true],
  // An IPv4-mapped IPv6 address is treated as that IPv4 address.
  ["::ffff:192.0.2.1", "192.0.2.1", true],
  ["::ffff:c000:201", "192.0.2.0/24", true],
  ["::ffff:192.0.3.1", "192.0.2.0/24", false],
  ["192.0.2.1", "::ffff:192.0.2.1", true],
  // An address of one family never matches a range of the other.
  ["192.0.2.1", "::/0", false],
  ["2001:db8::1", "0.0.0.0/0", false],
  ["::ffff:192.0.2.1", "::/0", false],
  ["0:0:0:0:0:ffff:c000:201", "::/0", false],
  ["192.0.2.1", "0:0:0:0:0:ffff:c000:201", true],
];

const GARBAGE = [
  "",
  " ",
  "localhost",
  "192.0.2.1.1",
  "192.0.2.256",
  "192.0.2.1 ",
  "192.0.2.1, 198.51.100.1",
  "192.0.2.1:443",
  "[2001:db8::1]",
  "2001:db8:::1",
  "null",
  "%",
  "*",
];

describe("the IP allow list of an API key", () => {
  it.each(cases)("caller %s, range %s: allowed %s", (ip, range, isIn) => {
    expect(isIpAllowed(ip, [range])).toBe(isIn);
  });

  it("allows an address in any of its ranges; an empty list allows none", () => {
    const list = ["198.51.100.0/24", "2001:db8::/32", "192.0.2.7"];
    expect(["198.51.100.9", "2001:db8:9::1", "192.0.2.7", "192.0.2.8"].map((ip) => isIpAllowed(ip, list))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(isIpAllowed("192.0.2.7", [])).toBe(false);
  });

  it.each(GARBAGE)("never allows the caller %j, nor a caller without an address", (ip) => {
    expect(isIpAllowed(ip, ["0.0.0.0/0", "::/0", ip])).toBe(false);
    expect(isIpAllowed(undefined, ["0.0.0.0/0", "::/0"])).toBe(false);
  });

  it.each([
    ...GARBAGE,
    "192.0.2.0/33",
    "192.0.2.0/-1",
    "192.0.2.0/",
    "192.0.2.0/24/24",
    "2001:db8::/129",
    "/24",
    "192.0.2.0/a",
  ])("ignores the invalid range %j, and applies the ranges after it", (range) => {
    expect(isIpRange(range)).toBe(false);
    expect(isIpAllowed("192.0.2.1", [range])).toBe(false);
    expect(isIpAllowed("192.0.2.1", [range, "192.0.2.1"])).toBe(true);
  });

  // Forms that inet_aton accepts: `010.0.0.1` would be 8.0.0.1, and `192.0.2` 192.0.0.2.
  it.each(["192.0.2", "192.2", "3221225985", "0xC0.0.2.1", "0300.0.2.1", "192.0.2.01"])(
    "accepts only four decimal parts as an IPv4 address: %s is refused",
    (text) => {
      expect(isIpRange(text)).toBe(false);
      expect(isIpRange(`${text}/24`)).toBe(false);
      expect(isIpAllowed(text, ["0.0.0.0/0"])).toBe(false);
    },
  );

  it("agrees with 32-bit arithmetic for any IPv4 address and CIDR range", () => {
    const address = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const text = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
    // Half of the addresses are near the range's own address.
    const caller = fc.tuple(address, fc.integer({ min: -1, max: 256 }), fc.boolean());
    fc.assert(
      fc.property(address, fc.integer({ min: 0, max: 32 }), caller, (base, bits, [any, near, isNear]) => {
        const ip = isNear ? Math.min(2 ** 32 - 1, Math.max(0, base + near)) : any;
        const size = 2 ** (32 - bits);
        const range = `${text(base)}/${bits}`;
        expect(isIpAllowed(text(ip), [range])).toBe(Math.floor(ip / size) === Math.floor(base / size));
        expect(isIpRange(range)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("never allows a text with a character that no address contains", () => {
    fc.assert(
      fc.property(fc.string(), (other) => {
        fc.pre(!/^[0-9a-f.:x]+$/i.test(other));
        expect(isIpAllowed(other, ["0.0.0.0/0", "::/0"])).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a range within another", () => {
  it.each([
    ["192.0.2.0/25", "192.0.2.0/24", true],
    ["192.0.2.0/23", "192.0.2.0/24", false],
    ["2001:db8::/65", "2001:db8::/64", true],
    ["192.0.2.1", "::/0", false],
    ["::ffff:0:0/96", "::/0", false],
    ["::ffff:c000:201", "::ffff:0:0/96", true],
    ["2001:db8::1", "x", false],
    ["x", "::/0", false],
  ])("%s within %s: %s", (range, outer, isWithin) => {
    expect(isRangeWithin(range, outer)).toBe(isWithin);
  });

  it("admits no caller that the outer range does not admit", () => {
    const anyBits = fc.constantFrom(0, 1, 3, 127, 128, 254, 255);
    const anyV4 = fc.tuple(anyBits, anyBits).map(([first, last]) => `${first}.0.2.${last}`);
    const anyV6 = fc.tuple(anyBits, anyBits).map(([first, last]) => `20${first.toString(16)}::${last.toString(16)}`);
    const anyMapped = anyV4.chain((ip) => fc.constantFrom(`::ffff:${ip}`, `0:0:0:0:0:ffff:${ip}`));
    const anyAddress = fc.oneof(anyV4, anyV6, anyMapped, fc.constantFrom("::", "::1", "::ffff:0:0", "0.0.0.0"));
    const anyRange = fc
      .tuple(anyAddress, fc.constantFrom(0, 1, 8, 24, 31, 32, 64, 95, 96, 120, 128))
      .map(([address, prefix]) => `${address}/${Math.min(prefix, address.includes(":") ? 128 : 32)}`);
    let within = 0;
    fc.assert(
      fc.property(anyAddress, anyRange, anyRange, (ip, range, outer) => {
        if (!isRangeWithin(range, outer) || !isIpAllowed(ip, [range])) return;
        within += 1;
        expect(isIpAllowed(ip, [outer])).toBe(true);
      }),
      { numRuns: RUNS * 5 },
    );
    expect(within).toBeGreaterThan(10);
  });
});
