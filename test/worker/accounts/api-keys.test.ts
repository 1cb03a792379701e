// API keys, which users create for a merchant: who may create which keys, what is shown about a key, and that a deleted key stops working at once
// (Interface 5.4, decisions 7 and 8, security.md 2).
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { KeyDependencies } from "../../../src/accounts/api-keys/change-api-key.ts";
import { apiKeyBody, apiKeyListBody, newApiKeyBody } from "../../../src/accounts/api-keys/contract.ts";
import { createApiKey } from "../../../src/accounts/api-keys/create-api-key.ts";
import { rotateApiKey } from "../../../src/accounts/api-keys/rotate-api-key.ts";
import { apiKeyKind, hashApiKey, newApiKey } from "../../../src/accounts/auth/api-key.ts";
import { ROLES } from "../../../src/accounts/roles/roles.ts";
import { newUlid } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { expectRefusal, seedKey, seedMerchant, send } from "../../support/access.ts";
import { auditOf, eventsOf, makeKey, rotateKey, SERVER_KEY, seated, statusWith } from "../../support/api-keys.ts";
import { expectDocumented } from "../../support/documented.ts";
import { keyringOf } from "../../support/keyrings.ts";
import { seedSession } from "../../support/people.ts";
import { testDb } from "../../support/worker-merchant.ts";

const POST = { method: "POST" } as const;
const keyed = (changes: object) => ({ ...POST, body: { ...SERVER_KEY, ...changes } });

describe("creating an API key", () => {
  it("shows the secret once, stores only its hash, and returns a working key", async () => {
    const owner = await seated("OWNER");
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const answer = await owner.keys("", keyed({ expiresAt, allowedIps: ["192.0.2.0/24", "2001:db8::1"] }));
    expect(answer.status, answer.text).toBe(201);
    expectDocumented(newApiKeyBody, answer.json);
    const { secret, id, display, createdAt, ...rest } = answer.json ?? {};
    expect(apiKeyKind(String(secret))).toBe("SECRET");
    expect(rest).toEqual({
      merchantId: owner.merchantId,
      name: "Server",
      kind: "SECRET",
      permissions: ["MERCHANT_VIEW", "INVOICE_VIEW"],
      allowedIps: ["192.0.2.0/24", "2001:db8::1"],
      expiresAt,
      lastUsedAt: null,
      rotatedUntil: null,
      createdBy: owner.userId,
      givenTo: null,
      expiresUnusedAt: null,
    });
    expect(display).toBe(`${String(secret).slice(0, 7)}...${String(secret).slice(-4)}`);
    const [row] = await testDb.select().from(apiKeys).where(eq(apiKeys.merchantId, owner.merchantId));
    expect(row?.hash).toBe(hashApiKey(String(secret)));
    const path = `/api/v1/merchants/merchant/${owner.merchantId}`;
    const ask = { key: String(secret), headers: { "cf-connecting-ip": "192.0.2.9" } };
    expect((await send(path, ask)).json?.role).toBeNull();
    expectRefusal(await send(path, { ...ask, headers: { "cf-connecting-ip": "192.0.3.9" } }), 403, "IP_NOT_ALLOWED");
    expectRefusal(await send(`${path}/wallets`, ask), 403, "PERMISSION_DENIED");
    const read = (await owner.keys(`/${id}`)).json;
    expectDocumented(apiKeyBody, read);
    expect(read).toEqual({ id, display, createdAt, ...rest, lastUsedAt: read?.lastUsedAt });
    expect(createdAt).toBe(new Date(row?.createdAtMs ?? 0).toISOString());
  });

  it("returns a public key that can create invoices but not list them", async () => {
    const owner = await seated("OWNER");
    const { secret } = await makeKey(owner, { name: "Page", kind: "PUBLIC", permissions: ["INVOICE_CREATE"] });
    expect(apiKeyKind(secret)).toBe("PUBLIC");
    const path = `/api/v1/merchants/merchant/${owner.merchantId}/invoices`;
    const body = { name: "Order", rawAmount: 1 };
    expect((await send(path, { method: "POST", key: secret, body })).status).toBe(201);
    expectRefusal(await send(path, { key: secret }), 403, "PUBLIC_KEY_FORBIDDEN");
  });

  it("records who created which key with which permissions, in the audit log and as an event", async () => {
    const admin = await seated("ADMIN");
    const { id, display } = await makeKey(admin);
    const [entry, ...more] = await auditOf(admin.merchantId);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ action: "api_key.created", actorKind: "USER", actorId: admin.userId, target: id });
    expect(JSON.parse(entry?.after ?? "")).toEqual({ ...SERVER_KEY, display, allowedIps: null, expiresAt: null });
    const [event] = await eventsOf(admin.merchantId);
    expect(event?.type).toBe("api_key.created");
    expect(JSON.parse(event?.data ?? "")).toMatchObject({ apiKeyId: id, apiKey: { id, display, kind: "SECRET" } });
  });

  it.each([
    ["OWNER", 201],
    ["ADMIN", 201],
    ["MEMBER", 403],
    ["VIEWER", 403],
  ] as const)("as %s is answered with %i", async (role, status) => {
    const user = await seated(role);
    const answer = await user.keys("", keyed({}));
    expect(answer.status, answer.text).toBe(status);
    if (status === 403) expect(expectRefusal(answer, 403, "PERMISSION_DENIED").permission).toBe("api_key:create");
  });

  it.each([
    ["SECRET", "MERCHANT_DELETE"],
    ["SECRET", "MERCHANT_BILLING"],
    ["SECRET", "TEAM_INVITE"],
    ["SECRET", "TEAM_UPDATE"],
    ["SECRET", "TEAM_REMOVE"],
    ["SECRET", "API_KEY_CREATE"],
    ["SECRET", "API_KEY_DELETE"],
    ["PUBLIC", "INVOICE_UPDATE"],
    ["PUBLIC", "PAYMENT_VIEW"],
    ["PUBLIC", "CUSTOMER_VIEW"],
  ])(
    "never gives a %s key the permission %s, even if the owner asks, and names it in the refusal",
    async (kind, permission) => {
      const owner = await seated("OWNER");
      const answer = await owner.keys("", keyed({ kind, permissions: ["INVOICE_VIEW", permission] }));
      expect(expectRefusal(answer, 403, "PERMISSION_NOT_GRANTABLE").permissions).toEqual([permission]);
      expect(await testDb.$count(apiKeys, eq(apiKeys.merchantId, owner.merchantId))).toBe(0);
    },
  );

  it.each([
    ["an unknown permission", { permissions: ["INVOICE_PAY"] }, "permissions.0"],
    ["a permission in lower case with a colon", { permissions: ["invoice:view"] }, "permissions.0"],
    ["a duplicate permission", { permissions: ["INVOICE_VIEW", "INVOICE_VIEW"] }, "permissions"],
    ["an empty list of permissions", { permissions: [] }, "permissions"],
    ["an unknown kind", { kind: "ADMIN" }, "kind"],
    ["an empty name", { name: "" }, "name"],
    ["a name that is too long", { name: "é".repeat(201) }, "name"],
    ["an expiry in the past", { expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
    ["an expiry that is not a time", { expiresAt: "tomorrow" }, "expiresAt"],
    ["an invalid address", { allowedIps: ["192.0.2.1", "192.0.2.256"] }, "allowedIps.1"],
    ["an invalid range", { allowedIps: ["192.0.2.0/33"] }, "allowedIps.0"],
    ["a duplicate address", { allowedIps: ["192.0.2.1", "192.0.2.1"] }, "allowedIps"],
    ["an empty list of addresses", { allowedIps: [] }, "allowedIps"],
    ["a secret chosen by the caller", { secret: "sk_mine" }, "secret"],
  ])("refuses %s", async (_, changes, path) => {
    const answer = await (await seated("OWNER")).keys("", keyed(changes));
    const { details } = expectRefusal(answer, 400, "VALIDATION_FAILED");
    expect(details).toEqual([{ path, message: expect.any(String) }]);
  });

  it("requires a factor given in the last five minutes", async () => {
    const owner = await seated("OWNER");
    const headers = await seedSession(owner.userId, { factorAtMs: Date.now() - 301_000 });
    expectRefusal(await owner.keys("", { ...keyed({}), headers }), 403, "STEP_UP_REQUIRED");
  });

  it("is refused to a key, even to one whose row has the permission", async () => {
    const merchantId = await seedMerchant();
    const key = await seedKey(merchantId, { permissions: ["API_KEY_CREATE", "API_KEY_DELETE", "API_KEY_VIEW"] });
    const path = `/api/v1/merchants/merchant/${merchantId}/api-keys`;
    expect((await send(path, { key })).status).toBe(200);
    expectRefusal(await send(path, { ...keyed({}), key }), 403, "PERMISSION_DENIED");
  });

  it("gives no secret to a member who is demoted or removed during the request", async () => {
    const admin = await seated("ADMIN");
    const work = () => {
      const { merchantId, memberId, userId } = admin;
      const trail = { actor: { kind: "USER", id: userId }, ip: null, requestId: null } as const;
      const seat = { merchantId, memberId, role: "ADMIN" } as const;
      const actor = { seat, trail, permission: "api_key:create", createdBy: userId } as const;
      return createApiKey(dependencies(), actor, SERVER_KEY);
    };
    const operationId = newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(16)));
    await testDb.update(members).set({ role: "VIEWER" }).where(eq(members.id, admin.memberId));
    const first = await work()(operationId, undefined, 0);
    if (first.kind !== "ready") throw new Error("decided on what was read");
    const [statement, ...more] = first.statements;
    if (statement === undefined) throw new Error("no statements");
    await expect(commit(testDb, [statement, ...more])).rejects.toThrow("assertion_holds");
    const again = await work()(operationId, { kind: "assertion" }, 1);
    expect(again).toEqual({
      kind: "refused",
      failure: { code: "PERMISSION_DENIED", permission: "api_key:create" },
    });
    await testDb.delete(members).where(eq(members.id, admin.memberId));
    const gone = await work()(operationId, { kind: "assertion" }, 1);
    expect(gone).toEqual({ kind: "refused", failure: { code: "MERCHANT_NOT_FOUND" } });
    expect(await testDb.$count(apiKeys, eq(apiKeys.merchantId, admin.merchantId))).toBe(0);
  });
});

describe("rotating an API key", () => {
  it("gives no secret to a member who is demoted during the request, and the old secret still works", async () => {
    const admin = await seated("ADMIN");
    const { id, secret } = await makeKey(admin);
    const [read] = await testDb.select().from(apiKeys).where(eq(apiKeys.id, id));
    const { merchantId, memberId, userId } = admin;
    const trail = { actor: { kind: "USER", id: userId }, ip: null, requestId: null } as const;
    const seat = { merchantId, memberId, role: "ADMIN" } as const;
    const of = { seat, trail, permission: "api_key:create", apiKeyId: id, read } as const;
    await testDb.update(members).set({ role: "MEMBER" }).where(eq(members.id, memberId));
    const work = rotateApiKey(dependencies(), of, 0);
    const operationId = dependencies().newOperationId();
    const first = await work(operationId, undefined, 0);
    if (first.kind !== "ready") throw new Error("decided on what was read");
    const [statement, ...more] = first.statements;
    if (statement === undefined) throw new Error("no statements");
    await expect(commit(testDb, [statement, ...more])).rejects.toThrow("assertion_holds");
    const again = await work(operationId, { kind: "assertion" }, 1);
    expect(again).toMatchObject({ kind: "refused", failure: { code: "PERMISSION_DENIED" } });
    expect(await statusWith(merchantId, secret)).toBe(200);
  });
});

function dependencies() {
  const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
  const newOperationId = () => newUlid(Date.now(), randomBytes(16));
  const macKeys = keyringOf(env.API_KEY_MAC_KEY);
  const newSecret: KeyDependencies["newSecret"] = (of) => newApiKey({ ...of, macKeys, randomBytes });
  const mailer = { post: async () => {} };
  return { db: testDb, nowMs: Date.now(), sleep, newOperationId, newSecret, mailer };
}

describe("an API key", () => {
  it("keeps working after its creator has left the team", async () => {
    const admin = await seated("ADMIN");
    const { id, secret } = await makeKey(admin);
    await testDb.delete(members).where(eq(members.id, admin.memberId));
    expect(await statusWith(admin.merchantId, secret)).toBe(200);
    const owner = await seated("OWNER", admin);
    expect((await owner.keys(`/${id}`)).json).toMatchObject({ createdBy: admin.userId });
  });

  it("can be read by every role, but never with its secret or its hash", async () => {
    const owner = await seated("OWNER");
    const { id, secret } = await makeKey(owner);
    for (const role of ROLES.slice(1)) {
      const user = await seated(role, owner);
      const answers = [await user.keys(""), await user.keys(`/${id}`)];
      for (const { status, text } of answers) {
        expect([status, text.includes(id)]).toEqual([200, true]);
        for (const hidden of [secret, hashApiKey(secret), '"hash"', '"secret"', "previous"])
          expect(text).not.toContain(hidden);
      }
    }
  });

  it("is not found by another merchant's owner, nor under an invalid id", async () => {
    const [owner, stranger] = [await seated("OWNER"), await seated("OWNER")];
    const { id, secret } = await makeKey(owner);
    for (const path of [`/${id}`, `/${id.toLowerCase()}`, "/key_1", "/%00"]) {
      expectRefusal(await stranger.keys(path), 404, "API_KEY_NOT_FOUND");
      expectRefusal(await stranger.keys(path, { method: "PATCH", body: { name: "x" } }), 404, "API_KEY_NOT_FOUND");
      expectRefusal(await stranger.keys(path, { method: "DELETE" }), 404, "API_KEY_NOT_FOUND");
      const rotate = { ...POST, body: { overlapHours: 0 } };
      expectRefusal(await stranger.keys(`${path}/rotate`, rotate), 404, "API_KEY_NOT_FOUND");
    }
    expect(await statusWith(owner.merchantId, secret)).toBe(200);
  });
});

describe("the list of API keys", () => {
  it("is newest first, in pages that show each key once, expired keys included and deleted keys left out", async () => {
    const owner = await seated("OWNER");
    const made = [];
    for (let n = 0; n < 5; n++) made.unshift((await makeKey(owner, { ...SERVER_KEY, name: `Key ${n}` })).id);
    await testDb.update(apiKeys).set({ expiresAtMs: 1 }).where(sql`${apiKeys.id} = ${made[1]}`);
    await testDb.update(apiKeys).set({ revokedAtMs: 1 }).where(sql`${apiKeys.id} = ${made[2]}`);
    const left = made.filter((_, n) => n !== 2);
    const idsOf = (text: string) => JSON.parse(text).data.map(({ id }: { id: string }) => id);
    const whole = await owner.keys("");
    expect(idsOf(whole.text)).toEqual(left);
    expectDocumented(apiKeyListBody, whole.json);
    expect(whole.json).toMatchObject({ nextCursor: null, pagination: { page: 1, limit: 20, total: 4, lastPage: 1 } });
    const first = await owner.keys("?limit=3");
    expect(first.json?.pagination).toEqual({ page: 1, limit: 3, total: 4, lastPage: 2 });
    const second = await owner.keys(`?limit=3&cursor=${first.json?.nextCursor}`);
    expect(second.json?.pagination).toBeUndefined();
    expect([...idsOf(first.text), ...idsOf(second.text)]).toEqual(left);
    expect(second.json?.nextCursor).toBeNull();
    expect(idsOf((await owner.keys("?limit=3&page=2")).text)).toEqual(left.slice(3));
    expect(idsOf((await owner.keys("?search=Key%204")).text)).toEqual([made[0]]);
    expect(idsOf((await owner.keys(`?search=${made[1]}`)).text)).toEqual([made[1]]);
    expectRefusal(await owner.keys("?cursor=x"), 400, "VALIDATION_FAILED");
  });
});

describe("changing an API key", () => {
  it("takes effect at once on the name and the allowed addresses, and is recorded in the audit log", async () => {
    const owner = await seated("OWNER");
    const { id, secret } = await makeKey(owner);
    const change = { name: "Shop server", allowedIps: ["198.51.100.7"] };
    const answer = await owner.keys(`/${id}`, { method: "PATCH", body: change });
    expect([answer.status, answer.json], answer.text).toEqual([200, expect.objectContaining({ id, ...change })]);
    expect(await statusWith(owner.merchantId, secret)).toBe(403);
    const entry = (await auditOf(owner.merchantId)).find(({ action }) => action === "api_key.updated");
    expect(JSON.parse(entry?.before ?? "")).toEqual({ name: "Server", allowedIps: null });
    expect(JSON.parse(entry?.after ?? "")).toEqual(change);
    const opened = await owner.keys(`/${id}`, { method: "PATCH", body: { allowedIps: null } });
    expect(opened.json).toMatchObject({ name: "Shop server", allowedIps: null });
    expect(await statusWith(owner.merchantId, secret)).toBe(200);
  });

  it("writes nothing when nothing changes, and refuses any other field", async () => {
    const owner = await seated("OWNER");
    const { id } = await makeKey(owner);
    const patch = (body: object) => owner.keys(`/${id}`, { method: "PATCH", body });
    expect((await patch({ name: "Server", allowedIps: null })).status).toBe(200);
    expect(await auditOf(owner.merchantId)).toHaveLength(1);
    for (const body of [{}, { permissions: ["INVOICE_VIEW"] }, { expiresAt: null }, { kind: "PUBLIC" }])
      expectRefusal(await patch(body), 400, "VALIDATION_FAILED");
  });

  it("loses neither of two parallel changes to different fields", async () => {
    const owner = await seated("OWNER");
    const { id } = await makeKey(owner);
    for (let round = 0; round < 5; round++) {
      const changes = [{ name: `Server ${round}` }, { allowedIps: [`192.0.2.${round}`] }];
      const answers = await Promise.all(changes.map((body) => owner.keys(`/${id}`, { method: "PATCH", body })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await owner.keys(`/${id}`)).json).toMatchObject(Object.assign({}, ...changes));
    }
  });

  it("is refused to MEMBER and VIEWER, and for a key with a permission that the user could not grant", async () => {
    const owner = await seated("OWNER");
    const { id } = await makeKey(owner);
    const patch = { method: "PATCH", body: { name: "x" } };
    for (const role of ["MEMBER", "VIEWER"] as const)
      expectRefusal(await (await seated(role, owner)).keys(`/${id}`, patch), 403, "PERMISSION_DENIED");
    await testDb.update(apiKeys).set({ permissions: '["INVOICE_VIEW","MERCHANT_DELETE"]' }).where(eq(apiKeys.id, id));
    const refusals = [
      await owner.keys(`/${id}`, patch),
      await owner.keys(`/${id}/rotate`, { ...POST, body: { overlapHours: 1 } }),
    ];
    for (const refusal of refusals)
      expect(expectRefusal(refusal, 403, "PERMISSION_NOT_GRANTABLE").permissions).toEqual(["MERCHANT_DELETE"]);
    expect((await owner.keys(`/${id}`, { method: "DELETE" })).status).toBe(204);
  });
});

describe("deleting an API key", () => {
  it("makes its secret invalid from the next request on, and during an overlap also the previous secret", async () => {
    const owner = await seated("OWNER");
    const { id, secret: old } = await makeKey(owner);
    const { secret } = await rotateKey(owner, id, 72);
    expect([await statusWith(owner.merchantId, old), await statusWith(owner.merchantId, secret)]).toEqual([200, 200]);
    const answer = await owner.keys(`/${id}`, { method: "DELETE" });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect([await statusWith(owner.merchantId, old), await statusWith(owner.merchantId, secret)]).toEqual([401, 401]);
    expectRefusal(await owner.keys(`/${id}`), 404, "API_KEY_NOT_FOUND");
    expectRefusal(await owner.keys(`/${id}/rotate`, { ...POST, body: { overlapHours: 0 } }), 404, "API_KEY_NOT_FOUND");
    const actions = (await auditOf(owner.merchantId)).map(({ action }) => action);
    expect(actions).toEqual(["api_key.created", "api_key.rotated", "api_key.deleted"]);
    expect((await eventsOf(owner.merchantId)).map(({ type }) => type).toSorted()).toEqual(actions.toSorted());
  });

  it("takes effect while the key is in use: every request after the response is refused", async () => {
    const owner = await seated("OWNER");
    const { id, secret } = await makeKey(owner);
    const using = Array.from({ length: 10 }, () => statusWith(owner.merchantId, secret));
    const deleted = await owner.keys(`/${id}`, { method: "DELETE" });
    const after = await Promise.all(Array.from({ length: 10 }, () => statusWith(owner.merchantId, secret)));
    expect(deleted.status).toBe(204);
    expect(new Set(after)).toEqual(new Set([401]));
    for (const status of await Promise.all(using)) expect([200, 401]).toContain(status);
  });

  it("succeeds for only one of five parallel requests", async () => {
    const owner = await seated("OWNER");
    const { id } = await makeKey(owner);
    const answers = await Promise.all(Array.from({ length: 5 }, () => owner.keys(`/${id}`, { method: "DELETE" })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404, 404, 404]);
    expect((await auditOf(owner.merchantId)).filter(({ action }) => action === "api_key.deleted")).toHaveLength(1);
  });

  it.each([
    ["OWNER", 204],
    ["ADMIN", 204],
    ["MEMBER", 403],
    ["VIEWER", 403],
  ] as const)("as %s is answered with %i", async (role, status) => {
    const owner = await seated("OWNER");
    const { id, secret } = await makeKey(owner);
    const user = role === "OWNER" ? owner : await seated(role, owner);
    expect((await user.keys(`/${id}`, { method: "DELETE" })).status).toBe(status);
    expect(await statusWith(owner.merchantId, secret)).toBe(status === 204 ? 401 : 200);
  });
});
