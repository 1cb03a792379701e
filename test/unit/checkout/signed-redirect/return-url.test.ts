import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { returnText, returnUrl } from "../../../../src/checkout/signed-redirect/return-url.ts";
import { RUNS } from "../../../support/property-runs.ts";

const OF = {
  invoiceId: "inv_01M7ZZZZZZZZZZZZZZZZZZZZZZ",
  status: "PAID",
  nowMs: Date.UTC(2026, 10, 21, 12, 0, 0, 7),
} as const;
const SIGNED = { keyId: "k1", signature: "A_-z" };
const OURS =
  "invoiceId=inv_01M7ZZZZZZZZZZZZZZZZZZZZZZ&status=PAID&timestamp=2026-11-21T12%3A00%3A00.007Z&keyId=k1&signature=A_-z";

it("the signed text is four lines: its purpose, the invoice, the status and the time", () => {
  expect(returnText(OF)).toBe("edgetill-return-v1\ninv_01M7ZZZZZZZZZZZZZZZZZZZZZZ\nPAID\n2026-11-21T12:00:00.007Z");
});

describe("the return URL", () => {
  it.each([
    ["https://shop.example/thanks", `https://shop.example/thanks?${OURS}`],
    ["https://shop.example", `https://shop.example/?${OURS}`],
    ["http://shop.example/t?", `http://shop.example/t?${OURS}`],
    ["https://shop.example/t?order=7&flag&x=a%20b+c#top", `https://shop.example/t?order=7&flag&x=a%20b+c&${OURS}#top`],
    ["https://shop.example/t?a=1&a=2#?status=PAID", `https://shop.example/t?a=1&a=2&${OURS}#?status=PAID`],
    ["https://shop.example/ü?q=ü", `https://shop.example/%C3%BC?q=%C3%BC&${OURS}`],
    ["https://shop.example/t?status=OPEN&order=7&signature=x&keyId", `https://shop.example/t?order=7&${OURS}`],
    ["https://shop.example/t??status=OPEN&?", `https://shop.example/t??status=OPEN&?&${OURS}`],
    ["https://shop.example/t?%73tatus=OPEN&invoice+Id=8", `https://shop.example/t?invoice+Id=8&${OURS}`],
  ])("of %s keeps the shop's own parameters, and replaces those with our names", (redirectUrl, url) => {
    expect(returnUrl(redirectUrl, OF, SIGNED)).toBe(url);
  });

  it("without a signature names only the invoice", () => {
    expect(returnUrl("https://shop.example/t?order=7&status=PAID&signature=x#top", OF, undefined)).toBe(
      `https://shop.example/t?order=7&invoiceId=${OF.invoiceId}#top`,
    );
  });

  it("has each of our parameters once, for any query of the shop", () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.webQueryParameters(), fc.webFragments(), (base, query, fragment) => {
        const redirectUrl = `${base}?${query}#${fragment}`;
        const before = new URL(redirectUrl);
        const after = new URL(returnUrl(redirectUrl, OF, SIGNED));
        expect([after.origin, after.pathname, after.hash]).toEqual([before.origin, before.pathname, before.hash]);
        const ours = [...new URLSearchParams(OURS)];
        const own = [...before.searchParams].filter(([name]) => !ours.some(([each]) => each === name));
        expect([...after.searchParams]).toEqual([...own, ...ours]);
      }),
      { numRuns: RUNS },
    );
  });
});
