// A user's merchants: created with their team and owner in one batch, listed, renamed, and deleted only by the owner (decisions 10).
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { changeMerchant } from "../../../src/accounts/merchants/change-merchant.ts";
import { merchantBody, merchantListBody } from "../../../src/accounts/merchants/contract.ts";
import { deleteMerchant } from "../../../src/accounts/merchants/delete-merchant.ts";
import { PERMISSIONS } from "../../../src/accounts/roles/permissions.ts";
import { ROLE_PERMISSIONS, ROLES } from "../../../src/accounts/roles/roles.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { members, teams } from "../../../src/platform/db/schema/teams.ts";
import { sessions } from "../../../src/platform/db/schema/users.ts";
import { type Ask, expectRefusal, seedKey, seedMerchant, send } from "../../support/access.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedMember, seedPolicy, seedSession, seedUser, type TestUser } from "../../support/people.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

const ALL = "/api/v1/merchants";
const one = (id: unknown) => `${ALL}/merchant/${id}`;
const create = (user: TestUser, body: unknown, headers = {}) =>
  send(ALL, { method: "POST", headers: { ...user.headers, ...headers }, body });
const mine = async (user: TestUser, query = "") => {
  const answer = await send(`${ALL}${query}`, { headers: user.headers });
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text);
};
const entriesOf = (merchantId: string) =>
  testDb
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.merchantId, merchantId as `mer_${string}`))
    .orderBy(auditEvents.createdAtMs, auditEvents.id);

async function seedSeat(role: (typeof ROLES)[number], of: { name?: string } = {}) {
  const merchantId = await seedMerchant(of);
  const user = await seedUser();
  const memberId = await seedMember(merchantId, user.userId, role);
  return { merchantId, user, memberId, as: (ask: Ask) => ({ ...ask, headers: user.headers }) };
}

describe("creating a merchant", () => {
  it("adds its one team, its one owner and an audit entry", async () => {
    const user = await seedUser();
    const answer = await create(user, { name: "Corner shop" });
    expect(answer.status, answer.text).toBe(201);
    expectDocumented(merchantBody, answer.json);
    const { id, createdAt, updatedAt, ...rest } = answer.json ?? {};
    expect(rest).toEqual({ name: "Corner shop", role: "OWNER", permissions: PERMISSIONS, missing: [] });
    expect([id, createdAt]).toEqual([expect.stringMatching(/^mer_[0-9A-Z]{26}$/), updatedAt]);
    const merchantId = id as `mer_${string}`;
    expect(await testDb.select().from(teams).where(eq(teams.merchantId, merchantId))).toMatchObject([
      { enforceTfa: false, enforcePasskey: false },
    ]);
    const seats = await testDb.select().from(members).where(eq(members.merchantId, merchantId));
    expect(seats).toMatchObject([{ userId: user.userId, role: "OWNER" }]);
    expect(await entriesOf(merchantId)).toMatchObject([
      { action: "merchant.created", actorKind: "USER", actorId: user.userId, target: merchantId },
    ]);
    expect((await send(one(id), { headers: user.headers })).json).toEqual(answer.json);
    expect((await send(`${one(id)}/settings`, { headers: user.headers })).json).toMatchObject({
      invoiceLifetimeSeconds: 3_600,
      underpaidToleranceMax: "5.000000",
      maxActiveInvoices: 10_000,
      maxPublicInvoices: 1_000,
    });
  });

  it("happens once for repeated requests of one user under one Idempotency-Key, even in parallel", async () => {
    const [user, stranger] = [await seedUser(), await seedUser()];
    const headers = { "idempotency-key": "first" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(user, { name: "Corner shop" }, headers)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const theirs = await create(stranger, { name: "Corner shop" }, headers);
    expect([theirs.status, theirs.json?.id === answers[0]?.json?.id]).toEqual([201, false]);
    expect((await mine(user)).data).toHaveLength(1);
    expectRefusal(await create(user, { name: "Another" }, headers), 409, "IDEMPOTENCY_KEY_REUSED");
  });

  it.each([
    ["a missing name", {}],
    ["an empty name", { name: "" }],
    ["a name of 201 characters", { name: "é".repeat(201) }],
    ["an unknown field", { name: "a", currency: "USD" }],
  ])("requires a name of 1 to 200 characters and allows no other field: %s is refused", async (_, body) => {
    expectRefusal(await create(await seedUser(), body), 400, "VALIDATION_FAILED");
  });

  it("is refused to a key, without a session, from another origin, and while the second factor is missing", async () => {
    const user = await seedUser();
    const key = await seedKey(await seedMerchant());
    const body = { name: "a" };
    expectRefusal(await send(ALL, { method: "POST", key, body }), 403, "SESSION_REQUIRED");
    expectRefusal(await send(ALL, { method: "POST", body }), 401, "UNAUTHORIZED");
    expectRefusal(await create(user, body, { origin: "https://evil.example" }), 403, "ORIGIN_NOT_ALLOWED");
    const owing = await seedSession(user.userId, { state: "PENDING_2FA" });
    expectRefusal(await send(ALL, { method: "POST", headers: owing, body }), 403, "SECOND_FACTOR_REQUIRED");
    expect((await mine(user)).data).toEqual([]);
  });
});

describe("my merchants", () => {
  it("are those of my teams, with my role in each", async () => {
    const user = await seedUser();
    await seedMember(await seedMerchant(), (await seedUser()).userId, "OWNER");
    const made = [];
    for (const role of ROLES) {
      const merchantId = await seedMerchant({ name: `As ${role}` });
      await seedMember(merchantId, user.userId, role);
      made.unshift([merchantId, role]);
    }
    const { data, nextCursor, pagination } = await mine(user);
    const seen = data.map((each: { id: string; role: string }) => [each.id, each.role]);
    expect(seen.toSorted()).toEqual(made.toSorted());
    expectDocumented(merchantListBody, { data, nextCursor, pagination });
    expect([nextCursor, pagination]).toEqual([null, { page: 1, limit: 20, total: 4, lastPage: 1 }]);
  });

  it("come in pages that list each of them once, by cursor and by number", async () => {
    const user = await seedUser();
    for (let n = 0; n < 5; n++) expect((await create(user, { name: `Shop ${n}` })).status).toBe(201);
    const whole = (await mine(user)).data.map(({ id }: { id: string }) => id);
    expect(new Set(whole).size).toBe(5);
    const seen: string[] = [];
    for (let query = "?limit=2"; query !== ""; ) {
      const { data, nextCursor, pagination } = await mine(user, query);
      expect(pagination).toEqual(seen.length === 0 ? { page: 1, limit: 2, total: 5, lastPage: 3 } : undefined);
      seen.push(...data.map(({ id }: { id: string }) => id));
      query = nextCursor === null ? "" : `?limit=2&cursor=${nextCursor}`;
    }
    expect(seen).toEqual(whole);
    const last = await mine(user, "?limit=2&page=3");
    expect(last.data.map(({ id }: { id: string }) => id)).toEqual(whole.slice(4));
    expect(last.pagination).toEqual({ page: 3, limit: 2, total: 5, lastPage: 3 });
    const answer = await send(`${ALL}?cursor=nonsense`, { headers: user.headers });
    expectRefusal(answer, 400, "VALIDATION_FAILED");
  });

  it("are found by a name's prefix, or by an id", async () => {
    const user = await seedUser();
    const made = [];
    for (const name of ["Corner 100%", "Corner_shop", "Bakery"]) made.push((await create(user, { name })).json?.id);
    const found = async (text: unknown) =>
      (await mine(user, `?search=${encodeURIComponent(String(text))}`)).data.map(({ id }: { id: string }) => id);
    expect((await found("Corner")).toSorted()).toEqual([made[0], made[1]].toSorted());
    expect(await found("Corner_")).toEqual([made[1]]);
    expect(await found(made[2])).toEqual([made[2]]);
    expect(await found("%")).toEqual([]);
    expect((await mine(user, "?search=Corner")).pagination.total).toBe(2);
  });

  it("stay listed when a team requires a factor that I lack, and name the factor", async () => {
    const { merchantId, user } = await seedSeat("ADMIN");
    await seedPolicy(merchantId, { enforceTfa: true, enforcePasskey: true, enforceGoogleLogin: true });
    const refusal = expectRefusal(
      await send(one(merchantId), { headers: user.headers }),
      403,
      "SECURITY_REQUIREMENT_NOT_MET",
    );
    // Google is not configured in this deployment, and a provider that is not configured is not required.
    expect(refusal.missing).toEqual(["tfa", "passkey"]);
    expect((await mine(user)).data).toMatchObject([{ id: merchantId, role: "ADMIN", missing: ["tfa", "passkey"] }]);
  });

  it("are refused without a session, to a key, and in a revoked session", async () => {
    expectRefusal(await send(ALL), 401, "UNAUTHORIZED");
    expectRefusal(await send(ALL, { key: await seedKey(await seedMerchant()) }), 403, "SESSION_REQUIRED");
    const { user } = await seedSeat("OWNER");
    await testDb.update(sessions).set({ revokedAtMs: 1 }).where(eq(sessions.userId, user.userId));
    expectRefusal(await send(ALL, { headers: user.headers }), 401, "UNAUTHORIZED");
  });
});

describe("a merchant", () => {
  it.each(ROLES)("can be read by its %s, and shows that role", async (role) => {
    const { merchantId, as } = await seedSeat(role);
    expect((await send(one(merchantId), as({}))).json).toMatchObject({
      id: merchantId,
      role,
      missing: [],
      permissions: [...ROLE_PERMISSIONS[role]],
    });
  });

  it("shows no role to a key, and answers 404 to a user who is not a member", async () => {
    const merchantId = await seedMerchant();
    expect((await send(one(merchantId), { key: await seedKey(merchantId) })).json?.role).toBeNull();
    const { headers } = await seedUser();
    expectRefusal(await send(one(merchantId), { headers }), 404, "MERCHANT_NOT_FOUND");
  });

  it.each([
    ["OWNER", 200],
    ["ADMIN", 200],
    ["MEMBER", 403],
    ["VIEWER", 403],
  ] as const)("that its %s tries to rename answers with %i", async (role, status) => {
    const { merchantId, as } = await seedSeat(role);
    const answer = await send(one(merchantId), as({ method: "PATCH", body: { name: "New name" } }));
    expect(answer.status, answer.text).toBe(status);
    const [row] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
    expect(row?.name).toBe(status === 200 ? "New name" : "Test shop");
    const entries = (await entriesOf(merchantId)).map(({ action, before, after }) => [action, before, after]);
    const entry = ["merchant.updated", '{"name":"Test shop"}', '{"name":"New name"}'];
    expect(entries).toEqual(status === 200 ? [entry] : []);
  });

  it("is not written when it is renamed to its current name", async () => {
    const { merchantId, as } = await seedSeat("OWNER");
    expect((await send(one(merchantId), as({ method: "PATCH", body: { name: "Test shop" } }))).status).toBe(200);
    expect(await entriesOf(merchantId)).toEqual([]);
  });
});

describe("deleting a merchant", () => {
  const remove = (merchantId: string, ask: Ask, name = "Test shop") =>
    send(one(merchantId), { method: "DELETE", body: { name }, ...ask });

  it("closes it to its keys and its members, and keeps the rows", async () => {
    const { merchantId, user, as } = await seedSeat("OWNER");
    const admin = await seedUser();
    await seedMember(merchantId, admin.userId, "ADMIN");
    const key = await seedKey(merchantId);
    expect((await send(one(merchantId), { key })).status).toBe(200);
    const answer = await remove(merchantId, as({}));
    expect([answer.status, answer.text]).toEqual([204, ""]);
    for (const ask of [{ key }, { headers: user.headers }, { headers: admin.headers }]) {
      expectRefusal(await send(one(merchantId), ask), 404, "MERCHANT_NOT_FOUND");
      expectRefusal(await send(`${one(merchantId)}/invoices`, ask), 404, "MERCHANT_NOT_FOUND");
    }
    expect((await mine(user)).data).toEqual([]);
    expectRefusal(await remove(merchantId, as({})), 404, "MERCHANT_NOT_FOUND");
    expect(await entriesOf(merchantId)).toMatchObject([{ action: "merchant.deleted", before: '{"name":"Test shop"}' }]);
    expect(await testDb.$count(merchants, eq(merchants.id, merchantId))).toBe(1);
  });

  it("requires the exact name in the request", async () => {
    const { merchantId, as } = await seedSeat("OWNER", { name: "Café ☕" });
    for (const name of ["", "café ☕", "Café ☕ ", "Test shop"])
      expectRefusal(await remove(merchantId, as({}), name), 422, "CONFIRMATION_MISMATCH");
    expectRefusal(await send(one(merchantId), as({ method: "DELETE" })), 400, "VALIDATION_FAILED");
    expect((await remove(merchantId, as({}), "Café ☕")).status).toBe(204);
  });

  it.each([
    ["ADMIN", "PERMISSION_DENIED"],
    ["MEMBER", "PERMISSION_DENIED"],
    ["VIEWER", "PERMISSION_DENIED"],
  ] as const)("is refused to %s", async (role, code) => {
    const { merchantId, as } = await seedSeat(role);
    expectRefusal(await remove(merchantId, as({})), 403, code);
  });

  it("is refused to a key, and to an owner without a recent step-up", async () => {
    const { merchantId, user } = await seedSeat("OWNER");
    const key = await seedKey(merchantId, { permissions: ["MERCHANT_DELETE"] });
    expectRefusal(await remove(merchantId, { key }), 403, "PERMISSION_DENIED");
    const stale = await seedSession(user.userId, { factorAtMs: Date.now() - 301_000 });
    expectRefusal(await remove(merchantId, { headers: stale }), 403, "STEP_UP_REQUIRED");
    expect((await send(one(merchantId), { headers: stale })).status).toBe(200);
  });

  it("succeeds for only one of five parallel requests", async () => {
    const { merchantId, as } = await seedSeat("OWNER");
    const answers = await Promise.all(Array.from({ length: 5 }, () => remove(merchantId, as({}))));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses[0]).toBe(204);
    expect(new Set(statuses.slice(1))).toEqual(new Set([404]));
    expect(await entriesOf(merchantId)).toHaveLength(1);
  });

  it("is refused to an owner who transferred the ownership during the request", async () => {
    const { merchantId, memberId } = await seedSeat("OWNER");
    const [read] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
    if (read === undefined) throw new Error("no merchant");
    await testDb.update(members).set({ role: "ADMIN" }).where(eq(members.id, memberId));
    const seat = { memberId, merchantId, role: "OWNER" } as const;
    const trail = { actor: { kind: "SYSTEM", id: null }, ip: null, requestId: null } as const;
    const deleted = await deleteMerchant(
      dependencies(),
      { read, trail, seat, permission: "merchant:delete" },
      "Test shop",
    );
    // The same refusal that the access check gives an ADMIN.
    expect(deleted).toEqual({ ok: false, error: { code: "PERMISSION_DENIED", permission: "merchant:delete" } });
    const [after] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
    expect([after?.deletedAtMs, await entriesOf(merchantId)]).toEqual([null, []]);
  });
});

function dependencies() {
  return { db: testDb, nowMs: Date.now(), sleep, newOperationId: () => freshId("req").slice(4) };
}

describe("a change to a merchant", () => {
  it("is decided again from the current row if it was based on an outdated read", async () => {
    const merchantId = await seedMerchant();
    const [read] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
    if (read === undefined) throw new Error("no merchant");
    const trail = { actor: { kind: "SYSTEM", id: null }, ip: null, requestId: null } as const;
    const of = { read, trail, seat: undefined, permission: "merchant:update" } as const;
    const seen: string[] = [];
    const rename = (name: string) =>
      changeMerchant(dependencies(), of, (merchant) => {
        seen.push(merchant.name);
        return { ok: true, value: { columns: { name }, entry: { action: "merchant.updated" } } };
      });
    await rename("A");
    await rename("B");
    expect(seen).toEqual(["Test shop", "Test shop", "A"]);
    const [after] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
    expect([after?.name, (after?.updatedAtMs ?? 0) >= read.updatedAtMs + 2]).toEqual(["B", true]);
  });

  it("leaves no row in the assertions table", async () => {
    const { results } = await env.DB.prepare("select count(*) as n from assertions").all();
    expect(results).toEqual([{ n: 0 }]);
    expect(await testDb.$count(auditEvents, and(eq(auditEvents.action, "merchant.deleted")))).toBeGreaterThan(0);
  });
});
