// The MAC in an API key: each key that the API creates has a MAC that verifies for its merchant. A key whose MAC does not verify still works, and is
// refused for the same reasons as any other key (security.md 2).
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { apiKeyStanding } from "../../../src/accounts/auth/api-key.ts";
import { MINUTE_MS } from "../../../src/lib/time.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { expectRefusal, seedKey, seedMerchant, seedShop, send, sendWith } from "../../support/access.ts";
import { makeKey, rotateKey, SERVER_KEY, seated } from "../../support/api-keys.ts";
import { keyringOf } from "../../support/keyrings.ts";
import { testDb } from "../../support/worker-merchant.ts";

afterEach(() => vi.restoreAllMocks());

/** A deployment secret that did not create these tests' keys. */
const RETIRED = { API_KEY_MAC_KEY: `next:${btoa("a deployment secret of 32 bytes!")}` };
const pathOf = (merchantId: string) => `/api/v1/merchants/merchant/${merchantId}`;
const standingOf = (merchantId: string, apiKey: string) =>
  apiKeyStanding({ macKeys: keyringOf(env.API_KEY_MAC_KEY), apiKey, merchantId });

describe("an API key", () => {
  it("has a MAC that verifies only for its own merchant, whether created or rotated, secret or public", async () => {
    const owner = await seated("OWNER");
    const made = await makeKey(owner);
    const page = await makeKey(owner, { ...SERVER_KEY, kind: "PUBLIC", permissions: ["INVOICE_VIEW"] });
    const rotated = await rotateKey(owner, made.id, 1);
    for (const { secret } of [made, page, rotated]) {
      expect(standingOf(owner.merchantId, secret)).toBe("GENUINE");
      expect(standingOf(await seedMerchant(), secret)).toBe("UNPROVED");
    }
  });

  it("cannot be created without API_KEY_MAC_KEY, and the attempt stores nothing", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const owner = await seated("OWNER");
    const ask = { method: "POST", headers: owner.headers, body: SERVER_KEY };
    const answer = await sendWith({ API_KEY_MAC_KEY: "" }, `${pathOf(owner.merchantId)}/api-keys`, ask);
    expectRefusal(answer, 500, "INTERNAL_ERROR");
    expect(await testDb.select().from(apiKeys).where(eq(apiKeys.merchantId, owner.merchantId))).toEqual([]);
  });
});

describe.each([
  ["whose deployment secret is retired", RETIRED],
  ["in a deployment without API_KEY_MAC_KEY", { API_KEY_MAC_KEY: "" }],
  ["in a deployment with a malformed API_KEY_MAC_KEY", { API_KEY_MAC_KEY: "k1:short" }],
])("a key %s", (_, changes) => {
  it("keeps working, whether it is secret or public", async () => {
    const { merchantId, secretKey, publicKey } = await seedShop();
    const body = { name: "Order", rawAmount: 1 };
    const ask = (key: string) => ({ method: "POST", key, body });
    expect((await sendWith(changes, pathOf(merchantId), { key: secretKey })).status).toBe(200);
    expect((await sendWith(changes, `${pathOf(merchantId)}/invoices`, ask(secretKey))).status).toBe(201);
    expect((await sendWith(changes, `${pathOf(merchantId)}/invoices`, ask(publicKey))).status).toBe(201);
  });

  it("is refused for the same reasons, with the same messages, as a key whose MAC verifies", async () => {
    const [merchantId, otherId] = [await seedMerchant(), await seedMerchant()];
    const cases: readonly [string, string, number, string][] = [
      [merchantId, await seedKey(merchantId, { expiresAtMs: Date.now() - MINUTE_MS }), 401, "UNAUTHORIZED"],
      [merchantId, await seedKey(merchantId, { revokedAtMs: Date.now() - MINUTE_MS }), 401, "UNAUTHORIZED"],
      [otherId, await seedKey(merchantId), 403, "MERCHANT_MISMATCH"],
      ["mer_1", await seedKey(merchantId), 403, "MERCHANT_MISMATCH"],
      [merchantId, await seedKey(merchantId, { permissions: [] }), 403, "PERMISSION_DENIED"],
      [merchantId, await seedKey(merchantId, { kind: "PUBLIC" }), 403, "PUBLIC_KEY_FORBIDDEN"],
      [merchantId, await seedKey(merchantId, { allowedIps: '["192.0.2.1/32"]' }), 403, "IP_NOT_ALLOWED"],
    ];
    for (const [path, key, status, code] of cases) {
      const refused = expectRefusal(await sendWith(changes, pathOf(path), { key }), status, code);
      expect(refused).toEqual(expectRefusal(await send(pathOf(path), { key }), status, code));
    }
  });
});
