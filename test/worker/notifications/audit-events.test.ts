// Reading the audit log: whose entries are shown, its filters and pages. Each query must use an index (decisions 1, 10).
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { AuditId, MerchantId, UserId } from "../../../src/lib/ids.ts";
import type { Actor } from "../../../src/platform/audit/entry.ts";
import { type AuditFilter, selectAuditPage } from "../../../src/platform/audit/store.ts";
import type { AuditAction } from "../../../src/platform/column-values.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { expectRefusal, seedKey, seedMerchant, send } from "../../support/access.ts";
import { seedSession } from "../../support/people.ts";
import { freshTeam, freshUser } from "../../support/teams.ts";
import { directWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, testDb } from "../../support/worker-merchant.ts";

const START_MS = Date.parse("2026-11-01T00:00:00.000Z");
const at = (n: number) => new Date(START_MS + n * 1_000).toISOString();

interface Planted {
  readonly actor: Actor;
  readonly action: AuditAction;
  /** The entry's time, in seconds after the start. */
  readonly n: number;
}

async function plant(merchantId: MerchantId | null, { actor, action, n }: Planted): Promise<AuditId> {
  const id = freshId("aud");
  await testDb.insert(auditEvents).values({
    id,
    merchantId,
    actorKind: actor.kind,
    actorId: actor.id,
    action,
    target: "inv_1",
    before: null,
    after: '{"status":"EXPIRED"}',
    ip: "203.0.113.9",
    requestId: null,
    createdAtMs: START_MS + n * 1_000,
  });
  return id;
}

const SYSTEM: Actor = { kind: "SYSTEM", id: null };

/** A log of six entries, by two users, a key and the system, oldest first; another merchant has the same. */
async function log() {
  const merchantId = await seedMerchant();
  const [ada, bob]: [Actor, Actor] = [
    { kind: "USER", id: freshId("usr") },
    { kind: "USER", id: freshId("usr") },
  ];
  const key: Actor = { kind: "API_KEY", id: freshId("key") };
  const entries: readonly Planted[] = [
    { actor: ada, action: "wallet.created", n: 0 },
    { actor: key, action: "invoice.created", n: 1 },
    { actor: bob, action: "wallet.updated", n: 2 },
    { actor: SYSTEM, action: "invoice.status_changed", n: 3 },
    { actor: ada, action: "wallet.updated", n: 4 },
    { actor: key, action: "invoice.cancelled", n: 5 },
  ];
  const ids: AuditId[] = [];
  for (const entry of entries) ids.push(await plant(merchantId, entry));
  const elsewhere = await seedMerchant();
  for (const entry of entries) await plant(elsewhere, entry);
  for (const entry of entries) await plant(null, entry);
  const secret = await seedKey(merchantId, { permissions: ["AUDIT_VIEW"] });
  const get = async (query: string) => {
    const answer = await send(`/api/v1/merchants/merchant/${merchantId}/audit-events${query}`, { key: secret });
    const list = answer.json as { data: { id: AuditId }[]; nextCursor: string | null; pagination?: object } | undefined;
    /** The listed entries, by their number among the six. */
    const shown = list?.data?.map(({ id }) => ids.indexOf(id));
    return { answer, list, shown };
  };
  return { merchantId, ids, ada, bob, key, get };
}

describe("a merchant's audit log", () => {
  it("shows an entry with exactly these fields", async () => {
    const { get, ids } = await log();
    const { answer, list } = await get(`?limit=2&from=${at(3)}`);
    expect(answer.status).toBe(200);
    expect(list?.data[1]).toEqual({
      id: ids[4],
      actor: { kind: "USER", id: expect.stringMatching(/^usr_/) },
      action: "wallet.updated",
      target: "inv_1",
      before: null,
      after: { status: "EXPIRED" },
      ip: "203.0.113.9",
      requestId: null,
      createdAt: at(4),
    });
    expect((await get("?action=invoice.status_changed")).list?.data).toMatchObject([{ actor: SYSTEM }]);
  });

  it("is newest first, contains only this merchant's entries, and can be filtered by actor, action and time", async () => {
    const { get, ada, bob, key } = await log();
    const cases: readonly [string, readonly number[]][] = [
      ["", [5, 4, 3, 2, 1, 0]],
      [`?actor=${ada.id}`, [4, 0]],
      [`?actor=${bob.id}`, [2]],
      [`?actor=${key.id}`, [5, 1]],
      ["?actor=USER", [4, 2, 0]],
      ["?actor=API_KEY", [5, 1]],
      ["?actor=SYSTEM", [3]],
      ["?actor=usr_01ARZ3NDEKTSV4RRFFQ69G5FAV", []],
      ["?action=wallet.updated", [4, 2]],
      ["?action=product.created", []],
      [`?action=wallet.updated&actor=${ada.id}`, [4]],
      [`?from=${at(2)}`, [5, 4, 3, 2]],
      [`?to=${at(2)}`, [2, 1, 0]],
      [`?from=${at(2)}&to=${at(3)}`, [3, 2]],
      [`?from=${at(3)}&to=${at(2)}`, []],
      [`?actor=USER&from=${at(1)}&action=wallet.updated&to=${at(3)}`, [2]],
      [`?from=${encodeURIComponent("2026-11-01T01:00:02+01:00")}&to=${at(2)}`, [2]],
    ];
    for (const [query, wanted] of cases) expect([query, (await get(query)).shown]).toEqual([query, wanted]);
  });

  it("continues after a page with the same filters, and shows totals only for numbered pages", async () => {
    const { get, ada } = await log();
    const first = await get("?limit=4&cursor=");
    expect([first.shown, first.list?.pagination]).toEqual([[5, 4, 3, 2], undefined]);
    const second = await get(`?limit=4&cursor=${first.list?.nextCursor}`);
    expect([second.shown, second.list?.nextCursor]).toEqual([[1, 0], null]);
    const narrow = await get(`?limit=1&actor=${ada.id}`);
    expect((await get(`?limit=1&actor=${ada.id}&cursor=${narrow.list?.nextCursor}`)).shown).toEqual([0]);
    const numbered = await get("?limit=4&page=2&actor=USER");
    expect([numbered.shown, numbered.list?.pagination]).toEqual([[], { page: 2, limit: 4, total: 3, lastPage: 1 }]);
    expect((await get("")).list?.pagination).toEqual({ page: 1, limit: 20, total: 6, lastPage: 1 });
  });

  it.each([
    "?action=wallet.stolen",
    "?from=yesterday",
    "?to=12",
    "?limit=0",
    "?cursor=abc",
    `?actor=${"x".repeat(41)}`,
  ])("refuses %s", async (query) => {
    const { get } = await log();
    expectRefusal((await get(query)).answer, 400, "VALIDATION_FAILED");
  });

  it("can be read by every role, and changed by no one", async () => {
    const { team } = await freshTeam();
    for (const role of ["ADMIN", "MEMBER", "VIEWER"] as const) {
      const { as } = await team.join(role);
      expect((await as.get(`${team.merchant}/audit-events`)).status).toBe(200);
    }
    const { get, ids, merchantId } = await log();
    const key = await seedKey(merchantId);
    for (const method of ["POST", "PATCH", "PUT", "DELETE"]) {
      const path = `/api/v1/merchants/merchant/${merchantId}/audit-events`;
      expectRefusal(await send(path, { method, key }), 405, "METHOD_NOT_ALLOWED");
      expectRefusal(await send(`${path}/${ids[0]}`, { method, key }), 404, "ROUTE_NOT_FOUND");
    }
    expect((await get("")).shown).toHaveLength(6);
  });
});

describe("a user's own audit log", () => {
  const mine = "/api/v1/me/audit-events";

  it("contains what the user did to the account, not what they did for a merchant or what others did", async () => {
    const { team, owner } = await freshTeam();
    const other = await freshUser();
    await owner.as.patch("/api/v1/me", { name: "Ada" });
    await other.as.patch("/api/v1/me", { name: "Bob" });
    await owner.as.post(`${team.merchant}/wallets`, directWallet());
    const { body } = await owner.as.get(mine);
    expect(body.data).toMatchObject([{ action: "user.updated", actor: { kind: "USER", id: owner.userId } }]);
    expect(body.pagination).toEqual({ page: 1, limit: 20, total: 1, lastPage: 1 });
  });

  it("is paginated, and can be filtered by action and by time", async () => {
    const user = await freshUser();
    const actor: Actor = { kind: "USER", id: user.userId };
    const plantMine = (action: AuditAction, n: number) => plant(null, { actor, action, n });
    const ids = [
      await plantMine("session.created", 0),
      await plantMine("totp.enabled", 1),
      await plantMine("session.revoked", 2),
    ];
    const shown = async (query: string) =>
      (await user.as.get(`${mine}${query}`)).body.data.map(({ id }: { id: AuditId }) => ids.indexOf(id));
    expect(await shown("")).toEqual([2, 1, 0]);
    expect(await shown("?action=totp.enabled")).toEqual([1]);
    expect(await shown(`?from=${at(1)}`)).toEqual([2, 1]);
    const { nextCursor } = (await user.as.get(`${mine}?limit=2`)).body;
    expect(await shown(`?limit=2&cursor=${nextCursor}`)).toEqual([0]);
  });

  it("is closed to API keys, to anonymous callers and to a session that still lacks its second factor", async () => {
    const shop = await freshMerchant();
    expectRefusal(await send(mine, { key: await seedKey(shop.merchantId) }), 403, "SESSION_REQUIRED");
    expectRefusal(await send(mine), 401, "UNAUTHORIZED");
    const { userId } = await freshUser();
    const headers = await seedSession(userId, { state: "PENDING_2FA" });
    expectRefusal(await send(mine, { headers }), 403, "SECOND_FACTOR_REQUIRED");
  });
});

describe("a page of the audit log", () => {
  const AFTER = { createdAtMs: START_MS, id: "aud_01ARZ3NDEKTSV4RRFFQ69G5FAV" };
  const planOf = async (scope: Parameters<typeof selectAuditPage>[1], filter: AuditFilter, isLater: boolean) => {
    const page = { limit: 21, offset: 0, after: isLater ? AFTER : undefined, page: undefined };
    const { sql, params } = selectAuditPage(testDb, scope, filter, page).toSQL();
    const { results } = await env.DB.prepare(`explain query plan ${sql}`)
      .bind(...params)
      .all<{ detail: string }>();
    return results.map(({ detail }) => detail).join("\n");
  };
  const OF_MERCHANT = { kind: "MERCHANT", merchantId: "mer_1" } as const;
  const OF_USER = { kind: "USER", tokenHash: "00" } as const;
  const id: UserId = "usr_1";

  it.each<[string, Parameters<typeof selectAuditPage>[1], AuditFilter, string]>([
    ["without a filter", OF_MERCHANT, {}, "audit_events_listed"],
    ["by time", OF_MERCHANT, { from: 1, to: 2 }, "audit_events_listed"],
    ["by a user", OF_MERCHANT, { actor: id }, "audit_events_actor"],
    ["by a key", OF_MERCHANT, { actor: "key_1" }, "audit_events_listed"],
    ["by the system", OF_MERCHANT, { actor: "SYSTEM" }, "audit_events_listed"],
    ["by action", OF_MERCHANT, { action: "wallet.created" }, "audit_events_action"],
    ["by the most frequent action", OF_MERCHANT, { action: "invoice.created" }, "audit_events_listed"],
    ["by the second most frequent action", OF_MERCHANT, { action: "invoice.status_changed" }, "audit_events_listed"],
    ["of a user", OF_USER, {}, "audit_events_actor"],
  ])(
    "%s is read through an index in the index's order, on the first and later pages",
    async (_, scope, filter, index) => {
      for (const isLater of [false, true]) {
        const plan = await planOf(scope, filter, isLater);
        expect(plan).toContain(`SEARCH audit_events USING INDEX ${index}`);
        expect(plan).not.toMatch(/TEMP B-TREE|SCAN audit_events/);
      }
    },
  );

  it("neither misses nor repeats entries that share a time", async () => {
    const { merchantId, get } = await log();
    for (let n = 0; n < 5; n++) await plant(merchantId, { actor: SYSTEM, action: "invoice.requoted", n: 10 });
    const rows = await testDb
      .select({ id: auditEvents.id })
      .from(auditEvents)
      .where(and(eq(auditEvents.merchantId, merchantId), eq(auditEvents.action, "invoice.requoted")));
    const seen: AuditId[] = [];
    let cursor: string | null | undefined;
    do {
      const { list } = await get(`?limit=2&action=invoice.requoted${cursor ? `&cursor=${cursor}` : ""}`);
      seen.push(...(list?.data.map((each) => each.id) ?? []));
      cursor = list?.nextCursor;
    } while (cursor);
    expect(seen).toEqual(
      rows
        .map((row) => row.id)
        .sort()
        .reverse(),
    );
  });
});
