import { isIP, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressScope } from "../../../src/lib/global-address.ts";
import { RUNS } from "../../support/property-runs.ts";

const isGlobalUnicast = (address: string) => addressScope(address) === "global";

/** The first and last address of each block in the registries, written out so that the test does not share a computation with the code. */
const SPECIAL_V4: readonly (readonly [string, string])[] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "239.255.255.255"],
  ["240.0.0.0", "255.255.255.255"],
];

const SPECIAL_V6: readonly (readonly [string, string])[] = [
  ["0:0:0:0:0:0:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:0:0:0:0:0:0:0", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8:0:0:0:0:0:0", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002:0:0:0:0:0:0:0", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["3fff:0:0:0:0:0:0:0", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["4000:0:0:0:0:0:0:0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

const v4 = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
const v6Groups = (value: bigint) =>
  Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16));
const v6 = (value: bigint) => v6Groups(value).join(":");
const ofV4 = (text: string) => text.split(".").reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
const ofV6 = (text: string) => text.split(":").reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);

type Ranges = readonly (readonly [bigint, bigint])[];
const V4_RANGES: Ranges = SPECIAL_V4.map(([first, last]) => [ofV4(first), ofV4(last)]);
const V6_RANGES: Ranges = SPECIAL_V6.map(([first, last]) => [ofV6(first), ofV6(last)]);
const isIn = (value: bigint, ranges: Ranges) => ranges.some(([first, last]) => value >= first && value <= last);

const edges = (ranges: Ranges, top: bigint) =>
  ranges.flatMap(([first, last]) =>
    [first - 1n, first, last, last + 1n].filter((value) => value >= 0n && value <= top),
  );

describe("addressScope", () => {
  it.each([
    ["IPv4", edges(V4_RANGES, 2n ** 32n - 1n), V4_RANGES, v4],
    ["IPv6", edges(V6_RANGES, 2n ** 128n - 1n), V6_RANGES, v6],
  ])("is global if and only if the address is outside all %s blocks of the registries", (_, values, ranges, print) => {
    expect(values.length).toBeGreaterThan(20);
    expect(values.map((value) => [print(value), isGlobalUnicast(print(value))])).toEqual(
      values.map((value) => [print(value), !isIn(value, ranges)]),
    );
  });

  it.each([
    ["loopback", ["127.0.0.1", "127.1.2.3", "::1"]],
    ["the unspecified address", ["0.0.0.0", "::"]],
    ["cloud metadata services", ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"]],
    ["IPv4 embedded in IPv6", ["::ffff:8.8.8.8", "::ffff:808:808", "::8.8.8.8", "::ffff:0:8.8.8.8"]],
    ["NAT64", ["64:ff9b::8.8.8.8", "64:ff9b:1::1"]],
    ["6to4 and Teredo", ["2002:0808:0808::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"]],
    [
      "discard, segment routing, unique local, link local and site local",
      ["100::1", "5f00::1", "fc00::1", "fd12::1", "fe80::1", "fec0::1"],
    ],
    ["multicast and broadcast", ["224.0.0.1", "239.255.255.250", "255.255.255.255", "ff02::1"]],
    ["documentation", ["192.0.2.1", "2001:db8::1", "3fff::1"]],
  ])("is special for %s", (_, addresses) => {
    expect(addresses.map((address) => [address, addressScope(address)])).toEqual(
      addresses.map((address) => [address, "special"]),
    );
  });

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "100.63.255.255",
    "172.32.0.1",
    "223.255.255.254",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2A00:1450:4001:0830::200E",
    "2606:4700::1.2.3.4",
    "2606:4700:0:0:0:0:0::",
  ])("is global for %s", (address) => {
    expect(isGlobalUnicast(address)).toBe(true);
  });

  it.each([
    ["nothing", ["", " ", ".", "...", ":", ":::"]],
    ["a name", ["localhost", "example.com", "one.one.one.one"]],
    ["a wrong number of bytes", ["1.1.1", "1.1", "16843009", "1.1.1.1.1", "1.1.1.1.", ".1.1.1.1", "1..1.1"]],
    ["bases other than ten", ["0x1.1.1.1", "01.1.1.1", "1.1.1.01", "001.1.1.1", "0b1.1.1.1", "1e0.1.1.1"]],
    ["a byte that is too large or signed", ["256.1.1.1", "1.1.1.999", "-1.1.1.1", "+1.1.1.1", "1.1.1.1000"]],
    [
      "other text around it",
      [" 1.1.1.1", "1.1.1.1 ", "1.1.1.1\n", "1.1.1.1/8", "1.1.1.1:80", "[2606::1]", "2606::1/64"],
    ],
    ["a zone", ["fe80::1%eth0", "2606::1%0", "1.1.1.1%1"]],
    ["two abbreviations", ["2606::1::1", "2606:2:3:4::5:6:7:8::9", "::1::", "2606:::1"]],
    [
      "too many or too few groups",
      ["2606:1:2:3:4:5:6", "2606:1:2:3:4:5:6:7:8", "2606:1:2:3:4:5:6:7::", "::2606:1:2:3:4:5:6:7"],
    ],
    ["a group that is too long or not hexadecimal", ["2606::12345", "2606::g", "2606::00001", "2606:-1::"]],
    ["an extra colon", ["2606::1:", ":2606::1", "2606:1:2:3:4:5:6:", ":1:2:3:4:5:6:7"]],
    ["IPv4 in the middle", ["2606:1.2.3.4::1", "1.2.3.4::", "2606::1.2.3.4:5", "2606::1.2.3", "2606::01.2.3.4"]],
    ["digits of other scripts", ["１.1.1.1", "١.١.١.١", "2606::１"]],
  ])("is undefined for a text that is not an address: %s", (_, texts) => {
    expect(texts.map((text) => [text, addressScope(text)])).toEqual(texts.map((text) => [text, undefined]));
  });

  it("agrees with integer arithmetic over the blocks, for any address", () => {
    const near = (ranges: Ranges, top: bigint) =>
      fc.oneof(
        fc.bigInt({ min: 0n, max: top }),
        fc
          .tuple(fc.constantFrom(...ranges.flat()), fc.bigInt({ min: -300n, max: 300n }))
          .map(([edge, by]) => edge + by)
          .filter((value) => value >= 0n && value <= top),
      );
    fc.assert(
      fc.property(near(V4_RANGES, 2n ** 32n - 1n), near(V6_RANGES, 2n ** 128n - 1n), (four, six) => {
        expect(isGlobalUnicast(v4(four))).toBe(!isIn(four, V4_RANGES));
        expect(isGlobalUnicast(v6(six))).toBe(!isIn(six, V6_RANGES));
      }),
      { numRuns: RUNS },
    );
  });

  it("is the same for every spelling of an IPv6 address", () => {
    const global = fc.bigInt({ min: 0n, max: 2n ** 125n - 1n }).map((low) => 2n ** 125n + low);
    fc.assert(
      fc.property(
        fc.oneof(global, fc.bigInt({ min: 0n, max: 2n ** 128n - 1n })),
        fc.nat(7),
        fc.nat(7),
        (value, one, other) => {
          const expected = isIn(value, V6_RANGES) ? "special" : "global";
          const groups = v6Groups(value);
          const dotted = `${groups.slice(0, 6).join(":")}:${v4(value & 0xffffffffn)}`;
          const padded = groups.map((group) => group.padStart(4, "0")).join(":");
          for (const text of [padded, padded.toUpperCase(), dotted]) expect(addressScope(text)).toBe(expected);
          const [from, to] = [Math.min(one, other), Math.max(one, other) + 1];
          const short = `${groups.slice(0, from).join(":")}::${groups.slice(to).join(":")}`;
          const zeroed = groups.map((group, at) => (at >= from && at < to ? "0" : group)).join(":");
          expect(addressScope(short)).toBe(addressScope(zeroed));
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("is defined if and only if the runtime accepts the text as an address", () => {
    const chunk = fc.constantFrom(
      "0",
      "1",
      "f",
      "2606",
      "::",
      ":",
      ".",
      "255",
      "256",
      "01",
      "00001",
      "g",
      "10.0.0.1",
      "",
    );
    const text = fc.array(chunk, { maxLength: 17 }).map((chunks) => chunks.join(""));
    const joined = fc.array(chunk, { minLength: 2, maxLength: 9 }).map((chunks) => chunks.join(":"));
    fc.assert(
      fc.property(fc.oneof(text, joined, fc.ipV6(), fc.ipV4()), (each) => {
        expect(addressScope(each) !== undefined).toBe(isIP(each) !== 0);
      }),
      { numRuns: RUNS },
    );
    expect(isIPv6("fe80::1%eth0")).toBe(true); // The runtime accepts a zone, but we do not.
  });
});
