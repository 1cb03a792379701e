import { createHmac, randomBytes } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { webhookSecret } from "../../../../src/notifications/webhooks/secret.ts";
import { type Signable, signedHeaders } from "../../../../src/notifications/webhooks/signature.ts";
import { RUNS } from "../../../support/property-runs.ts";

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const secret = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(webhookSecret);
const ids = { eventId: "evt_1", deliveryId: "dlv_1", webhookId: "whk_1" };
const made = (over: Partial<Signable> = {}): Signable => ({
  ...ids,
  body: "{}",
  timestampSeconds: nowSeconds(),
  secrets: [webhookSecret(randomBytes(32))],
  ...over,
});

/** What receivers of the t=,v1= form compute: an HMAC of the header's time and the body, with the whole secret as the key. */
function provesPlain(header: string | undefined, body: string, secret: string): boolean {
  const parts = (header ?? "").split(",").map((part) => part.split("="));
  const time = parts.find(([name]) => name === "t")?.[1];
  const expected = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  return parts.some(([name, value]) => name === "v1" && value === expected);
}

const verifies = (secret: string, body: string, headers: Readonly<Record<string, string>>): boolean => {
  try {
    new Webhook(secret).verify(body, { ...headers }, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
};

describe("the headers of an attempt", () => {
  // The example from the libraries of Standard Webhooks (libraries/*/test, "sign function works").
  const example = {
    eventId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    body: '{"test": 2432232314}',
    timestampSeconds: 1_614_265_330,
    secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  };

  it("are as expected for the example of Standard Webhooks", async () => {
    expect(await signedHeaders(made(example))).toEqual({
      "content-type": "application/json",
      "user-agent": "Edgetill-Webhooks/1",
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      "x-signature": expect.stringMatching(/^t=1614265330,v1=[0-9a-f]{64}$/),
      "x-webhook-id": "whk_1",
      "x-event-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "x-delivery-id": "dlv_1",
    });
  });

  it("are valid header values", async () => {
    const headers = await signedHeaders(made({ secrets: [1, 2, 3].map(() => webhookSecret(randomBytes(32))) }));
    expect(Object.fromEntries(new Headers(headers))).toEqual(headers);
  });

  it("verify with standardwebhooks and with the t=,v1= form, for any body", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), secret, async (body, secret) => {
        const headers = await signedHeaders(made({ body, secrets: [secret] }));
        expect(verifies(secret, body, headers)).toBe(true);
        expect(provesPlain(headers["x-signature"], body, secret)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("verify for a body of 20 KB", async () => {
    const body = JSON.stringify({ text: "€🏦".repeat(2_900) });
    const { secrets, ...rest } = made({ body });
    expect(verifies(secrets[0] ?? "", body, await signedHeaders({ ...rest, secrets }))).toBe(true);
  });

  it("do not verify for a different body, id, time or secret", async () => {
    const of = made({ body: '{"amount":"10.00"}' });
    const [mine = ""] = of.secrets;
    const headers = await signedHeaders(of);
    expect(verifies(mine, of.body, headers)).toBe(true);
    expect(verifies(mine, '{"amount":"10.01"}', headers)).toBe(false);
    expect(verifies(mine, of.body, { ...headers, "webhook-id": "evt_2" })).toBe(false);
    expect(verifies(mine, of.body, { ...headers, "webhook-timestamp": String(of.timestampSeconds + 1) })).toBe(false);
    expect(verifies(webhookSecret(randomBytes(32)), of.body, headers)).toBe(false);
    expect(provesPlain(headers["x-signature"], of.body, mine)).toBe(true);
    expect(provesPlain(headers["x-signature"], '{"amount":"10.01"}', mine)).toBe(false);
    const later = headers["x-signature"]?.replace(/^t=\d+/, `t=${of.timestampSeconds + 1}`);
    expect(provesPlain(later, of.body, mine)).toBe(false);
  });

  it("verify with each secret in force during a rotation, the newest first", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(secret, { minLength: 1, maxLength: 4 }), async (secrets) => {
        const of = made({ body: "päh", secrets });
        const headers = await signedHeaders(of);
        for (const each of secrets) {
          expect(verifies(each, of.body, headers)).toBe(true);
          expect(provesPlain(headers["x-signature"], of.body, each)).toBe(true);
        }
        const alone = await signedHeaders({ ...of, secrets: secrets.slice(0, 1) });
        expect(headers["webhook-signature"]?.split(" ")).toHaveLength(secrets.length);
        expect(headers["webhook-signature"]?.split(" ")[0]).toBe(alone["webhook-signature"]);
        expect(headers["x-signature"]).toMatch(
          new RegExp(`^${alone["x-signature"]}(,v1=[0-9a-f]{64}){${secrets.length - 1}}$`),
        );
      }),
      { numRuns: RUNS / 10 },
    );
  });

  it("have the same id in every attempt, and a signature for the attempt's own time", async () => {
    const of = made();
    const [first, second] = [
      await signedHeaders(of),
      await signedHeaders({ ...of, timestampSeconds: of.timestampSeconds + 5 }),
    ];
    expect(second["webhook-id"]).toBe(first["webhook-id"]);
    expect(second["webhook-signature"]).not.toBe(first["webhook-signature"]);
    expect(second["x-signature"]).not.toBe(first["x-signature"]);
  });

  it.each([
    ["no secret", { secrets: [] }],
    ["an invalid secret", { secrets: ["whsec_canary"] }],
    ["milliseconds with a fraction", { timestampSeconds: 1.5 }],
    ["no time", { timestampSeconds: Number.NaN }],
  ])("cannot be created with %s, and the error does not contain the secret", async (_, over) => {
    await expect(signedHeaders(made(over))).rejects.toThrow(/^(?!.*canary)/);
  });
});
