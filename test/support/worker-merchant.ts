// A new merchant with a secret key in the test Worker's database, and calls to the real Worker on its paths.
import { env, exports } from "cloudflare:workers";
import { newApiKey } from "../../src/accounts/auth/api-key.ts";
import { keyPermissionName, SECRET_KEY_PERMISSIONS } from "../../src/accounts/roles/permissions.ts";
import { type IdPrefix, type MerchantId, makeId, newUlid } from "../../src/lib/ids.ts";
import { openDb } from "../../src/platform/db/client.ts";
import { apiKeys } from "../../src/platform/db/schema/api-keys.ts";
import { merchants } from "../../src/platform/db/schema/merchants.ts";
import { teams } from "../../src/platform/db/schema/teams.ts";
import { keyringOf } from "./keyrings.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts the shape of each answer
  readonly body: any;
}

export interface TestMerchant {
  readonly merchantId: MerchantId;
  /** The merchant's secret key. */
  readonly secret: string;
  get(rest: string, headers?: Record<string, string>): Promise<Answer>;
  post(rest: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(rest: string, body: unknown): Promise<Answer>;
  delete(rest: string): Promise<Answer>;
}

export const testDb = openDb(env.DB);

const freshBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
export const freshId = <P extends IdPrefix>(prefix: P) => makeId(prefix, newUlid(Date.now(), freshBytes(16)));

export async function freshMerchant(): Promise<TestMerchant> {
  const nowMs = Date.now();
  const merchantId = freshId("mer");
  const { secret, hash, display } = newApiKey({
    kind: "SECRET",
    merchantId,
    macKeys: keyringOf(env.API_KEY_MAC_KEY),
    randomBytes: freshBytes,
  });
  await testDb.batch([
    testDb.insert(merchants).values({ id: merchantId, name: "Shop", createdAtMs: nowMs, updatedAtMs: nowMs }),
    testDb.insert(teams).values({ merchantId, updatedAtMs: nowMs }),
    testDb.insert(apiKeys).values({
      id: freshId("key"),
      merchantId,
      kind: "SECRET",
      name: "Test",
      hash,
      display,
      permissions: JSON.stringify(SECRET_KEY_PERMISSIONS.map(keyPermissionName)),
      createdAtMs: nowMs,
    }),
  ]);
  const call = async (method: string, rest: string, body?: unknown, more: Record<string, string> = {}) => {
    const headers = {
      "x-api-key": secret,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...more,
    };
    const url = `http://localhost:8787/api/v1/merchants/merchant/${merchantId}${rest}`;
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await exports.default.fetch(new Request(url, { method, headers, ...json }));
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };
  return {
    secret,
    merchantId,
    get: (rest, headers) => call("GET", rest, undefined, headers),
    post: (rest, body, headers) => call("POST", rest, body, headers),
    patch: (rest, body) => call("PATCH", rest, body),
    delete: (rest) => call("DELETE", rest),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
