// Compares verifyReturn with the URLs that src/checkout/signed-redirect signs.
import { createServer } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EdgetillConnectionError } from "../../../client/errors.ts";
import { type ReturnRefusal, ReturnVerificationError, verifyReturn } from "../../../client/return.ts";
import { returnUrl } from "../../../src/checkout/signed-redirect/return-url.ts";
import { listPublicKeys, returnUrlFor } from "../../../src/checkout/signed-redirect/sign-return.ts";
import { signingKeysOf } from "../../../src/checkout/signed-redirect/signing-key.ts";
import { listen } from "../../support/listen.ts";
import { RUNS } from "../../support/property-runs.ts";
import { rejection } from "./scripted-api.ts";

const keyring = (...ids: readonly string[]) =>
  signingKeysOf({ SIGNING_KEY: ids.map((id) => `${id}:${Buffer.alloc(32, id).toString("base64")}`).join(",") });
const deps = { signingKeys: keyring("k2", "k1"), report: () => {} };
const keys = { keys: await listPublicKeys(deps) };
const nowMs = Date.UTC(2026, 10, 21, 12);
const OF = { invoiceId: "inv_01M7ZZZZZZZZZZZZZZZZZZZZZZ", status: "PAID", nowMs } as const;
const url = await returnUrlFor(deps, { ...OF, redirectUrl: "https://shop.example/thanks?order=7#top" });
const FACTS = { invoiceId: OF.invoiceId, status: "PAID", timestamp: new Date(nowMs) };

async function reasonOf(promise: Promise<unknown>): Promise<ReturnRefusal> {
  const error = await rejection(promise);
  if (error instanceof ReturnVerificationError) return error.reason;
  throw error;
}

function changed(change: (query: URLSearchParams) => void): string {
  const other = new URL(url);
  change(other.searchParams);
  return other.href;
}

describe("a genuine return", () => {
  const { pathname, search } = new URL(url);
  it.each([
    ["text", url],
    ["a URL", new URL(url)],
    ["the path that Node's server sees", `${pathname}${search}`],
  ])("given as %s is verified, and yields its invoice, status and time", async (_, given) => {
    expect(await verifyReturn({ url: given, keys, nowMs })).toEqual(FACTS);
  });

  it("is verified with any key in the set", async () => {
    const old = await returnUrlFor(
      { ...deps, signingKeys: keyring("k1") },
      { ...OF, status: "OVERPAID", redirectUrl: "https://shop.example" },
    );
    expect(await verifyReturn({ url: old, keys, nowMs })).toEqual({ ...FACTS, status: "OVERPAID" });
  });

  it("is verified with any redirect URL and query of the shop", async () => {
    await fc.assert(
      fc.asyncProperty(fc.webUrl(), fc.webQueryParameters(), async (base, query) => {
        const made = await returnUrlFor(deps, { ...OF, redirectUrl: `${base}?${query}` });
        expect(await verifyReturn({ url: made, keys, nowMs })).toEqual(FACTS);
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });
});

describe("verifyReturn refuses a return that", () => {
  it.each<[string, string, ReturnRefusal]>([
    ["has none of our parameters", "https://shop.example/thanks", "PARAMETERS_MISSING"],
    ["is not signed", returnUrl("https://shop.example", OF, undefined), "PARAMETERS_MISSING"],
    ["has only a status and an invoice", "/thanks?status=PAID&invoiceId=inv_1", "PARAMETERS_MISSING"],
    ["lacks its signature", changed((query) => query.delete("signature")), "PARAMETERS_MISSING"],
    ["lacks its key", changed((query) => query.set("keyId", "")), "PARAMETERS_MISSING"],
    ["has a parameter twice", changed((query) => query.append("status", "PAID")), "PARAMETERS_MALFORMED"],
    ["names a different invoice first", `/?invoiceId=inv_1&${new URL(url).search.slice(1)}`, "PARAMETERS_MALFORMED"],
    ["has a status that is never signed", changed((query) => query.set("status", "EXPIRED")), "PARAMETERS_MALFORMED"],
    ["contains a line break", changed((query) => query.set("invoiceId", "inv_1\nPAID")), "PARAMETERS_MALFORMED"],
    [
      "has its time in a different format",
      changed((query) => query.set("timestamp", "2026-11-21T12:00Z")),
      "PARAMETERS_MALFORMED",
    ],
    ["has no time", changed((query) => query.set("timestamp", "now")), "PARAMETERS_MALFORMED"],
    ["has half a signature", changed((query) => query.set("signature", "AAAA")), "PARAMETERS_MALFORMED"],
    ["is not a URL", "https://shop.example:x/", "PARAMETERS_MALFORMED"],
    ["has an unknown key id", changed((query) => query.set("keyId", "k3")), "KEY_UNKNOWN"],
    ["has the id of the other key", changed((query) => query.set("keyId", "k1")), "SIGNATURE_MISMATCH"],
    ["was changed to overpaid", changed((query) => query.set("status", "OVERPAID")), "SIGNATURE_MISMATCH"],
    ["was changed to a different invoice", changed((query) => query.set("invoiceId", "inv_1")), "SIGNATURE_MISMATCH"],
  ])("%s", async (_, given, reason) => {
    expect(await reasonOf(verifyReturn({ url: given, keys, nowMs }))).toBe(reason);
  });

  it.each([
    [300_000, undefined, undefined],
    [-300_000, undefined, undefined],
    [300_001, undefined, "TIMESTAMP_TOO_OLD"],
    [-300_001, undefined, "TIMESTAMP_TOO_NEW"],
    [10_001, 10, "TIMESTAMP_TOO_OLD"],
  ])("is older or newer than allowed: %i ms with maxAgeSeconds %s, reason %s", async (age, maxAgeSeconds, reason) => {
    const given = { url, keys, nowMs: nowMs + age, maxAgeSeconds };
    if (reason === undefined) expect(await verifyReturn(given)).toEqual(FACTS);
    else expect(await reasonOf(verifyReturn(given))).toBe(reason);
  });

  it("differs in any one signed character", async () => {
    const { search } = new URL(url);
    const from = search.indexOf("invoiceId=");
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: from, max: search.length - 1 }),
        fc.stringMatching(/^[\w&=%+.-]$/),
        async (at, character) => {
          const other = `${search.slice(0, at)}${character}${search.slice(at + 1)}`;
          const isSame = String(new URLSearchParams(other)) === String(new URLSearchParams(search));
          fc.pre(!isSame);
          expect(await rejection(verifyReturn({ url: `/${other}`, keys, nowMs }))).toBeInstanceOf(
            ReturnVerificationError,
          );
        },
      ),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });
});

describe("without given keys", () => {
  async function serving(status: number, body: string, act: (baseUrl: string, asked: string[]) => Promise<void>) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
    const { origin, close } = await listen(server);
    try {
      await act(`${origin}/`, asked);
    } finally {
      await close();
    }
  }

  it("the keys are fetched from the service", async () => {
    await serving(200, JSON.stringify(keys), async (baseUrl, asked) => {
      expect(await verifyReturn({ url, baseUrl, nowMs })).toEqual(FACTS);
      expect(asked).toEqual(["/.well-known/edgetill-keys.json"]);
    });
  });

  it("a return that cannot be genuine is refused without a request", async () => {
    await serving(200, JSON.stringify(keys), async (baseUrl, asked) => {
      expect(await reasonOf(verifyReturn({ url: "/thanks?status=PAID", baseUrl, nowMs }))).toBe("PARAMETERS_MISSING");
      expect(await reasonOf(verifyReturn({ url, baseUrl, nowMs: nowMs + 3_600_000 }))).toBe("TIMESTAMP_TOO_OLD");
      expect(asked).toEqual([]);
    });
  });

  it.each([
    [500, "{}"],
    [200, "<html>"],
    [200, '{"keys":[{"kid":"k2"}]}'],
  ])("a response of %i %s is an EdgetillConnectionError, not a refusal of the return", async (status, body) => {
    await serving(status, body, async (baseUrl) => {
      expect(await rejection(verifyReturn({ url, baseUrl, nowMs }))).toBeInstanceOf(EdgetillConnectionError);
    });
  });

  it("a call without a baseUrl rejects with a TypeError", async () => {
    expect(await rejection(verifyReturn({ url, nowMs }))).toBeInstanceOf(TypeError);
  });
});
