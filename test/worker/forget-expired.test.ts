import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { openDb } from "../../src/db/client.ts";
import { emailCodes, sessions, singleUseTokens } from "../../src/db/schema/users.ts";
import worker from "../../src/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/lib/time.ts";
import { forgetExpired } from "../../src/sign-in/delete-expired.ts";
import { seedPerson, seedSession } from "../support/people.ts";

const db = openDb(env.DB);
const NOW_MS = Date.now();

const codeRow = (ageMs: number) => ({
  ...({ id: crypto.randomUUID(), purpose: "SIGN_IN", emailKey: "a@b.c", email: "a@b.c", boundTo: "x" } as const),
  ...{ mac: "", macKeyId: "k", tries: 0, createdAtMs: NOW_MS - ageMs, expiresAtMs: NOW_MS - ageMs + 10 * MINUTE_MS },
});
const tokenRow = (expiresAtMs: number) => ({
  ...({ hash: crypto.randomUUID(), kind: "OAUTH", createdAtMs: 0, expiresAtMs } as const),
});

describe("the sweep", () => {
  test("forgets codes after two hours, tokens once expired, sessions dead for 30 days, and nothing earlier", async () => {
    const codes = [HOUR_MS, 2 * HOUR_MS - MINUTE_MS, 2 * HOUR_MS + MINUTE_MS, DAY_MS].map(codeRow);
    const tokens = [NOW_MS + HOUR_MS, NOW_MS - MINUTE_MS].map(tokenRow);
    await db.batch([db.insert(emailCodes).values(codes), db.insert(singleUseTokens).values(tokens)]);
    const { userId } = await seedPerson();
    for (const days of [8, 37, 38])
      await seedSession(userId, {
        lastSeenAtMs: NOW_MS - days * DAY_MS + MINUTE_MS,
        createdAtMs: NOW_MS - 60 * DAY_MS,
      });
    // Twice: a pass may overlap with another.
    for (let i = 0; i < 2; i++) await worker.scheduled(createScheduledController(), env);
    const keptCodes = await db.select({ id: emailCodes.id }).from(emailCodes);
    expect(keptCodes.map(({ id }) => id).toSorted()).toEqual(
      codes
        .slice(0, 2)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(await db.select({ hash: singleUseTokens.hash }).from(singleUseTokens)).toEqual([{ hash: tokens[0]?.hash }]);
    expect(await db.select().from(sessions).where(eq(sessions.userId, userId))).toHaveLength(3);
  });

  test("takes at most 1,000 of each, the oldest first", async () => {
    const tokens = Array.from({ length: 1_005 }, (_, i) => tokenRow(i));
    for (let i = 0; i < tokens.length; i += 15) await db.insert(singleUseTokens).values(tokens.slice(i, i + 15));
    await forgetExpired(db, NOW_MS);
    const left = await db.select().from(singleUseTokens).where(eq(singleUseTokens.createdAtMs, 0));
    const expired = left.filter(({ expiresAtMs }) => expiresAtMs < NOW_MS);
    expect(expired.map(({ expiresAtMs }) => expiresAtMs)).toEqual([1_000, 1_001, 1_002, 1_003, 1_004]);
  });
});
