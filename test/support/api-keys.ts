// API keys that users create over the API, for tests on workerd.
import { env } from "cloudflare:workers";
import { desc, eq } from "drizzle-orm";
import { expect } from "vitest";
import type { Role } from "../../src/accounts/roles/roles.ts";
import type { ApiKeyId, MemberId, MerchantId, UserId } from "../../src/lib/ids.ts";
import { auditEvents } from "../../src/platform/db/schema/audit-events.ts";
import { events } from "../../src/platform/db/schema/events.ts";
import { operations } from "../../src/platform/db/schema/operations.ts";
import { type Answer, type Ask, seedMerchant, send } from "./access.ts";
import { seedMember, seedUser } from "./people.ts";
import { testDb } from "./worker-merchant.ts";

export interface Seated {
  readonly merchantId: MerchantId;
  readonly userId: UserId;
  readonly memberId: MemberId;
  readonly headers: Readonly<Record<string, string>>;
  /** Sends to `/api-keys` plus `rest`, in the user's session. */
  keys(rest: string, ask?: Ask): Promise<Answer>;
}

/** A user with a role in a merchant's team; by default the merchant is new. */
export async function seated(role: Role, of: { readonly merchantId?: MerchantId } = {}): Promise<Seated> {
  const merchantId = of.merchantId ?? (await seedMerchant());
  const { userId, headers } = await seedUser();
  const memberId = await seedMember(merchantId, userId, role);
  const base = `/api/v1/merchants/merchant/${merchantId}/api-keys`;
  const keys = (rest: string, ask: Ask = {}) =>
    send(`${base}${rest}`, { ...ask, headers: { ...headers, ...ask.headers } });
  return { merchantId, userId, memberId, headers, keys };
}

export const SERVER_KEY = { name: "Server", kind: "SECRET", permissions: ["MERCHANT_VIEW", "INVOICE_VIEW"] } as const;

interface MadeKey {
  readonly id: ApiKeyId;
  readonly secret: string;
  readonly display: string;
}

export async function makeKey(by: Seated, body: object = SERVER_KEY): Promise<MadeKey> {
  return madeKey(await by.keys("", { method: "POST", body }), 201);
}

export async function rotateKey(by: Seated, id: string, overlapHours: number): Promise<MadeKey> {
  return madeKey(await by.keys(`/${id}/rotate`, { method: "POST", body: { overlapHours } }), 200);
}

function madeKey(answer: Answer, status: number): MadeKey {
  expect(answer.status, answer.text).toBe(status);
  return JSON.parse(answer.text);
}

/** The status of a plain request with a key. */
export async function statusWith(merchantId: MerchantId, key: string): Promise<number> {
  return (await send(`/api/v1/merchants/merchant/${merchantId}`, { key })).status;
}

export const auditOf = async (merchantId: MerchantId) =>
  (await testDb.select().from(auditEvents).where(eq(auditEvents.merchantId, merchantId))).toSorted(
    (a, b) => a.createdAtMs - b.createdAtMs,
  );
export const eventsOf = (merchantId: MerchantId) =>
  testDb.select().from(events).where(eq(events.merchantId, merchantId));
export const operationsOf = (merchantId: MerchantId) =>
  testDb.select().from(operations).where(eq(operations.merchantId, merchantId)).orderBy(desc(operations.createdAtMs));

/** The columns that contain this text, as `table.column`. */
export async function tablesHolding(text: string): Promise<readonly string[]> {
  return placesHolding(await allTexts(), text);
}

/** A stored text and its column. */
interface StoredText {
  readonly place: string;
  readonly value: string;
}

export function placesHolding(stored: readonly StoredText[], text: string): readonly string[] {
  const found = stored.filter(({ value }) => value.includes(text)).map(({ place }) => place);
  return [...new Set(found)].toSorted();
}

/** Every text in every table. */
export async function allTexts(): Promise<readonly StoredText[]> {
  const { results: tables } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\'",
  ).all<{ name: string }>();
  expect(tables.length).toBeGreaterThan(15);
  const stored: StoredText[] = [];
  for (const { name } of tables) {
    const { results } = await env.DB.prepare(`select * from "${name}"`).all();
    for (const row of results) {
      for (const [column, value] of Object.entries(row)) {
        if (typeof value === "string") stored.push({ place: `${name}.${column}`, value });
      }
    }
  }
  return stored;
}
