import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EndpointRules, parseEndpointUrl } from "../../../../src/notifications/webhooks/endpoint-url.ts";
import { describeEndpointUrls } from "../../../support/endpoint-urls.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { ALLOWED, LOOPBACK, REFUSED } from "../../../vectors/endpoint-urls.ts";

describeEndpointUrls();

const rules = fc.constantFrom<EndpointRules>({ isLoopbackOpen: false }, { isLoopbackOpen: true });
const IP = { ok: false, error: "the host is an IP address" };

/** Characters that UTS #46 maps to a digit or a dot. */
const DIGITS = [0xff10, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1fbf0];
const DOTS = [".", "\u3002", "\uff0e", "\uff61"];

/** The same host with some characters from another script or percent-encoded. */
const disguised = (host: string) =>
  fc.array(fc.nat(9), { minLength: host.length, maxLength: host.length }).map((dice) =>
    [...host]
      .map((character, at) => {
        const die = dice[at] ?? 0;
        if (die === 9)
          return encodeURIComponent(character).replace(/^[^%]$/, (one) => `%${one.charCodeAt(0).toString(16)}`);
        if (character === ".") return DOTS[die] ?? ".";
        const zero = /\d/.test(character) ? DIGITS[die] : undefined;
        return zero === undefined ? character : String.fromCodePoint(zero + Number(character));
      })
      .join(""),
  );

const bases = fc.constantFrom(
  (part: number) => String(part),
  (part: number) => `0x${part.toString(16)}`,
  (part: number) => `0X000${part.toString(16).toUpperCase()}`,
  (part: number) => `0${part.toString(8)}`,
  (part: number) => `0000${part.toString(8)}`,
);

/** An IPv4 address of one to four parts. The last part stands for all remaining bytes. */
const ipv4Host = fc
  .tuple(fc.nat(2 ** 32 - 1), fc.integer({ min: 1, max: 4 }), fc.tuple(bases, bases, bases, bases), fc.boolean())
  .map(([address, count, writers, hasDot]) => {
    const leading = Array.from({ length: count - 1 }, (_, at) => Math.floor(address / 2 ** (24 - 8 * at)) % 256);
    const parts = [...leading, address % 2 ** (32 - 8 * (count - 1))];
    return parts.map((part, at) => writers[at]?.(part)).join(".") + (hasDot ? "." : "");
  });

describe("an endpoint's URL", () => {
  it("must not be an IPv4 address, in any number of parts and any base, script or encoding", () => {
    fc.assert(
      fc.property(ipv4Host.chain(disguised), rules, (host, each) => {
        expect(parseEndpointUrl(`https://${host}/`, each)).toEqual(IP);
      }),
      { numRuns: RUNS },
    );
  });

  it("must not be an IPv6 address, in any spelling", () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.boolean(), rules, (address, isUpper, each) => {
        expect(parseEndpointUrl(`https://[${isUpper ? address.toUpperCase() : address}]/`, each)).toEqual(IP);
      }),
      { numRuns: RUNS },
    );
  });

  it("with a refused host is refused with any path and query, also in upper case", () => {
    const refused = REFUSED.filter(({ why }) => why.startsWith("the host"))
      .flatMap(({ urls }) => urls)
      .filter((url) => /^https:\/\/[^/?#]+\/$/.test(url))
      .map((url) => url.slice(0, -1));
    expect(refused.length).toBeGreaterThan(200);
    const capitals = fc.constantFrom(
      (url: string) => url,
      (url: string) => url.toUpperCase(),
    );
    const rest = fc
      .tuple(fc.webPath({ size: "small" }), fc.webQueryParameters())
      .map(([path, query]) => `/${path}?${query}`);
    fc.assert(
      fc.property(fc.constantFrom(...refused), capitals, rest, rules, (origin, write, tail, each) => {
        expect(parseEndpointUrl(write(origin) + tail, each).ok).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  it("that is accepted has a stored form, which is accepted again and unchanged", () => {
    const good = fc.constantFrom(...ALLOWED, ...LOOPBACK).map(([text]) => text);
    const made = fc.webUrl({ validSchemes: ["https", "http"], withQueryParameters: true });
    const loose = fc
      .tuple(fc.domain(), fc.string({ unit: "grapheme", maxLength: 30 }))
      .map(([host, tail]) => `https://${host}/${tail}`);
    let count = 0;
    fc.assert(
      fc.property(fc.oneof(good, made, loose), rules, (text, each) => {
        const url = parseEndpointUrl(text, each);
        if (!url.ok) return;
        count += 1;
        expect(parseEndpointUrl(url.value.href, each)).toEqual(url);
        expect(new URL(url.value.href)).toMatchObject({
          href: url.value.href,
          hostname: url.value.host,
          hash: "",
          username: "",
        });
      }),
      { numRuns: RUNS },
    );
    expect(count).toBeGreaterThan(RUNS / 4);
  });

  it("is accepted only for https on port 443 and a name with a dot, if loopback is not allowed", () => {
    const chunk = fc.constantFrom(
      ..."https:// http:// // / \\ : @ # ? . [ ] % %2e %40 localhost 127.0.0.1 ::1 0x7f 443 80 acme.com shop com . - _ \u3002 \uff0f \u00ad é".split(
        " ",
      ),
    );
    const text = fc.tuple(fc.constantFrom("https://", "https:", ""), fc.array(chunk, { maxLength: 8 }));
    fc.assert(
      fc.property(text, ([start, chunks]) => {
        const url = parseEndpointUrl(start + chunks.join(""), { isLoopbackOpen: false });
        if (url.ok) expect(url.value.href).toMatch(/^https:\/\/(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*\/[^#\\\s]*$/);
      }),
      { numRuns: RUNS },
    );
  });

  it("is refused without repeating a user name or password", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9]{6,20}$/),
        fc.stringMatching(/^[a-z0-9]{6,20}$/),
        rules,
        (user, password, each) => {
          const scheme = each.isLoopbackOpen ? "http" : "https";
          const url = parseEndpointUrl(`${scheme}://${user}:${password}@localhost/`, each);
          expect(JSON.stringify(url)).not.toContain(user);
          expect(JSON.stringify(url)).not.toContain(password);
        },
      ),
      { numRuns: Math.min(RUNS, 1_000) },
    );
  });
});
