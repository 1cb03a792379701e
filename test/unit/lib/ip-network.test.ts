import { describe, expect, test } from "vitest";
import { callersOf, isLoopback, networkOf } from "../../../src/lib/ip-network.ts";

describe("networkOf", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2::", "2001:db8:1:2"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0DB8:0001:0002::1", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
  ])("%s is counted as %s", (ip, network) => {
    expect(networkOf(ip)).toBe(network);
  });
});

describe("callersOf", () => {
  test.each([
    ["203.0.113.7", [["203.0.113.7", 1]]],
    ["::ffff:203.0.113.7", [["203.0.113.7", 1]]],
    [
      "2001:db8:1:2:3:4:5:6",
      [
        ["2001:db8:1:2", 1],
        ["2001:db8:1/48", 4],
      ],
    ],
    [
      "2001:0DB8::1",
      [
        ["2001:db8:0:0", 1],
        ["2001:db8:0/48", 4],
      ],
    ],
  ] as const)(
    "counts %s for its own network and, if it is IPv6, also for its /48 with four times the limit",
    (ip, expected) => {
      expect(callersOf(ip).map(({ network, times }) => [network, times])).toEqual(expected);
    },
  );
});

describe("isLoopback", () => {
  test.each(["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"])("%s is loopback", (ip) => {
    expect(isLoopback(ip)).toBe(true);
  });

  test.each(["128.0.0.1", "10.0.0.1", "::2", "1270.0.0.1", "127.0.0.1.evil.example", ""])(
    "%s is not loopback",
    (ip) => {
      expect(isLoopback(ip)).toBe(false);
    },
  );
});
