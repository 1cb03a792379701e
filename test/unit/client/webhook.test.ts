// Compares verifyWebhook with `standardwebhooks`: both must accept and refuse the same webhooks.
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import { verifyWebhook, type WebhookRefusal, WebhookVerificationError } from "../../../client/webhook.ts";
import { RUNS } from "../../support/property-runs.ts";
import { rejection } from "./scripted-api.ts";

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const OTHER = `whsec_${randomBytes(32).toString("base64")}`;
const NOW = 1_795_262_400;
const nowMs = NOW * 1_000;
const payload = '{"id":"evt_1","type":"invoice.paid","data":{"invoice":{"name":"Kaffee für zwei ☕"}}}';

afterEach(() => {
  vi.useRealTimers();
});

function signed(of: { payload?: string; id?: string; seconds?: number; secrets?: readonly string[] } = {}) {
  const { payload: body = payload, id = "evt_1", seconds = NOW, secrets = [SECRET] } = of;
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, new Date(seconds * 1_000), body));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signatures.join(" "),
  };
}

async function reasonOf(promise: Promise<unknown>): Promise<WebhookRefusal> {
  const error = await rejection(promise);
  if (error instanceof WebhookVerificationError) return error.reason;
  throw error;
}

/** Whether `standardwebhooks` accepts the webhook at `nowMs`. */
function isTakenByTheirs(body: string, headers: Record<string, string>): boolean {
  vi.useFakeTimers({ now: nowMs, toFake: ["Date"] });
  try {
    new Webhook(SECRET).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  } finally {
    vi.useRealTimers();
  }
}

describe("a genuine webhook", () => {
  it("is verified, and yields its event", async () => {
    expect(await verifyWebhook({ payload, headers: signed(), secret: SECRET, nowMs })).toEqual(JSON.parse(payload));
  });

  it("may be given as bytes", async () => {
    const bytes = new TextEncoder().encode(payload);
    expect(await verifyWebhook({ payload: bytes, headers: signed(), secret: SECRET, nowMs })).toEqual(
      JSON.parse(payload),
    );
  });

  const headers = signed();
  it.each([
    ["Headers", new Headers(headers)],
    ["a Map", new Map(Object.entries(headers))],
    ["pairs", Object.entries(headers)],
    [
      "an object in upper case",
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
    ],
    ["a Map in mixed case", new Map(Object.entries(headers).map(([name, value]) => [name.replace("w", "W"), value]))],
    [
      "an object with lists and unrelated headers",
      { ...headers, "webhook-id": ["evt_1"], "set-cookie": ["a", "b"], absent: undefined },
    ],
  ])("may have its headers as %s", async (_, given) => {
    expect(await verifyWebhook({ payload, headers: given, secret: SECRET, nowMs })).toMatchObject({ id: "evt_1" });
  });

  it.each([
    ["the only secret", { secret: SECRET }],
    ["the only secret without its prefix", { secret: SECRET.slice(6) }],
    ["the old and the new secret", { secrets: [OTHER, SECRET] }],
    ["secret and secrets together", { secret: OTHER, secrets: [SECRET] }],
  ])("is verified with %s", async (_, given) => {
    expect(await verifyWebhook({ payload, headers: signed(), ...given, nowMs })).toMatchObject({ id: "evt_1" });
  });

  it("is verified with either secret during a rotation", async () => {
    const both = signed({ secrets: [OTHER, SECRET] });
    for (const secret of [SECRET, OTHER]) {
      expect(await verifyWebhook({ payload, headers: both, secret, nowMs })).toMatchObject({ id: "evt_1" });
    }
  });

  it("is verified when there are also signatures of unknown versions", async () => {
    const headers = signed();
    const list = `v1a,AAAA v2,${headers["webhook-signature"].slice(3)}  ${headers["webhook-signature"]} v1`;
    const given = { ...headers, "webhook-signature": list };
    expect(await verifyWebhook({ payload, headers: given, secret: SECRET, nowMs })).toMatchObject({ id: "evt_1" });
  });

  it("is verified if standardwebhooks signed it, for any body, id, time and secret", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.json(),
        fc.stringMatching(/^[\w.:-]{1,40}$/),
        fc.integer({ min: NOW - 300, max: NOW + 300 }),
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        async (body, id, seconds, key) => {
          const secret = `whsec_${Buffer.from(key).toString("base64")}`;
          const headers = signed({ payload: body, id, seconds, secrets: [secret] });
          expect(await verifyWebhook({ payload: body, headers, secret, nowMs })).toEqual(JSON.parse(body));
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe("verifyWebhook refuses a webhook", () => {
  const headers = signed();
  const signature = headers["webhook-signature"];
  const spare = signature.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`);

  it.each<[string, Record<string, string | undefined>, WebhookRefusal]>([
    ["no id", { "webhook-id": undefined }, "HEADERS_MISSING"],
    ["an empty id", { "webhook-id": "" }, "HEADERS_MISSING"],
    ["no timestamp", { "webhook-timestamp": undefined }, "HEADERS_MISSING"],
    ["no signature", { "webhook-signature": undefined }, "HEADERS_MISSING"],
    ["a timestamp in words", { "webhook-timestamp": "now" }, "TIMESTAMP_MALFORMED"],
    ["a timestamp with a letter after it", { "webhook-timestamp": `${NOW}x` }, "TIMESTAMP_MALFORMED"],
    ["a timestamp with a zero before it", { "webhook-timestamp": `0${NOW}` }, "TIMESTAMP_MALFORMED"],
    ["a timestamp with a fraction", { "webhook-timestamp": `${NOW}.0` }, "TIMESTAMP_MALFORMED"],
    ["a negative timestamp", { "webhook-timestamp": "-1" }, "TIMESTAMP_MALFORMED"],
    ["a timestamp of 40 digits", { "webhook-timestamp": "9".repeat(40) }, "TIMESTAMP_MALFORMED"],
    ["a different id", { "webhook-id": "evt_2" }, "SIGNATURE_MISMATCH"],
    ["a different timestamp", { "webhook-timestamp": `${NOW + 1}` }, "SIGNATURE_MISMATCH"],
    ["a different version", { "webhook-signature": signature.replace("v1", "v2") }, "SIGNATURE_MISMATCH"],
    ["no version", { "webhook-signature": signature.slice(3) }, "SIGNATURE_MISMATCH"],
    ["an empty signature", { "webhook-signature": "v1," }, "SIGNATURE_MISMATCH"],
    ["half a signature", { "webhook-signature": signature.slice(0, 27) }, "SIGNATURE_MISMATCH"],
    ["no padding", { "webhook-signature": signature.replace("=", "") }, "SIGNATURE_MISMATCH"],
    ["other bits that base64 ignores", { "webhook-signature": spare }, "SIGNATURE_MISMATCH"],
    ["more text after the signature", { "webhook-signature": `${signature},x` }, "SIGNATURE_MISMATCH"],
    ["invalid base64", { "webhook-signature": "v1,ünsigned" }, "SIGNATURE_MISMATCH"],
  ])("with %s", async (_, change, reason) => {
    const given = { ...headers, ...change };
    expect(await reasonOf(verifyWebhook({ payload, headers: given, secret: SECRET, nowMs }))).toBe(reason);
  });

  it("that is signed with a different secret", async () => {
    expect(await reasonOf(verifyWebhook({ payload, headers, secret: OTHER, nowMs }))).toBe("SIGNATURE_MISMATCH");
  });

  it("that has a header twice", async () => {
    const twice = [...Object.entries(headers), ["Webhook-Id", "evt_1"] as const];
    expect(await reasonOf(verifyWebhook({ payload, headers: twice, secret: SECRET, nowMs }))).toBe(
      "SIGNATURE_MISMATCH",
    );
  });

  it.each([
    [300, undefined, undefined],
    [-300, undefined, undefined],
    [301, undefined, "TIMESTAMP_TOO_OLD"],
    [-301, undefined, "TIMESTAMP_TOO_NEW"],
    [10, 10, undefined],
    [11, 10, "TIMESTAMP_TOO_OLD"],
    [-11, 10, "TIMESTAMP_TOO_NEW"],
  ])("that is too old or too new: %i s with a tolerance of %s gives %s", async (age, toleranceSeconds, reason) => {
    // The age is counted in whole seconds, even in the last millisecond of a second.
    const given = {
      payload,
      headers: signed({ seconds: NOW - age }),
      secret: SECRET,
      nowMs: nowMs + 999,
      toleranceSeconds,
    };
    if (reason === undefined) expect(await verifyWebhook(given)).toMatchObject({ id: "evt_1" });
    else expect(await reasonOf(verifyWebhook(given))).toBe(reason);
  });

  it("that is too old by the clock when no time is given", async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const given = { payload, secret: SECRET };
    expect(await verifyWebhook({ ...given, headers: signed({ seconds }) })).toMatchObject({ id: "evt_1" });
    expect(await reasonOf(verifyWebhook({ ...given, headers: signed({ seconds: seconds - 400 }) }))).toBe(
      "TIMESTAMP_TOO_OLD",
    );
  });

  it.each(["", "{", "\ufeff{}"])("that is signed but not JSON: %j", async (body) => {
    const given = { payload: body, headers: signed({ payload: body }), secret: SECRET, nowMs };
    expect(await reasonOf(verifyWebhook(given))).toBe("PAYLOAD_MALFORMED");
  });

  it("in which any one character was changed", async () => {
    const parts = { payload, ...headers };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<keyof typeof parts>("payload", "webhook-id", "webhook-timestamp", "webhook-signature"),
        fc.nat(),
        fc.constantFrom("replace", "insert", "remove"),
        fc.string({ minLength: 1, maxLength: 1 }),
        async (name, place, how, character) => {
          const text = parts[name];
          const at = place % text.length;
          const tail = text.slice(how === "insert" ? at : at + 1);
          const changed = `${text.slice(0, at)}${how === "remove" ? "" : character}${tail}`;
          fc.pre(changed !== text);
          const { payload: body, ...given } = { ...parts, [name]: changed };
          const isTaken = await verifyWebhook({ payload: body, headers: given, secret: SECRET, nowMs }).then(
            () => true,
            (error) => !(error instanceof WebhookVerificationError),
          );
          // Only a change to the signature header can be harmless, such as a space between signatures. Then `standardwebhooks` must accept the
          // webhook too.
          if (isTaken) expect([name, isTakenByTheirs(body, given)]).toEqual(["webhook-signature", true]);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("that standardwebhooks refuses", async () => {
    const near = (text: string) => fc.constantFrom(text, `${text} `, `${text}0`, text.slice(1), text.toUpperCase(), "");
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(
        near("evt_1"),
        fc.oneof(near(String(NOW)), fc.integer({ min: NOW - 400, max: NOW + 400 }).map(String)),
        fc.array(fc.oneof(near(signature), fc.constantFrom("v1", "v1,", ",", "v1,AAAA")), { maxLength: 3 }),
        fc.constantFrom(payload, `${payload} `, "{}"),
        async (id, timestamp, signatures, body) => {
          const given = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
          const isTaken = await verifyWebhook({ payload: body, headers: given, secret: SECRET, nowMs }).then(
            () => true,
            () => false,
          );
          if (isTaken) {
            taken += 1;
            expect(isTakenByTheirs(body, given)).toBe(true);
          }
        },
      ),
      // This example ensures that a genuine signature occurs.
      { numRuns: RUNS, examples: [["evt_1", String(NOW), [signature], payload]] },
    );
    expect(taken).toBeGreaterThan(0);
  });
});

describe("an unusable secret", () => {
  it.each([
    ["no secret", {}],
    ["an empty list", { secrets: [] }],
    ["an empty secret", { secret: "" }],
    ["only its prefix", { secret: "whsec_" }],
    ["invalid base64", { secret: "whsec_not base64!" }],
    ["one invalid secret of two", { secrets: [SECRET, "whsec_?"] }],
  ])("causes a TypeError that does not show it: %s", async (_, given) => {
    const error = await rejection(verifyWebhook({ payload, headers: signed(), nowMs, ...given }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/^TypeError: (verifyWebhook needs a secret|a webhook secret is whsec_ and base64)$/);
  });
});
