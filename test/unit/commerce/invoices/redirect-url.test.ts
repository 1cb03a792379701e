import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRedirectUrl } from "../../../../src/lib/redirect-url.ts";
import { RUNS } from "../../../support/property-runs.ts";

describe("a customer may be sent to", () => {
  it.each([
    "https://shop.example/thanks",
    "http://shop.example",
    "HTTPS://SHOP.EXAMPLE/",
    "https://shop.example:8443/a?b=c&d=%20#e",
    "http://localhost:3000/done",
    "http://127.0.0.1/",
    "https://[2001:db8::1]/",
    "https://[2001:db8::1]:8443/x",
    "https://xn--bcher-kva.example/",
    "https://bücher.example/größe",
    "https://shop.example/a@b",
    "https://shop.example/?to=user:pass@host",
    "https://shop.example/👍",
    "https://shop.example//double",
  ])("%s", (url) => {
    expect(isRedirectUrl(url)).toBe(true);
  });
});

describe("a customer may not be sent to", () => {
  it.each([
    ["a script", "javascript:alert(1)"],
    ["a script with slashes", "javascript://shop.example/%0aalert(1)"],
    ["a script in capitals", "JaVaScRiPt:alert(1)"],
    ["a script behind a tab", "java\tscript:alert(1)"],
    ["data", "data:text/html,<script>"],
    ["a file", "file:///etc/passwd"],
    ["another scheme", "ftp://shop.example/"],
    ["an app", "bitcoin:bc1q"],
    ["a blob", "blob:https://shop.example/1"],
    ["no scheme", "shop.example/thanks"],
    ["a host without a scheme", "//shop.example"],
    ["a path", "/thanks"],
    ["backslashes for slashes", "http:\\\\shop.example"],
    ["a backslash behind the host", "https://shop.example\\@evil.example"],
    ["one slash", "https:/shop.example"],
    ["no slash", "https:shop.example"],
    ["three slashes", "https:///shop.example"],
    ["no host", "https://"],
    ["a query for a host", "https://?x"],
    ["a fragment for a host", "https://#x"],
    ["a user", "https://user@shop.example/"],
    ["a user and a password", "https://user:pass@shop.example/"],
    ["a password alone", "https://:pass@shop.example/"],
    ["a user that looks like a host", "https://shop.example@evil.example/"],
    ["a space at the start", " https://shop.example/"],
    ["a space at the end", "https://shop.example/ "],
    ["a space inside", "https://shop.example/a b"],
    ["a tab", "https://shop\t.example/"],
    ["a line break", "https://shop.example/\r\nset-cookie: a=b"],
    ["NUL", "https://shop.example/\u0000"],
    ["DEL", "https://shop.example/\u007f"],
    ["a control character of Latin-1", "https://shop.example/\u0085"],
    ["a broken IPv6 address", "https://[2001:db8::1/"],
    ["a broken port", "https://shop.example:99999/"],
    ["a host with a percent", "https://shop%2eexample%00/"],
    ["nothing", ""],
  ])("%s", (_, url) => {
    expect(isRedirectUrl(url)).toBe(false);
  });
});

describe("whatever is taken for a redirect URL", () => {
  it("is one that a parser reads as http or https with a host and without credentials", () => {
    const chunks = ["/", "\\", "@", ":", "a.example", "x", "?", "#", "[::1]", "\t", " ", "%00", "é", ":80", "//"];
    const text = fc
      .tuple(
        fc.constantFrom("http://", "https://", "HTTP://", "http:", "https:/", "javascript://", ""),
        fc.array(fc.constantFrom(...chunks), { minLength: 1, maxLength: 6 }),
      )
      .map(([start, rest]) => start + rest.join(""));
    const verdicts = fc.sample(text, RUNS).map((url) => {
      if (!isRedirectUrl(url)) return false;
      const { protocol, username, password, hostname } = new URL(url);
      expect([url, /^https?:$/.test(protocol), username, password, hostname === ""]).toEqual([
        url,
        true,
        "",
        "",
        false,
      ]);
      return true;
    });
    expect(new Set(verdicts).size).toBe(2);
  });
});
