// Merchants and keys for tests on workerd. Each test creates its own, so that tests share no rows.
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { expect } from "vitest";
import { type ApiKeyRow, newKey, newMerchant, newTeam } from "../../scripts/seed.ts";
import { createApp } from "../../src/app/app.ts";
import type { MerchantId } from "../../src/lib/ids.ts";
import { apiKeys } from "../../src/platform/db/schema/api-keys.ts";
import { merchants } from "../../src/platform/db/schema/merchants.ts";
import { teams } from "../../src/platform/db/schema/teams.ts";
import { keyringOf } from "./keyrings.ts";
import { ownMerchantObjects } from "./own-merchant-object.ts";

const ORIGIN = "http://localhost:8787";
const db = drizzle(env.DB);

export async function seedMerchant(changes: Partial<typeof merchants.$inferInsert> = {}): Promise<MerchantId> {
  const merchant = newMerchant("Test shop", Date.now());
  await db.batch([
    db.insert(merchants).values({ ...merchant, ...changes }),
    db.insert(teams).values(newTeam(merchant)),
  ]);
  return merchant.id;
}

/** Creates a key of a merchant, by default with every permission that its kind may have. `permissions` is in upper snake case. */
export async function seedKey(
  merchantId: MerchantId,
  of: { readonly kind?: ApiKeyRow["kind"]; readonly permissions?: readonly string[] } & Partial<
    Pick<ApiKeyRow, "expiresAtMs" | "revokedAtMs" | "allowedIps" | "lastUsedAtMs">
  > = {},
): Promise<string> {
  const { kind = "SECRET", permissions, ...changes } = of;
  const held = permissions === undefined ? {} : { permissions: JSON.stringify(permissions) };
  const { secret, row } = newKey(
    keyringOf(env.API_KEY_MAC_KEY),
    { merchantId, kind, nowMs: Date.now() },
    { ...changes, ...held },
  );
  await db.insert(apiKeys).values(row);
  return secret;
}

export interface Shop {
  readonly merchantId: MerchantId;
  readonly secretKey: string;
  readonly publicKey: string;
}

export async function seedShop(): Promise<Shop> {
  const merchantId = await seedMerchant();
  const [secretKey, publicKey] = await Promise.all([seedKey(merchantId), seedKey(merchantId, { kind: "PUBLIC" })]);
  return { merchantId, secretKey, publicKey };
}

export interface Ask {
  readonly method?: string;
  readonly key?: string | undefined;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cf?: unknown;
}

/** `path`: below the tests' own origin, or a whole URL. */
export function requestOf(path: string, ask: Ask = {}): Request {
  const { method = "GET", key, body, headers, cf } = ask;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Request(/^https?:/.test(path) ? path : `${ORIGIN}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { "x-api-key": key }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: text }),
    ...(cf === undefined ? {} : { cf: cf as CfProperties }),
  });
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed text; undefined if it is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

/** Sends a request through the Worker's own entry. */
export async function send(path: string, ask: Ask = {}): Promise<Answer> {
  return answerOf(await exports.default.fetch(requestOf(path, ask)));
}

/** Sends a request through the app with the test's own bindings or variables; resolves when its background work is done. */
export async function sendWith(changes: Partial<Env>, path: string, ask: Ask = {}): Promise<Answer> {
  return deploymentWith(changes)(path, ask);
}

/** Like `sendWith`, for several requests. The merchants' objects stay in memory between them. */
export function deploymentWith(changes: Partial<Env>): (path: string, ask?: Ask) => Promise<Answer> {
  // Outside development, removes bindings and variables that are for development only.
  const own = changes.ENVIRONMENT === undefined ? {} : { WEBHOOK_LOOPBACK: "", DEV_CONTROL: "" };
  const world: Env = { ...env, ...own, ...changes };
  let context = createExecutionContext();
  const MERCHANT_OBJECT = ownMerchantObjects(world, (work) => context.waitUntil(work));
  return async (path, ask = {}) => {
    context = createExecutionContext();
    const response = await createApp().fetch(requestOf(path, ask), { ...world, MERCHANT_OBJECT }, context);
    const answer = await answerOf(response);
    await waitOnExecutionContext(context);
    return answer;
  };
}

async function answerOf(response: Response): Promise<Answer> {
  // Not `text()`, which warns if the body is an image.
  const text = new TextDecoder().decode(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): Answer["json"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Checks that every response has a request id and the security headers (decisions 1, security.md). */
export function expectHeaders({ headers }: Answer): void {
  expect(headers.get("x-request-id")).toMatch(/^req_[0-9A-Z]{26}$/);
  expect(Object.fromEntries(headers)).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "strict-transport-security": expect.stringMatching(/^max-age=\d{8}/),
    "x-frame-options": "DENY",
    "content-security-policy": expect.stringContaining("default-src 'none'"),
  });
}

/** Checks the envelope of a refusal; returns its content without the request id. */
export function expectRefusal(answer: Answer, status: number, code: string): Readonly<Record<string, unknown>> {
  expectHeaders(answer);
  expect([answer.status, answer.json?.code]).toEqual([status, code]);
  const { requestId, ...rest } = answer.json ?? {};
  expect(requestId).toBe(answer.headers.get("x-request-id"));
  expect(Object.keys(rest).slice(0, 4)).toEqual(["statusCode", "message", "error", "code"]);
  expect(rest.statusCode).toBe(status);
  return rest;
}
