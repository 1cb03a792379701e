import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/lib/typed-json.ts";
import { fingerprint, keyHash, parseIdempotencyKey } from "../../../../src/platform/idempotency/idempotency-key.ts";
import { RUNS } from "../../../support/property-runs.ts";

describe("an Idempotency-Key", () => {
  it.each([
    ["absent", undefined, undefined],
    ["empty", "", undefined],
    ["one character", "k", "k"],
    ["a space", " ", " "],
    ["255 characters", "k".repeat(255), "k".repeat(255)],
    ["255 characters of two code units each", "😀".repeat(255), "😀".repeat(255)],
  ])("that is %s is used unchanged", (_, header, value) => {
    expect(parseIdempotencyKey(header)).toEqual({ ok: true, value });
  });

  it.each([
    ["256 characters", "k".repeat(256)],
    ["256 characters of two code units each", "😀".repeat(256)],
    ["bytes that are not UTF-8, which the runtime reads as replacement characters", "order-\ufffd"],
  ])("of %s is refused", (_, header) => {
    expect(parseIdempotencyKey(header)).toEqual({ ok: false, error: { code: "IDEMPOTENCY_KEY_INVALID" } });
  });

  it("is stored as a hash that depends on the merchant, the kind of API key and the text", () => {
    const hashes = ["mer_a", "mer_ab"].flatMap((merchantId) =>
      (["secret", "public"] as const).flatMap((keySpace) =>
        ["", "b", "b|6:secret"].map((key) => keyHash({ merchantId, keySpace, key })),
      ),
    );
    expect(new Set(hashes).size).toBe(12);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("the fingerprint of a request", () => {
  const of = (body: Json | undefined, method = "POST", path = "/a") => fingerprint({ method, path, body });

  it("is v1 and the SHA-256 of method, path and canonical body", () => {
    // The output of sha256sum for "POST\n/a\n{\"a\":1,\"b\":[true,null]}".
    const text = 'POST\n/a\n{"a":1,"b":[true,null]}';
    return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)).then((digest) => {
      expect(of({ b: [true, null], a: 1 })).toBe(`v1:${Buffer.from(digest).toString("hex")}`);
    });
  });

  it("does not depend on the order of keys, white space or how numbers are written", () => {
    const a: Json = JSON.parse('{"name":"x","rawAmount":10,"metadata":{"p":"1","q":"2"}}');
    const b: Json = JSON.parse('{ "metadata": {"q":"2", "p":"1"}, "rawAmount": 1.0e1, "name": "\\u0078" }');
    expect(of(a)).toBe(of(b));
  });

  it("differs for a different method, path or value, and between a body and no body", () => {
    const all = [
      of({ n: 1 }),
      of({ n: 1 }, "PUT"),
      of({ n: 1 }, "POST", "/b"),
      of({ n: 2 }),
      of({ n: "1" }),
      of({}),
      of(undefined),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it("is the same for two texts with the same value, and differs for different values", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [textA, textB] = [a, b].map((value) => JSON.stringify(value) ?? "null");
        const parsed = (text = "null"): Json => JSON.parse(text);
        expect(of(parsed(JSON.stringify(parsed(textA), null, 2)))).toBe(of(parsed(textA)));
        if (of(parsed(textA)) === of(parsed(textB))) expect(parsed(textA)).toEqual(parsed(textB));
      }),
      { numRuns: RUNS },
    );
  });
});
