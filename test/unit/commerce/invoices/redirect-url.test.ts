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
    ["a javascript: URL", "javascript:alert(1)"],
    ["a javascript: URL with slashes", "javascript://shop.example/%0aalert(1)"],
    ["a javascript: URL in mixed case", "JaVaScRiPt:alert(1)"],
    ["a javascript: URL with a tab inside", "java\tscript:alert(1)"],
    ["a data: URL", "data:text/html,<script>"],
    ["a file: URL", "file:///etc/passwd"],
    ["a URL with another scheme", "ftp://shop.example/"],
    ["a URL with an app's own scheme", "bitcoin:bc1q"],
    ["a blob: URL", "blob:https://shop.example/1"],
    ["a URL without a scheme", "shop.example/thanks"],
    ["a host without a scheme, after two slashes", "//shop.example"],
    ["a path", "/thanks"],
    ["a URL with backslashes instead of slashes", "http:\\\\shop.example"],
    ["a URL with a backslash after the host", "https://shop.example\\@evil.example"],
    ["a URL with one slash", "https:/shop.example"],
    ["a URL without a slash", "https:shop.example"],
    ["a URL with three slashes", "https:///shop.example"],
    ["a URL without a host", "https://"],
    ["a URL with a query instead of a host", "https://?x"],
    ["a URL with a fragment instead of a host", "https://#x"],
    ["a URL with a user", "https://user@shop.example/"],
    ["a URL with a user and a password", "https://user:pass@shop.example/"],
    ["a URL with only a password", "https://:pass@shop.example/"],
    ["a URL with a user that looks like a host", "https://shop.example@evil.example/"],
    ["a URL with a space at the start", " https://shop.example/"],
    ["a URL with a space at the end", "https://shop.example/ "],
    ["a URL with a space inside", "https://shop.example/a b"],
    ["a URL with a tab", "https://shop\t.example/"],
    ["a URL with a line break", "https://shop.example/\r\nset-cookie: a=b"],
    ["a URL with a NUL character", "https://shop.example/\u0000"],
    ["a URL with a DEL character", "https://shop.example/\u007f"],
    ["a URL with a Latin-1 control character", "https://shop.example/\u0085"],
    ["a URL with a broken IPv6 address", "https://[2001:db8::1/"],
    ["a URL with an invalid port", "https://shop.example:99999/"],
    ["a URL with a percent-encoded host", "https://shop%2eexample%00/"],
    ["an empty text", ""],
  ])("%s", (_, url) => {
    expect(isRedirectUrl(url)).toBe(false);
  });
});

describe("every accepted redirect URL", () => {
  it("is parsed as http or https with a host and without credentials", () => {
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
