import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { secretKeyPreview, webhookKey, webhookSecret } from "../../../../src/notifications/webhooks/secret.ts";
import { RUNS } from "../../../support/property-runs.ts";

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("a webhook secret", () => {
  it("consists of whsec_ and its 32 bytes in base64, and decodes to these bytes", () => {
    fc.assert(
      fc.property(bytes, (key) => {
        const secret = webhookSecret(key);
        expect(secret).toBe(`whsec_${Buffer.from(key).toString("base64")}`);
        expect(webhookKey(secret)).toEqual(key);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([0, 16, 31, 33, 64])("cannot be made of %i bytes", (length) => {
    expect(() => webhookSecret(new Uint8Array(length))).toThrow(`not ${length}`);
  });

  it("is accepted by the verifier of Standard Webhooks", () => {
    expect(() => new Webhook(webhookSecret(randomBytes(32)))).not.toThrow();
  });

  const secretOf = (length: number) => `whsec_${Buffer.alloc(length, 7).toString("base64")}`;

  it.each([24, 32, 64])("may have %i bytes, as Standard Webhooks allows", (length) => {
    expect(webhookKey(secretOf(length))).toHaveLength(length);
  });

  it.each([
    ["no text", ""],
    ["only the prefix", "whsec_"],
    ["a different prefix", secretOf(32).replace("whsec_", "sk_")],
    ["no prefix", secretOf(32).slice(6)],
    ["23 bytes", secretOf(23)],
    ["65 bytes", secretOf(65)],
    ["text that is not base64", `whsec_${"!".repeat(44)}`],
    ["URL-safe base64", `whsec_${Buffer.alloc(32, 0xff).toString("base64url")}`],
    ["missing padding", secretOf(32).slice(0, -1)],
    ["a line break", `${secretOf(32)}\n`],
  ])("is invalid with %s", (_, text) => {
    expect(webhookKey(text)).toBeUndefined();
  });
});

describe("the preview of a secret", () => {
  it("shows the first and the last four characters after the prefix", () => {
    expect(secretKeyPreview(webhookSecret(new Uint8Array(32).fill(0xab)))).toBe("whsec_q6ur...q6s=");
  });

  it("hides the other 216 bits of the secret", () => {
    fc.assert(
      fc.property(bytes, fc.uint8Array({ minLength: 27, maxLength: 27 }), (key, other) => {
        const changed = new Uint8Array(key);
        changed.set(other, 3);
        expect(secretKeyPreview(webhookSecret(changed))).toBe(secretKeyPreview(webhookSecret(key)));
      }),
      { numRuns: RUNS },
    );
  });
});
