// Live updates for a merchant's own users, with real sockets to the real Worker: what is sent, what is missed, and when sockets are closed.
import { evictDurableObject, listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { TeamSockets } from "../../../src/checkout/live/serve-team.ts";
import { CHECK_MS, UNCHECKED_MS } from "../../../src/checkout/live/team-socket.ts";
import { type MerchantId, makeId, ulidTime } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { openDb, openWakingDb, tellRooms } from "../../../src/platform/db/client.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { sessions } from "../../../src/platform/db/schema/users.ts";
import { recordEvent } from "../../../src/platform/events/store.ts";
import { type Ask, expectRefusal, requestOf, send } from "../../support/access.ts";
import { seedMember, seedPolicy, seedSession, seedUser, type TestUser } from "../../support/people.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const SOON = { timeout: 60_000, interval: 5 };

const sockets: WebSocket[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.close();
});

const pathOf = ({ merchantId }: { readonly merchantId: string }, query = "") =>
  `/api/v1/merchants/merchant/${merchantId}/live${query}`;
const upgrade = (headers: Readonly<Record<string, string>> = {}): Ask => ({
  headers: { upgrade: "websocket", ...headers },
});
const roomOf = ({ merchantId }: { readonly merchantId: string }) => env.CHECKOUT_ROOM.getByName(merchantId);

/** A member of the shop's team. */
async function memberOf({ merchantId }: TestMerchant, role: "OWNER" | "VIEWER" = "VIEWER") {
  const user = await seedUser();
  return { ...user, memberId: await seedMember(merchantId, user.userId, role) };
}

async function open(shop: TestMerchant, headers: TestUser["headers"], query?: string) {
  const response = await exports.default.fetch(requestOf(pathOf(shop, query), upgrade(headers)));
  const socket = response.webSocket;
  if (socket === null) throw new Error(`no socket but ${response.status} ${await response.text()}`);
  sockets.push(socket);
  const heard: Record<string, unknown>[] = [];
  const closed: number[] = [];
  socket.addEventListener("message", ({ data }) => void heard.push(JSON.parse(String(data))));
  socket.addEventListener("close", ({ code }) => void closed.push(code));
  socket.accept();
  return { response, socket, heard, closed };
}

type Live = Awaited<ReturnType<typeof open>>;

const hears = (live: Live, count: number) =>
  vi.waitFor(() => {
    expect(live.heard.length).toBeGreaterThanOrEqual(count);
    return live.heard;
  }, SOON);

/** Connects, and removes the first message of every new connection, which says to read everything again. */
async function opened(shop: TestMerchant, headers: TestUser["headers"]): Promise<Live> {
  const live = await open(shop, headers);
  await hears(live, 1);
  expect(live.heard).toEqual([{ type: "reread", eventId: expect.any(String) }]);
  live.heard.pop();
  return live;
}

async function invoiceOf(shop: TestMerchant): Promise<string> {
  const made = await shop.post("/invoices", { name: "Order", rawAmount: 25, paymentMethods: [] });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function cancel(shop: TestMerchant, invoiceId: string): Promise<void> {
  expect((await shop.post(`/invoices/${invoiceId}/cancel`)).status).toBe(200);
}

/** Records an event without an invoice, and announces it as the product does. */
async function record(
  shop: TestMerchant,
  type: "payment.unmatched" | "webhook.endpoint_disabled" | "wallet.updated",
  data: object,
) {
  const background: Promise<unknown>[] = [];
  const db = openWakingDb(env.DB, env, (work) => void background.push(work));
  const event = { id: freshId("evt"), merchantId: shop.merchantId, type, data, createdAtMs: Date.now() } as const;
  await commit(db, recordEvent(db, event));
  await Promise.all(background);
  return event.id;
}

/** The id of the merchant's last committed event. */
const newestEvent = async (merchantId: MerchantId) => {
  const all = await testDb
    .select({ id: events.id })
    .from(events)
    .where(eq(events.merchantId, merchantId))
    .orderBy(sql`rowid`);
  return all.at(-1)?.id;
};

/** Changes the sockets as if the room had last checked them `ms` ago, and runs the room's alarm. */
async function checkAfter(shop: TestMerchant, ms: number): Promise<void> {
  await runInDurableObject(roomOf(shop), (_, state) => {
    for (const socket of state.getWebSockets("team")) {
      const attachment = socket.deserializeAttachment();
      socket.serializeAttachment({ ...attachment, checkedAtMs: attachment.checkedAtMs - ms });
    }
  });
  await runDurableObjectAlarm(roomOf(shop));
}

describe("a connected member is notified", () => {
  it("of a change to an invoice at once, and members of other merchants are not", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const invoiceId = await invoiceOf(shop);
    const [one, two] = await Promise.all([memberOf(shop), memberOf(other)]);
    const [ours, theirs] = [await opened(shop, one.headers), await opened(other, two.headers)];
    await cancel(shop, invoiceId);
    await hears(ours, 1);
    const eventId = await newestEvent(shop.merchantId);
    expect(ours.heard).toEqual([{ type: "invoice", eventId, invoiceId, status: "CANCELLED", sequence: 2 }]);
    expect(theirs.heard).toEqual([]);
  });

  it("of a new invoice when events are read again, even after the room was evicted", async () => {
    const shop = await freshMerchant();
    const live = await opened(shop, (await memberOf(shop)).headers);
    await evictDurableObject(roomOf(shop));
    const invoiceId = await invoiceOf(shop);
    await runDurableObjectAlarm(roomOf(shop));
    await hears(live, 1);
    expect(live.heard).toEqual([
      { type: "invoice", eventId: expect.any(String), invoiceId, status: "AWAITING_PAYMENT", sequence: 1 },
    ]);
    const nextMs = await runInDurableObject(roomOf(shop), (_, state) => state.storage.getAlarm());
    expect((nextMs ?? 0) - Date.now()).toBeLessThanOrEqual(30_000);
  });

  it("of an unmatched payment, a disabled endpoint or a newly failing one at once, and of a changed wallet soon", async () => {
    const shop = await freshMerchant();
    const live = await opened(shop, (await memberOf(shop)).headers);
    const unmatched = await record(shop, "payment.unmatched", { payment: { id: "pay_1" } });
    const summary = await record(shop, "payment.unmatched", { payment: null });
    const disabled = await record(shop, "webhook.endpoint_disabled", { webhookId: "whk_1" });
    await tellRooms(env, [`${shop.merchantId} whk_2`]);
    const wallet = await record(shop, "wallet.updated", { walletId: "wal_1", wallet: {} });
    await runDurableObjectAlarm(roomOf(shop));
    await hears(live, 5);
    expect(live.heard).toEqual([
      { type: "unmatched", eventId: unmatched, paymentId: "pay_1" },
      { type: "unmatched", eventId: summary, paymentId: null },
      { type: "endpoint", eventId: disabled, webhookId: "whk_1" },
      { type: "endpoint", eventId: null, webhookId: "whk_2" },
      { type: "wallet", eventId: wallet, walletId: "wal_1" },
    ]);
  });

  it("once of several changes to an invoice, on each open socket", async () => {
    const shop = await freshMerchant();
    const { headers } = await memberOf(shop);
    const lives = [await opened(shop, headers), await opened(shop, headers)];
    const invoiceId = await invoiceOf(shop);
    await cancel(shop, invoiceId);
    for (const live of lives) {
      await hears(live, 1);
      expect(live.heard).toEqual([expect.objectContaining({ invoiceId, status: "CANCELLED", sequence: 2 })]);
    }
  });
});

describe("a reader who was disconnected", () => {
  it("continues after the last event, and misses nothing", async () => {
    const shop = await freshMerchant();
    const { headers } = await memberOf(shop);
    const ids = [await invoiceOf(shop), await invoiceOf(shop)];
    const after = await newestEvent(shop.merchantId);
    for (const id of ids) await cancel(shop, id);
    const live = await open(shop, headers, `?after=${after}`);
    await hears(live, 2);
    expect(live.heard.map(({ invoiceId, status }) => [invoiceId, status])).toEqual(ids.map((id) => [id, "CANCELLED"]));
  });

  it("is sent a request to reread everything if the last event is unknown, another merchant's or too old", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const { headers } = await memberOf(shop);
    await invoiceOf(other);
    const first = freshId("evt");
    const { merchantId } = shop;
    const row = { type: "ping", data: "{}", createdAtMs: Date.now(), merchantId };
    await testDb.insert(events).values({ ...row, id: first });
    for (let n = 0; n < 11; n++) {
      await testDb.insert(events).values(Array.from({ length: 10 }, () => ({ ...row, id: freshId("evt") })));
    }
    await env.DB.prepare(
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000) insert into events (id, merchant_id, type, data, created_at_ms) select id || i, merchant_id, type, data, created_at_ms from events, n where id = ?",
    )
      .bind(first)
      .run();
    const eventId = await newestEvent(merchantId);
    for (const after of ["evt_unknown", "'", String(await newestEvent(other.merchantId)), first]) {
      const live = await open(shop, headers, `?after=${encodeURIComponent(after)}`);
      await hears(live, 1);
      expect(live.heard).toEqual([{ type: "reread", eventId }]);
    }
  });
});

describe("a page that has just read everything", () => {
  it("is sent what changed after its read or in the minute before its read, and nothing older", async () => {
    const shop = await freshMerchant();
    const { headers } = await memberOf(shop);
    const atMs = Date.now();
    const wallet = async (agoMs: number) => {
      const id = makeId("evt", ulidTime(atMs - agoMs) + "0".repeat(16));
      const data = JSON.stringify({ walletId: `wal_${agoMs}` });
      await testDb
        .insert(events)
        .values({ id, merchantId: shop.merchantId, type: "wallet.updated", data, createdAtMs: atMs - agoMs });
    };
    for (const agoMs of [600_000, 71_000, 69_000, 1_000]) await wallet(agoMs);
    const live = await open(shop, headers, "?readWithinMs=10000");
    await hears(live, 2);
    await record(shop, "payment.unmatched", { payment: { id: "pay_1" } });
    await hears(live, 3);
    const about = live.heard.map(({ type, walletId, paymentId }) => [type, walletId ?? paymentId]);
    expect(about).toEqual([
      ["wallet", "wal_69000"],
      ["wallet", "wal_1000"],
      ["unmatched", "pay_1"],
    ]);
  });

  it("is sent nothing on connecting if nothing has changed or no event exists, and then every later event", async () => {
    for (const hasEvent of [true, false]) {
      const shop = await freshMerchant();
      const { headers } = await memberOf(shop);
      const row = { type: "ping", data: "{}", merchantId: shop.merchantId };
      if (hasEvent) await testDb.insert(events).values({ ...row, id: makeId("evt", "0".repeat(26)), createdAtMs: 1 });
      const live = await open(shop, headers, "?readWithinMs=0");
      await runDurableObjectAlarm(roomOf(shop));
      await evictDurableObject(roomOf(shop));
      const eventId = await record(shop, "payment.unmatched", { payment: { id: "pay_1" } });
      await hears(live, 1);
      expect(live.heard).toEqual([{ type: "unmatched", eventId, paymentId: "pay_1" }]);
    }
  });

  it("cannot connect with an age that is not a whole number of milliseconds up to ten minutes", async () => {
    const shop = await freshMerchant();
    const { headers } = await memberOf(shop);
    for (const age of ["-1", "1.5", "600001", "x"])
      await expectRefusal(await send(pathOf(shop, `?readWithinMs=${age}`), upgrade(headers)), 400, "VALIDATION_FAILED");
  });
});

describe("a connection is ended", () => {
  it.each([
    [
      "its session was revoked",
      (userId: string) =>
        testDb
          .update(sessions)
          .set({ revokedAtMs: 1 })
          .where(eq(sessions.userId, userId as never)),
    ],
    [
      "its session expired",
      (userId: string) =>
        testDb
          .update(sessions)
          .set({ createdAtMs: 1 })
          .where(eq(sessions.userId, userId as never)),
    ],
    [
      "its token was replaced",
      (userId: string) =>
        testDb
          .update(sessions)
          .set({ tokenHash: crypto.randomUUID() })
          .where(eq(sessions.userId, userId as never)),
    ],
    ["its member is gone", (userId: string) => testDb.delete(members).where(eq(members.userId, userId as never))],
    [
      "the team requires a factor that the member lacks",
      (_: string, id: MerchantId) => seedPolicy(id, { enforceTfa: true }),
    ],
  ])("after two minutes when %s, and unaffected connections stay open", async (name, change) => {
    const shop = await freshMerchant();
    const [ended, kept] = [await memberOf(shop), await memberOf(shop)];
    const lives = [await opened(shop, ended.headers), await opened(shop, kept.headers)] as const;
    await change(ended.userId, shop.merchantId);
    await checkAfter(shop, CHECK_MS - 30_000);
    expect(lives[0].closed).toEqual([]);
    await checkAfter(shop, 30_000);
    await vi.waitFor(() => expect(lives[0].closed).toEqual([1008]), SOON);
    const ends = name.startsWith("the team") ? [1008] : [];
    await vi.waitFor(() => expect(lives[1].closed).toEqual(ends), SOON);
  });

  it("at once when the member is removed from the team", async () => {
    const shop = await freshMerchant();
    const [owner, gone] = [await memberOf(shop, "OWNER"), await memberOf(shop)];
    const [ours, theirs] = [await opened(shop, owner.headers), await opened(shop, gone.headers)];
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/team/members/${gone.memberId}`;
    const { status } = await send(path, { method: "DELETE", headers: owner.headers });
    expect(status).toBe(204);
    await vi.waitFor(() => expect(theirs.closed).toEqual([1008]), SOON);
    expect(ours.closed).toEqual([]);
  });

  it("after ten minutes during which its session could not be checked", async () => {
    const shop = await freshMerchant();
    const live = await opened(shop, (await memberOf(shop)).headers);
    const lost = async () => {
      throw new Error("D1_ERROR: Network connection lost.");
    };
    const d1 = new Proxy(env.DB, { get: (db, name) => (name === "batch" ? lost : Reflect.get(db, name).bind(db)) });
    const checkAt = (nowMs: number) =>
      runInDurableObject(roomOf(shop), (_, state) => {
        const deps = { db: openDb(d1), sleep: async () => undefined, nowMs: () => nowMs, configured: new Set<never>() };
        return new TeamSockets(state, () => deps, shop.merchantId).alarm();
      });
    await checkAt(Date.now() + UNCHECKED_MS - 60_000);
    expect(live.closed).toEqual([]);
    await checkAt(Date.now() + UNCHECKED_MS);
    await vi.waitFor(() => expect(live.closed).toEqual([1013]), SOON);
  });

  it("when it sends anything but a ping", async () => {
    const shop = await freshMerchant();
    const live = await opened(shop, (await memberOf(shop)).headers);
    live.socket.send("x".repeat(10_000));
    await vi.waitFor(() => expect(live.closed).toEqual([1008]), SOON);
  });

  it("by the browser, and the room sets no more alarms once it is empty", async () => {
    const shop = await freshMerchant();
    const live = await opened(shop, (await memberOf(shop)).headers);
    live.socket.close(1000);
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(roomOf(shop));
      const alarm = await runInDurableObject(roomOf(shop), (_, state) => state.storage.getAlarm());
      expect(alarm).toBeNull();
    }, SOON);
  });
});

describe("nobody can connect", () => {
  it("without a WebSocket upgrade, from another origin or none, or as a stranger, and a refused request creates no object", async () => {
    const shop = await freshMerchant();
    const { headers } = await memberOf(shop);
    const { cookie = "" } = headers;
    expectRefusal(await send(pathOf(shop), { headers }), 400, "VALIDATION_FAILED");
    expectRefusal(await send(pathOf(shop, `?after=${"x".repeat(41)}`), upgrade(headers)), 400, "VALIDATION_FAILED");
    for (const origin of [undefined, "https://evil.example", "null", "http://localhost:8787.evil.example"]) {
      const from = origin === undefined ? {} : { origin };
      expectRefusal(await send(pathOf(shop), upgrade({ cookie, ...from })), 403, "ORIGIN_NOT_ALLOWED");
    }
    const stranger = await seedUser();
    expectRefusal(await send(pathOf(shop), upgrade(stranger.headers)), 404, "MERCHANT_NOT_FOUND");
    expectRefusal(await send(pathOf(shop), upgrade()), 401, "UNAUTHORIZED");
    const pending = await seedSession(stranger.userId, { state: "PENDING_2FA" });
    expectRefusal(await send(pathOf(shop), upgrade(pending)), 403, "SECOND_FACTOR_REQUIRED");
    const room = String(env.CHECKOUT_ROOM.idFromName(shop.merchantId));
    const made = async () => (await listDurableObjectIds(env.CHECKOUT_ROOM)).map(String);
    expect(await made()).not.toContain(room);
    await opened(shop, headers);
    expect(await made()).toContain(room);
  });

  it("once the member's or the merchant's limit is reached; checkout pages are counted separately", async () => {
    const shop = await freshMerchant();
    const [one, other] = [await memberOf(shop), await memberOf(shop)];
    for (let n = 0; n < LIMITS.liveConnectionsPerMember; n++) await open(shop, one.headers);
    expectRefusal(await send(pathOf(shop), upgrade(one.headers)), 429, "RATE_LIMITED");
    await opened(shop, other.headers);
    await runInDurableObject(roomOf(shop), (_, state) => {
      const all = Array.from({ length: LIMITS.liveConnectionsPerMerchant });
      const crowd = [...all, ...Array.from({ length: LIMITS.checkoutPagesPerMerchant - 1 })];
      vi.spyOn(state, "getWebSockets").mockImplementation((tag) => {
        if (tag === undefined) return crowd as WebSocket[];
        return (tag === "team" ? all : []) as WebSocket[];
      });
    });
    expectRefusal(await send(pathOf(shop), upgrade(other.headers)), 429, "RATE_LIMITED");
    const invoiceId = await invoiceOf(shop);
    const page = await exports.default.fetch(requestOf(`/pay/${invoiceId}/live`, upgrade()));
    expect(page.status).toBe(101);
    page.webSocket?.accept();
    page.webSocket?.close();
  });
});
