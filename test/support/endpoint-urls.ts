// Checks the rule for endpoint URLs against test/vectors/endpoint-urls.ts, in each runtime that imports this file, since URL parsers differ.
import { describe, expect, it } from "vitest";
import { type EndpointRules, parseEndpointUrl } from "../../src/notifications/webhooks/endpoint-url.ts";
import { ALLOWED, LOOPBACK, NEAR_LOOPBACK, OWN, OWN_HOSTS, REFUSED } from "../vectors/endpoint-urls.ts";

const CLOSED: EndpointRules = { isLoopbackOpen: false, ownHost: OWN_HOSTS.closed };
const OPEN: EndpointRules = { isLoopbackOpen: true, ownHost: OWN_HOSTS.open };
const BOTH = [CLOSED, OPEN];

/** The stored form of a URL, or why the URL is refused. */
function verdict(text: string, rules: EndpointRules): string {
  const url = parseEndpointUrl(text, rules);
  return url.ok ? `stored as ${url.value.href}` : url.error;
}

function expectRefused(urls: readonly string[], why: string, rules: EndpointRules): void {
  expect(urls.map((url) => [url, verdict(url, rules)])).toEqual(urls.map((url) => [url, why]));
}

export function describeEndpointUrls(): void {
  describe("an endpoint's URL", () => {
    it("is tested with more than 500 hostile cases and 60 good ones, without duplicates", () => {
      const hostile = [...REFUSED, ...NEAR_LOOPBACK].flatMap(({ urls }) => urls);
      const good = ALLOWED.map(([text]) => text);
      expect(hostile.length).toBeGreaterThan(500);
      expect(good.length).toBeGreaterThan(60);
      expect(new Set([...hostile, ...good, ...OWN]).size).toBe(hostile.length + good.length + OWN.length);
    });

    it.each(REFUSED)("is refused with $what, whether or not loopback is open: $why", ({ urls, why }) => {
      for (const rules of BOTH) expectRefused(urls, why, rules);
    });

    it.each(NEAR_LOOPBACK)("is refused with $what, even if loopback is open: $why", ({ urls, why }) => {
      expectRefused(urls, why, OPEN);
      for (const url of urls) expect(parseEndpointUrl(url, CLOSED).ok).toBe(false);
    });

    it.each(ALLOWED)("%s is accepted, whether or not loopback is open", (text, href) => {
      const value = { href, host: new URL(href).host, isLoopback: false };
      for (const rules of BOTH) expect(parseEndpointUrl(text, rules)).toEqual({ ok: true, value });
    });

    it.each(LOOPBACK)("%s is accepted only if loopback is open", (text, href) => {
      const value = { href, host: new URL(href).hostname, isLoopback: true };
      expect(parseEndpointUrl(text, OPEN)).toEqual({ ok: true, value });
      expectRefused([text], "it must start with https:// and a host", CLOSED);
    });

    it.each(OWN)("%s is refused by the deployment with that host and by no other", (text) => {
      expectRefused([text], "the host is this service's own", CLOSED);
      expect(parseEndpointUrl(text, { isLoopbackOpen: false, ownHost: "other.edgetill.com" }).ok).toBe(true);
      expect(parseEndpointUrl(text, { isLoopbackOpen: false }).ok).toBe(true);
    });
  });
}
