// The demo merchant of a development server: one merchant, its owner, an `sk_` key with all permissions that a key may have, and a `pk_` key.
import { randomBytes } from "node:crypto";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import { newApiKey } from "../src/accounts/auth/api-key.ts";
import {
  keyPermissionName,
  PUBLIC_KEY_PERMISSIONS,
  SECRET_KEY_PERMISSIONS,
} from "../src/accounts/roles/permissions.ts";
import { type IdPrefix, makeId, newUlid } from "../src/lib/ids.ts";
import type { Keyring } from "../src/lib/keyring.ts";
import { apiKeys } from "../src/platform/db/schema/api-keys.ts";
import { merchants } from "../src/platform/db/schema/merchants.ts";
import { members, teams } from "../src/platform/db/schema/teams.ts";
import { users } from "../src/platform/db/schema/users.ts";

type MerchantRow = typeof merchants.$inferInsert;
export type ApiKeyRow = typeof apiKeys.$inferInsert;
type UserRow = typeof users.$inferInsert;
interface Rows {
  readonly users: readonly UserRow[];
  readonly merchants: readonly MerchantRow[];
  readonly teams: readonly (typeof teams.$inferInsert)[];
  readonly members: readonly (typeof members.$inferInsert)[];
  readonly apiKeys: readonly ApiKeyRow[];
}
interface NewKey {
  readonly secret: string;
  readonly row: ApiKeyRow;
}

export function newMerchant(name: string, nowMs: number): MerchantRow {
  return { id: newId("mer", nowMs), name, createdAtMs: nowMs, updatedAtMs: nowMs };
}

/** The merchant's team, without security requirements. */
export function newTeam(merchant: MerchantRow): typeof teams.$inferInsert {
  return { merchantId: merchant.id, updatedAtMs: merchant.createdAtMs };
}

/** A key with all permissions that its kind may have, modified by `changes`. */
export function newKey(
  macKeys: Keyring,
  { merchantId, kind, nowMs }: Pick<ApiKeyRow, "merchantId" | "kind"> & { readonly nowMs: number },
  changes: Partial<ApiKeyRow> = {},
): NewKey {
  const { secret, hash, display } = newApiKey({ kind, merchantId, macKeys, randomBytes });
  const held = kind === "SECRET" ? SECRET_KEY_PERMISSIONS : PUBLIC_KEY_PERMISSIONS;
  const permissions = JSON.stringify(held.map(keyPermissionName));
  const id = newId("key", nowMs);
  return {
    secret,
    row: {
      id,
      merchantId,
      kind,
      name: `Demo ${kind.toLowerCase()} key`,
      hash,
      display,
      permissions,
      createdAtMs: nowMs,
      ...changes,
    },
  };
}

/** The owner of the demo merchant signs in with a code that `/dev/mail` shows. */
export const DEMO_OWNER = "owner@example.com";

/** The rows that make the demo owner the owner of a merchant. The demo owner is also an operator of this server. */
export function newOwner(merchantId: MerchantRow["id"], nowMs: number): Pick<Rows, "users" | "members"> {
  const { users, members } = newMember(merchantId, { role: "OWNER", email: DEMO_OWNER }, nowMs);
  return { users: users.map((row) => ({ ...row, operatorSinceMs: nowMs })), members };
}

/** The rows of a user and of their membership. */
export function newMember(
  merchantId: MerchantRow["id"],
  { role, email }: Pick<Rows["members"][number], "role"> & Pick<UserRow, "email">,
  nowMs: number,
): Pick<Rows, "users" | "members"> {
  const userId = newId("usr", nowMs);
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  return {
    users: [{ id: userId, email, emailKey: email, ...times }],
    members: [{ id: newId("mem", nowMs), merchantId, userId, role, ...times }],
  };
}

export function newDemo(
  macKeys: Keyring,
  nowMs: number,
): {
  readonly merchant: MerchantRow;
  readonly secret: NewKey;
  readonly open: NewKey;
  readonly rows: Rows;
} {
  const merchant = newMerchant("Demo shop", nowMs);
  const secret = newKey(macKeys, { merchantId: merchant.id, kind: "SECRET", nowMs });
  const open = newKey(macKeys, { merchantId: merchant.id, kind: "PUBLIC", nowMs });
  const rows = {
    merchants: [merchant],
    teams: [newTeam(merchant)],
    ...newOwner(merchant.id, nowMs),
    apiKeys: [secret.row, open.row],
  };
  return { merchant, secret, open, rows };
}

/** SQL that inserts the rows; existing rows stay unchanged. */
export function insertSql(rows: Partial<Rows>): string {
  const database = drizzle(async () => ({ rows: [] }));
  const all = [
    ...(rows.users ?? []).map((row) => database.insert(users).values(row).onConflictDoNothing()),
    ...(rows.merchants ?? []).map((row) => database.insert(merchants).values(row).onConflictDoNothing()),
    ...(rows.teams ?? []).map((row) => database.insert(teams).values(row).onConflictDoNothing()),
    ...(rows.members ?? []).map((row) => database.insert(members).values(row).onConflictDoNothing()),
    ...(rows.apiKeys ?? []).map((row) => database.insert(apiKeys).values(row).onConflictDoNothing()),
  ];
  return all.map((insert) => withLiterals(insert.toSQL())).join("");
}

function newId<P extends IdPrefix>(prefix: P, nowMs: number): ReturnType<typeof makeId<P>> {
  return makeId(prefix, newUlid(nowMs, randomBytes(16)));
}

/** Programs that read SQL files may split at a semicolon or a line end, even inside quotes, so such a string is written as bytes. */
function textLiteral(text: string): string {
  if (/[;\r\n]/.test(text)) return `CAST(X'${Buffer.from(text).toString("hex")}' AS TEXT)`;
  return `'${text.replaceAll("'", "''")}'`;
}

/** A SQL file has no bound parameters: each `?` becomes the literal of its value. None of our names contains a `?`. */
function withLiterals({ sql, params }: { readonly sql: string; readonly params: readonly unknown[] }): string {
  let next = 0;
  return `${sql.replaceAll("?", () => literal(params[next++]))};\n`;
}

function literal(value: unknown): string {
  if (value === null) return "NULL";
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  if (typeof value === "string" && !value.includes("\0")) return textLiteral(value);
  throw new Error(`no SQL literal for ${typeof value}`);
}
