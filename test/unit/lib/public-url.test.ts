import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { publicHttpsUrl } from "../../../src/lib/public-url.ts";
import { RUNS } from "../../support/property-runs.ts";

describe("publicHttpsUrl", () => {
  it.each([
    ["https://pictures.example/coffee.png", "https://pictures.example/coffee.png"],
    ["HTTPS://Pictures.Example:443/a?b=c#d", "https://pictures.example/a?b=c"],
    ["https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
    ["https://1.2.3.example", "https://1.2.3.example/"],
    ["https://local.example/", "https://local.example/"],
  ])("accepts %s as %s", (text, url) => {
    expect(publicHttpsUrl(text)).toEqual({ ok: true, value: url });
  });

  it.each([
    ["plain http", "http://pictures.example/"],
    ["a different scheme", "ftp://pictures.example/"],
    ["no scheme", "pictures.example/a.png"],
    ["backslashes instead of slashes", "https:\\\\pictures.example/"],
    ["one slash", "https:/pictures.example/"],
    ["a space", "https://pictures.example/a b"],
    ["a leading space", " https://pictures.example/"],
    ["a line break", "https://pictures.example/\n"],
    ["a backslash", "https://pictures.example\\@evil.example/"],
    ["a user", "https://me@pictures.example/"],
    ["a password", "https://me:secret@pictures.example/"],
    ["a different port", "https://pictures.example:8443/"],
    ["port 80", "https://pictures.example:80/"],
    ["an IPv4 literal", "https://127.0.0.1/"],
    ["a public IPv4 literal", "https://93.184.216.34/"],
    ["an IPv4 literal as one number", "https://2130706433/"],
    ["an IPv4 literal in hex", "https://0x7f.1/"],
    ["an IPv4 literal in octal", "https://0177.0.0.01/"],
    ["an IPv4 literal with a trailing dot", "https://127.0.0.1./"],
    ["full-width digits", "https://１２７.０.０.１/"],
    ["an IPv6 literal", "https://[::1]/"],
    ["an IPv4 address in IPv6", "https://[::ffff:169.254.169.254]/"],
    ["a host of one label", "https://intranet/"],
    ["localhost", "https://localhost/"],
    ["localhost with a trailing dot", "https://localhost./"],
    ["a host with a trailing dot", "https://pictures.example./"],
    ["a name below localhost", "https://a.localhost/"],
    ["a name of the local network", "https://printer.local/"],
    ["a cloud's internal name", "https://metadata.google.internal/"],
    ["a home network's name", "https://nas.home.arpa/"],
    ["a name for tests", "https://a.test/"],
    ["a local name in upper case", "https://PRINTER.LOCAL/"],
    ["no host", "https:///a.png"],
    ["more than 2,048 characters", `https://pictures.example/${"a".repeat(2_048)}`],
  ])("refuses an address with %s", (_, text) => {
    expect(publicHttpsUrl(text)).toMatchObject({ ok: false, error: expect.stringMatching(/^its /) });
  });

  it("refuses an IPv4 address in every notation that the URL parser accepts", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const spell = fc.constantFrom(
      (n: number) => String(n),
      (n: number) => `0x${n.toString(16)}`,
      (n: number) => `0${n.toString(8)}`,
    );
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte, byte), spell, fc.boolean(), (bytes, write, isWhole) => {
        const whole = bytes.reduce((sum, each) => sum * 256 + each, 0);
        const host = isWhole ? write(whole) : bytes.map(write).join(".");
        expect(publicHttpsUrl(`https://${host}/`).ok).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  it("accepts each URL that it returned, and returns it unchanged", () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ["https"], withQueryParameters: true, withFragments: true }), (text) => {
        const url = publicHttpsUrl(text);
        if (url.ok) expect(publicHttpsUrl(url.value)).toEqual(url);
      }),
      { numRuns: RUNS },
    );
  });
});
