import { env } from "cloudflare:workers";
import { eq, inArray } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { forgetExpired } from "../../../src/accounts/sign-in/delete-expired.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { emailCodes, factorGuesses, sessions, singleUseTokens } from "../../../src/platform/db/schema/users.ts";
import { seedSession, seedUser } from "../../support/people.ts";
import { runJobs } from "../../support/run-jobs.ts";

const db = openDb(env.DB);
const NOW_MS = Date.now();

const codeRow = (ageMs: number) => ({
  ...({ id: crypto.randomUUID(), purpose: "SIGN_IN", emailKey: "a@b.c", email: "a@b.c", boundTo: "x" } as const),
  mac: "",
  macKeyId: "k",
  tries: 0,
  createdAtMs: NOW_MS - ageMs,
  expiresAtMs: NOW_MS - ageMs + 10 * MINUTE_MS,
});
const tokenRow = (expiresAtMs: number) => ({
  ...({ hash: crypto.randomUUID(), kind: "OAUTH", createdAtMs: 0, expiresAtMs } as const),
});

describe("the cleanup of expired rows", () => {
  test("deletes codes after 25 hours, tokens and guess counts at expiry, sessions 30 days after their end", async () => {
    const codes = [HOUR_MS, 25 * HOUR_MS - MINUTE_MS, 25 * HOUR_MS + MINUTE_MS, 2 * DAY_MS].map(codeRow);
    const tokens = [NOW_MS + HOUR_MS, NOW_MS - MINUTE_MS].map(tokenRow);
    const guesses = [NOW_MS + MINUTE_MS, NOW_MS - MINUTE_MS].map((endsAtMs) => ({
      scope: `session ${endsAtMs}`,
      failures: 1,
      endsAtMs,
    }));
    await db.batch([
      db.insert(emailCodes).values(codes),
      db.insert(singleUseTokens).values(tokens),
      db.insert(factorGuesses).values(guesses),
    ]);
    const { userId } = await seedUser();
    for (const days of [8, 37, 38])
      await seedSession(userId, {
        lastSeenAtMs: NOW_MS - days * DAY_MS + MINUTE_MS,
        createdAtMs: NOW_MS - 60 * DAY_MS,
      });
    // The jobs run twice, because two runs may overlap.
    for (let i = 0; i < 2; i++) await runJobs();
    // Counts only this test's rows, because tests of other files have rows in the same database.
    const kept = await db
      .select({ id: emailCodes.id })
      .from(emailCodes)
      .where(
        inArray(
          emailCodes.id,
          codes.map(({ id }) => id),
        ),
      );
    expect(kept.map(({ id }) => id).toSorted()).toEqual(
      codes
        .slice(0, 2)
        .map(({ id }) => id)
        .toSorted(),
    );
    const hashes = tokens.map(({ hash }) => hash);
    const keptTokens = db.select({ hash: singleUseTokens.hash }).from(singleUseTokens);
    expect(await keptTokens.where(inArray(singleUseTokens.hash, hashes))).toEqual([{ hash: hashes[0] }]);
    const scopes = guesses.map(({ scope }) => scope);
    expect(await db.select().from(factorGuesses).where(inArray(factorGuesses.scope, scopes))).toEqual([guesses[0]]);
    expect(await db.select().from(sessions).where(eq(sessions.userId, userId))).toHaveLength(3);
  });

  test("deletes up to 20,000 tokens in one run, oldest first", async () => {
    const many = (count: number) =>
      env.DB.prepare(
        `insert into single_use_tokens (hash, kind, created_at_ms, expires_at_ms)
          with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)
          select 'flood-' || i, 'PASSKEY_SIGN_IN', 0, i from n`,
      )
        .bind(count)
        .run();
    const left = async () =>
      (await db.select().from(singleUseTokens).where(eq(singleUseTokens.createdAtMs, 0)))
        .map(({ expiresAtMs }) => expiresAtMs)
        .filter((expiresAtMs) => expiresAtMs < NOW_MS);
    await many(3_005);
    await forgetExpired(db, NOW_MS);
    expect(await left()).toEqual([]);
    await many(20_003);
    await forgetExpired(db, NOW_MS);
    expect(await left()).toEqual([20_000, 20_001, 20_002]);
  });
});
