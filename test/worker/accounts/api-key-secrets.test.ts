// Key rotation. A key's secret exists in only two places: the response that shows it, and the encrypted stored copy of that response (reliability.md
// 1.7, security.md 2).
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hashApiKey } from "../../../src/accounts/auth/api-key.ts";
import { parseKeyring } from "../../../src/lib/keyring.ts";
import { unseal } from "../../../src/lib/seal.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { operations } from "../../../src/platform/db/schema/operations.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { expectRefusal, seedKey, send } from "../../support/access.ts";
import {
  auditOf,
  eventsOf,
  makeKey,
  operationsOf,
  rotateKey,
  SERVER_KEY,
  type Seated,
  seated,
  statusWith,
  tablesHolding,
} from "../../support/api-keys.ts";
import { seedSession } from "../../support/people.ts";
import { testDb } from "../../support/worker-merchant.ts";

afterEach(() => vi.restoreAllMocks());

const rotation = (overlapHours: unknown, headers = {}) => ({ method: "POST", body: { overlapHours }, headers });
const statuses = (by: Seated, secrets: readonly string[]) =>
  Promise.all(secrets.map((secret) => statusWith(by.merchantId, secret)));

describe("rotating a key", () => {
  it("creates a new secret that works at once; the old one works until the overlap ends", async () => {
    const owner = await seated("OWNER");
    const { id, secret: old } = await makeKey(owner);
    const before = Date.now();
    const answer = await owner.keys(`/${id}/rotate`, rotation(24));
    expect(answer.status, answer.text).toBe(200);
    const { secret, rotatedUntil, display } = JSON.parse(answer.text);
    const until = Date.parse(rotatedUntil);
    expect(until).toBeGreaterThanOrEqual(before + 24 * 3_600_000);
    expect(until).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000);
    expect(display).toBe(`${secret.slice(0, 7)}...${secret.slice(-4)}`);
    expect(await statuses(owner, [old, secret])).toEqual([200, 200]);
    await testDb.update(apiKeys).set({ previousExpiresAtMs: Date.now() }).where(eq(apiKeys.id, id));
    expect(await statuses(owner, [old, secret])).toEqual([401, 200]);
    expect((await owner.keys(`/${id}`)).json).toMatchObject({ display, rotatedUntil: null });
  });

  it("without an overlap ends the old secret at once, and stores nothing about it", async () => {
    const owner = await seated("OWNER");
    const { id, secret: old } = await makeKey(owner);
    const { secret } = await rotateKey(owner, id, 0);
    expect(await statuses(owner, [old, secret])).toEqual([401, 200]);
    expect(await tablesHolding(hashApiKey(old))).toEqual([]);
  });

  it("twice ends the first of the three secrets, even before its overlap is over", async () => {
    const owner = await seated("OWNER");
    const first = await makeKey(owner);
    const second = await rotateKey(owner, first.id, 72);
    const third = await rotateKey(owner, first.id, 72);
    expect(await statuses(owner, [first.secret, second.secret, third.secret])).toEqual([401, 200, 200]);
  });

  it("keeps the key's id, name, permissions, allowed addresses and expiry", async () => {
    const owner = await seated("OWNER");
    const { id } = await makeKey(owner, { ...SERVER_KEY, expiresAt: "2999-01-01T00:00:00Z" });
    const { display: _, rotatedUntil: __, ...before } = (await owner.keys(`/${id}`)).json ?? {};
    const rotated = await rotateKey(owner, id, 1);
    expect(rotated).toMatchObject(before);
  });

  it.each([[-1], [73], [0.5], ["1"], [null], [undefined]])(
    "refuses an overlap of %s: it must be 0 to 72 whole hours",
    async (hours) => {
      const owner = await seated("OWNER");
      const { id } = await makeKey(owner);
      expectRefusal(await owner.keys(`/${id}/rotate`, rotation(hours)), 400, "VALIDATION_FAILED");
    },
  );

  it.each([
    ["OWNER", 200],
    ["ADMIN", 200],
    ["MEMBER", 403],
    ["VIEWER", 403],
  ] as const)("as %s is answered with %i", async (role, status) => {
    const owner = await seated("OWNER");
    const { id, secret } = await makeKey(owner);
    const user = role === "OWNER" ? owner : await seated(role, owner);
    expect((await user.keys(`/${id}/rotate`, rotation(0))).status).toBe(status);
    expect(await statusWith(owner.merchantId, secret)).toBe(status === 200 ? 401 : 200);
  });

  it("requires a factor given in the last five minutes", async () => {
    const owner = await seated("OWNER");
    const { id } = await makeKey(owner);
    const headers = await seedSession(owner.userId, { factorAtMs: Date.now() - 301_000 });
    expectRefusal(await owner.keys(`/${id}/rotate`, rotation(0, headers)), 403, "STEP_UP_REQUIRED");
  });

  it("handles parallel requests one at a time, so only the last two secrets work", async () => {
    const owner = await seated("OWNER");
    const { id, secret: old } = await makeKey(owner);
    const answers = await Promise.all(Array.from({ length: 8 }, () => owner.keys(`/${id}/rotate`, rotation(1))));
    const made = answers.filter(({ status }) => status === 200).map(({ json }) => String(json?.secret));
    // A request that loses to concurrent ones five times in a row is refused with CONTENTION and changes nothing.
    for (const { status, json } of answers)
      expect([200, 503]).toContain(status === 503 ? json?.code === "CONTENTION" && 503 : status);
    expect(made.length).toBeGreaterThanOrEqual(5);
    expect(new Set(made).size).toBe(made.length);
    const [row] = await testDb.select().from(apiKeys).where(eq(apiKeys.id, id));
    const working = [];
    for (const secret of [old, ...made])
      if ((await statusWith(owner.merchantId, secret)) === 200) working.push(hashApiKey(secret));
    expect(working.toSorted()).toEqual([row?.hash, row?.previousHash].toSorted());
    const entries = (await auditOf(owner.merchantId)).filter(({ action }) => action === "api_key.rotated");
    expect(entries).toHaveLength(made.length);
    // Each rotation replaced the secret that the previous rotation created, so the entries form a chain without forks.
    const befores = entries.map(({ before }) => JSON.parse(before ?? "").display);
    const afters = entries.map(({ after }) => JSON.parse(after ?? "").display);
    expect(new Set(befores).size).toBe(made.length);
    expect(befores.filter((display) => !afters.includes(display))).toHaveLength(1);
  });
});

describe("a secret created under an Idempotency-Key", () => {
  it("is returned unchanged to a repeated creation or rotation, even to parallel requests", async () => {
    const owner = await seated("OWNER");
    const create = () => owner.keys("", { method: "POST", body: SERVER_KEY, headers: { "idempotency-key": "one" } });
    const made = await Promise.all(Array.from({ length: 6 }, create));
    expect(new Set(made.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const { id, secret } = JSON.parse(made[0]?.text ?? "");
    expect(await testDb.$count(apiKeys, eq(apiKeys.merchantId, owner.merchantId))).toBe(1);
    const rotate = () => owner.keys(`/${id}/rotate`, rotation(0, { "idempotency-key": "two" }));
    const rotated = await Promise.all(Array.from({ length: 6 }, rotate));
    expect(new Set(rotated.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(rotated.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(5);
    expect(await statuses(owner, [secret, String(rotated[0]?.json?.secret)])).toEqual([401, 200]);
    // After the key is deleted, a repeated request still gets the same response, but the secret no longer works.
    await owner.keys(`/${id}`, { method: "DELETE" });
    expect((await rotate()).text).toBe(rotated[0]?.text);
    expect(await statuses(owner, [String(rotated[0]?.json?.secret)])).toEqual([401]);
  });

  it("is not returned to a caller who could no longer create the key", async () => {
    const owner = await seated("OWNER");
    const { merchantId } = owner;
    const headers = { "idempotency-key": "guessed" };
    const ask = { method: "POST", body: SERVER_KEY, headers };
    const maker = await seated("ADMIN", { merchantId });
    const made = await maker.keys("", ask);
    const secret = String(made.json?.secret);
    const attempts = [
      { as: await seated("MEMBER", { merchantId }), code: "PERMISSION_DENIED" },
      { as: await seated("VIEWER", { merchantId }), code: "PERMISSION_DENIED" },
      { as: await seated("OWNER"), code: "MERCHANT_NOT_FOUND" },
      { with: await seedSession(maker.userId, { factorAtMs: null, factor: null }), code: "STEP_UP_REQUIRED" },
      { with: await seedSession(maker.userId, { state: "PENDING_2FA" }), code: "SECOND_FACTOR_REQUIRED" },
      { with: await seedSession(maker.userId, { revokedAtMs: Date.now() }), code: "UNAUTHORIZED" },
      { with: { "x-api-key": await seedKey(merchantId) }, code: "PERMISSION_DENIED" },
      { with: { "x-api-key": await seedKey(merchantId, { kind: "PUBLIC" }) }, code: "PUBLIC_KEY_FORBIDDEN" },
    ];
    const path = `/api/v1/merchants/merchant/${merchantId}/api-keys`;
    const refused = async (own: Readonly<Record<string, string>>, code: string) => {
      const answer = await send(path, { ...ask, headers: { ...own, ...headers } });
      expect([answer.json?.code, answer.text.includes(secret)]).toEqual([code, false]);
    };
    for (const attempt of attempts) await refused(attempt.with ?? attempt.as.headers, attempt.code);
    await testDb.update(members).set({ role: "MEMBER" }).where(eq(members.id, maker.memberId));
    await refused(maker.headers, "PERMISSION_DENIED");
    await testDb.delete(members).where(eq(members.id, maker.memberId));
    await refused(maker.headers, "MERCHANT_NOT_FOUND");
  });

  it("is stored encrypted, and can be decrypted only with the deployment's key and for its own merchant", async () => {
    const owner = await seated("OWNER");
    const headers = { "idempotency-key": "sealed" };
    const answer = await owner.keys("", { method: "POST", body: SERVER_KEY, headers });
    const secret = String(answer.json?.secret);
    const [stored, ...more] = await operationsOf(owner.merchantId);
    expect(more).toEqual([]);
    expect(stored?.body).toMatch(/^v1\.test\.[A-Za-z0-9+/=]+$/);
    expect(atob(stored?.body.split(".")[2] ?? "")).not.toContain(secret.slice(3, 20));
    const keys = parseKeyring("SECRETS_AES_KEY", env.SECRETS_AES_KEY);
    if (!keys.ok) throw new Error(keys.error);
    const opened = await unseal(keys.value, `operation:${owner.merchantId}`, stored?.body ?? "");
    expect(opened).toBe(answer.text);
    expect(await unseal(keys.value, "operation:mer_other", stored?.body ?? "")).toBeUndefined();
    // A copy of the stored answer in another merchant's row cannot be decrypted.
    const stranger = await seated("OWNER");
    await stranger.keys("", { method: "POST", body: SERVER_KEY, headers });
    await testDb
      .update(operations)
      .set({ body: stored?.body ?? "" })
      .where(eq(operations.merchantId, stranger.merchantId));
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const replay = await stranger.keys("", { method: "POST", body: SERVER_KEY, headers });
    expect(JSON.stringify(logged.mock.calls)).not.toContain("v1.test");
    expect([replay.status, replay.text.includes("sk_")]).toEqual([500, false]);
  });
});

describe("a key's secret", () => {
  it("is in no table, log, event or audit entry; its hash is only in the lookup columns", async () => {
    const spies = (["log", "info", "warn", "error", "debug"] as const).map((name) => vi.spyOn(console, name));
    const owner = await seated("OWNER");
    const first = await makeKey(owner);
    await owner.keys(`/${first.id}`, { method: "PATCH", body: { name: "Renamed" } });
    const second = await rotateKey(owner, first.id, 1);
    await statuses(owner, [first.secret, second.secret]);
    const gone = await makeKey(owner);
    await owner.keys(`/${gone.id}`, { method: "DELETE" });
    expect(await eventsOf(owner.merchantId)).toHaveLength(4);
    expect(await auditOf(owner.merchantId)).toHaveLength(5);
    for (const { secret } of [first, second, gone]) {
      // The secret's random part is not stored either.
      expect(await tablesHolding(secret.slice(3, -4))).toEqual([]);
    }
    expect(await tablesHolding(hashApiKey(second.secret))).toEqual(["api_keys.hash"]);
    expect(await tablesHolding(hashApiKey(first.secret))).toEqual(["api_keys.previous_hash"]);
    expect(await tablesHolding(hashApiKey(gone.secret))).toEqual(["api_keys.hash"]);
    const logged = JSON.stringify(spies.flatMap((spy) => spy.mock.calls));
    for (const { secret } of [first, second, gone]) {
      expect(logged).not.toContain(secret.slice(3, -4));
      expect(logged).not.toContain(hashApiKey(secret));
    }
  });
});
