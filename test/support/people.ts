// Users for tests on workerd, with team seats and session cookies. Each test creates its own.
import { env } from "cloudflare:workers";
import type { Role } from "../../src/accounts/roles/roles.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { type IdPrefix, type MemberId, type MerchantId, makeId, newUlid, type UserId } from "../../src/lib/ids.ts";
import { openDb } from "../../src/platform/db/client.ts";
import { members, teams } from "../../src/platform/db/schema/teams.ts";
import { sessions, users } from "../../src/platform/db/schema/users.ts";

export const ORIGIN = "http://localhost:8787";
const db = openDb(env.DB);
const freshBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
const freshId = <P extends IdPrefix>(prefix: P) => makeId(prefix, newUlid(Date.now(), freshBytes(16)));

export interface TestUser {
  readonly userId: UserId;
  readonly email: string;
  /** Headers of a live session that has just stepped up; with Origin, so that writes pass. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A user with a verified email address and no factor; with `changes` applied. */
export async function seedUser(changes: Partial<typeof users.$inferInsert> = {}): Promise<TestUser> {
  const userId = freshId("usr");
  const email = changes.email ?? `${userId.toLowerCase()}@example.com`;
  const nowMs = Date.now();
  await db.insert(users).values({
    id: userId,
    email,
    emailKey: email.toLowerCase(),
    emailVerifiedAtMs: nowMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...changes,
  });
  return { userId, email, headers: await seedSession(userId) };
}

/** Headers of a new session; by default ACTIVE and just stepped up with an emailed code. */
export async function seedSession(
  userId: UserId,
  changes: Partial<typeof sessions.$inferInsert> = {},
): Promise<Readonly<Record<string, string>>> {
  const token = [...freshBytes(32)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const nowMs = Date.now();
  await db.insert(sessions).values({
    id: freshId("ses"),
    userId,
    tokenHash: sha256Hex(token),
    state: "ACTIVE",
    signedInWith: "EMAIL_CODE",
    factor: "EMAIL_CODE",
    factorAtMs: nowMs,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
    ...changes,
  });
  return { cookie: `session=${token}`, origin: ORIGIN };
}

/** Makes a user a member of a merchant's team. */
export async function seedMember(
  merchantId: MerchantId,
  userId: UserId,
  role: Role,
  joinedAtMs = Date.now(),
): Promise<MemberId> {
  const id = freshId("mem");
  await db.insert(members).values({ id, merchantId, userId, role, createdAtMs: joinedAtMs, updatedAtMs: joinedAtMs });
  return id;
}

/** Sets the security policy of a team. */
export async function seedPolicy(
  merchantId: MerchantId,
  policy: Partial<Omit<typeof teams.$inferInsert, "merchantId">>,
): Promise<void> {
  const row = { merchantId, updatedAtMs: Date.now(), ...policy };
  await db.insert(teams).values(row).onConflictDoUpdate({ target: teams.merchantId, set: row });
}
