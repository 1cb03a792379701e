import { describe, expect, it } from "vitest";
import { hostProblem } from "../../../src/lib/public-host.ts";

const label = (length: number) => "a".repeat(length);
/** A name of exactly `length` characters, in labels of at most 63. */
const nameOf = (length: number) => `${label(63)}.${label(63)}.${label(63)}.${label(length - 196)}.com`;

describe("the host of a parsed URL", () => {
  it.each([
    "example.com",
    "a.b.c.d.e.shop",
    "1.2.3.shop",
    "123.com",
    "my_shop.example.com",
    "_hooks.example.com",
    "xn--r8jz45g.jp",
    "a.xn--p1ai",
    "pictures.example",
    "local.shop",
    "internal.company.com",
    "notnip.io",
    "nip.io.shop",
    `${label(63)}.com`,
    nameOf(253),
  ])("%s may be on the public Internet", (host) => {
    expect(hostProblem(host)).toBeUndefined();
  });

  it.each([
    ["the host is an IP address", ["127.0.0.1", "93.184.215.14", "[::1]", "[2606:4700::1111]"]],
    ["the host ends in a dot", ["example.com.", "localhost.", "a.local."]],
    ["the host is a single label", ["intranet-7", "router", "com", "xn--p1ai"]],
    [
      "the host is not a valid name",
      [
        "-a.com",
        "a-.com",
        "a.-b.com",
        "a..com",
        ".com",
        "a.c_m",
        "a.com-",
        "a.1com",
        "a!b.com",
        "a*b.com",
        "*.example.com",
        `${label(64)}.com`,
        `a.${label(64)}`,
        nameOf(254),
      ],
    ],
    [
      "the host resolves to the address in its own name",
      ["nip.io", "127.0.0.1.nip.io", "a.7f000001.sslip.io", "lvh.me", "app.lvh.me", "localtest.me", "a.1u.ms"],
    ],
  ])("is refused because %s", (why, hosts) => {
    expect(hosts.map((host) => [host, hostProblem(host)])).toEqual(hosts.map((host) => [host, why]));
  });

  it.each(
    "alt arpa corp home internal intranet invalid lan local localdomain localhost mail onion private test".split(" "),
  )("is refused for the reserved ending %s, alone or as the last label", (end) => {
    const why = `the host's ending "${end}" is reserved`;
    for (const host of [end, `a.${end}`, `a.b.${end}`]) expect(hostProblem(host)).toBe(why);
    for (const host of [`${end}.com`, `a.${end}.com`, `a.x${end}`, `a.${end}x`])
      expect(hostProblem(host)).toBeUndefined();
  });
});
