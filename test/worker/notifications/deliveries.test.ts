// Deliveries with workerd's own D1 and queue, to a real receiver on loopback. Where time matters, the worker's clock or the times in rows are
// shifted.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";
import type { WebhookId } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { type DeliverDependencies, deliverTo } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import { deliverMessages } from "../../../src/notifications/deliveries/dependencies.ts";
import { leaseMs, MOST_IN_FLIGHT, ROUND_SIZE } from "../../../src/notifications/deliveries/round.ts";
import { leaseBatch, recordOutcomes } from "../../../src/notifications/deliveries/store.ts";
import { wakeDue } from "../../../src/notifications/deliveries/wake-due.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { wakeEndpoints } from "../../../src/platform/db/client.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { deliveries, webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { eventText } from "../../../src/platform/events/event.ts";
import { recordNews } from "../../support/endpoints.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import {
  attemptsOf,
  background,
  endpoint,
  hookOf,
  receiver,
  rowsOf,
  SOON_MS,
  TIMEOUT_MS,
  useRealClock,
  wakingDb,
  worker,
} from "./deliveries-harness.ts";

useRealClock();

const makeDue = (id: WebhookId) =>
  testDb
    .update(deliveries)
    .set({ nextAttemptMs: Date.now() - 1 })
    .where(eq(deliveries.webhookId, id));

describe("an event", () => {
  it("is delivered after its commit, as its stored text and with a signature, and the attempt is stored", async () => {
    const { merchantId, id, key, secret } = await endpoint("ok");
    const [eventId] = await recordNews(wakingDb, merchantId);
    await vi.waitFor(async () => expect(await rowsOf(id)).toMatchObject([{ status: "SUCCEEDED" }]), SOON_MS);
    const [row] = await testDb.select().from(events).where(eq(events.merchantId, merchantId));
    const [delivery] = await rowsOf(id);
    const [reception, ...others] = await receiver.log(key);
    expect(others).toEqual([]);
    expect(reception).toMatchObject({ method: "POST", signedBy: [secret] });
    expect(reception?.body).toBe(row === undefined ? "" : eventText(row));
    expect(reception?.headers).toMatchObject({ "webhook-id": eventId, "x-delivery-id": delivery?.id });
    const [attempt] = await attemptsOf(id);
    expect(attempt).toMatchObject({ number: 1, statusCode: 200, error: null, response: "answered 200" });
    expect(reception?.headers).toMatchObject(JSON.parse(attempt?.requestHeaders ?? ""));
    expect(delivery).toMatchObject({ attempts: 1, step: 1, claim: null });
  });

  it("reaches each endpoint that subscribes to it, and no other", async () => {
    const { merchantId, key } = await endpoint("ok");
    const all = await Promise.all(
      ['["api_key.*"]', '["api_key.created"]', '["invoice.*"]', '["api_key.deleted"]'].map((wanted) =>
        endpoint("ok", { merchantId, events: wanted }),
      ),
    );
    await recordNews(wakingDb, merchantId);
    const counts = async () =>
      Promise.all([key, ...all.map((each) => each.key)].map(async (each) => (await receiver.log(each)).length));
    await vi.waitFor(async () => expect(await counts()).toEqual([1, 1, 1, 0, 0]), SOON_MS);
  });

  it("whose delivery failed is sent again automatically after the first delay, with the same id and text", async () => {
    const { merchantId, id, key } = await endpoint("fail-each/1");
    const setting = { ...env, WEBHOOK_SCHEDULE_SECONDS: "0,4" };
    await recordNews(testDb, merchantId, 3);
    await deliverMessages([{ body: { webhookId: id } }], setting, (work) => void background.push(work));
    expect(await rowsOf(id)).toMatchObject([1, 2, 3].map(() => ({ status: "PENDING", attempts: 1 })));
    const succeeded = { status: "SUCCEEDED", attempts: 2 };
    await vi.waitFor(async () => expect(await rowsOf(id)).toMatchObject([succeeded, succeeded, succeeded]), SOON_MS);
    const texts = (await receiver.log(key)).map(({ body, headers }) => `${headers["webhook-id"]} ${body}`);
    expect(texts).toHaveLength(6);
    expect(new Set(texts).size).toBe(3);
  });

  it("whose queue message was lost is delivered by the cron", async () => {
    const { merchantId, id } = await endpoint("ok");
    await recordNews(testDb, merchantId);
    await wakeDue({ db: testDb, nowMs: Date.now(), wakeAll: (ids) => wakeEndpoints(env, ids) });
    await vi.waitFor(async () => expect(await rowsOf(id)).toMatchObject([{ status: "SUCCEEDED" }]), SOON_MS);
  });
});

describe("an attempt", () => {
  it.each([
    ["ok", 200, null, "answered 200"],
    ["status/204", 204, null, ""],
    ["half/200", 200, null, /^h*$/],
    ["hang-body/200", 200, null, "half of "],
    ["big/10485760", 200, null, "x".repeat(4_096)],
  ] as const)("whose receiver behaves as %s succeeds", async (behaviour, statusCode, error, response) => {
    // The time limit leaves a busy receiver time to answer.
    const { merchantId, id } = await endpoint(behaviour, { timeoutMs: behaviour === "hang-body/200" ? 3_000 : 30_000 });
    await recordNews(testDb, merchantId);
    const { deps, wakes } = worker();
    await deliverTo(deps, id);
    expect(await rowsOf(id)).toMatchObject([{ status: "SUCCEEDED", attempts: 1, claim: null }]);
    expect(await attemptsOf(id)).toMatchObject([{ number: 1, statusCode, error }]);
    expect((await attemptsOf(id))[0]?.response).toMatch(response);
    expect(wakes).toEqual([]);
  });

  it.each([
    ["status/500", 500, null, 5 * SECOND_MS],
    ["status/429?retry-after=7200", 429, null, 2 * HOUR_MS],
    ["status/503?retry-after=999999", 503, null, DAY_MS],
    ["redirect/302", 302, null, 5 * SECOND_MS],
    ["redirect/307", 307, null, 5 * SECOND_MS],
    ["close", null, "CONNECTION_FAILED", 5 * SECOND_MS],
    ["hang", null, "TIMEOUT", 5 * SECOND_MS],
  ] as const)(
    "whose receiver behaves as %s fails, and the delivery is retried later",
    async (behaviour, statusCode, error, afterMs) => {
      const { merchantId, id, key } = await endpoint(behaviour, behaviour === "hang" ? { timeoutMs: 3_000 } : {});
      await recordNews(testDb, merchantId);
      const nowMs = Date.now();
      const { deps, wakes } = worker({ nowMs: () => nowMs });
      await deliverTo(deps, id);
      const [row] = await rowsOf(id);
      const [attempt] = await attemptsOf(id);
      expect(row).toMatchObject({ status: "PENDING", attempts: 1, step: 1, claim: null });
      expect(attempt).toMatchObject({ number: 1, statusCode, error });
      expect([attempt?.atMs, row?.nextAttemptMs]).toEqual([nowMs, nowMs + afterMs]);
      expect(await hookOf(id)).toMatchObject({ failuresInRow: 1, failingSinceMs: expect.any(Number), isActive: true });
      expect(await receiver.log(key)).toHaveLength(1);
      expect(wakes.some((seconds) => seconds <= 5)).toBe(afterMs === 5 * SECOND_MS);
    },
  );

  it("that fails as the endpoint's last retry ends the delivery; attempts are numbered, and each is signed separately", async () => {
    const { merchantId, id, key, secret } = await endpoint("status/500", { retryCount: 3 });
    await recordNews(testDb, merchantId);
    for (let n = 0; n < 6; n++) {
      await deliverTo(worker({ laterMs: n * SECOND_MS }).deps, id);
      await makeDue(id);
    }
    expect(await rowsOf(id)).toMatchObject([{ status: "FAILED", attempts: 4, step: 4, claim: null }]);
    expect((await attemptsOf(id)).map((each) => each.number)).toEqual([1, 2, 3, 4]);
    const log = await receiver.log(key);
    expect(log.map(({ signedBy }) => signedBy)).toEqual(Array(4).fill([secret]));
    expect(new Set(log.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(4);
    expect(new Set(log.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });
});

describe("a delivery's destination", () => {
  const refused = { kind: "refused", why: "" } as const;
  const unknown = { kind: "unknown", why: "" } as const;

  it.each([
    ["http://10.0.0.1/hook", undefined, "URL_REFUSED"],
    ["https://hooks.internal/", undefined, "URL_REFUSED"],
    ["https://hooks.example.com/", refused, "URL_REFUSED"],
    ["https://hooks.example.com/", unknown, "RESOLVE_FAILED"],
  ] as const)("at %s (%o) is sent nothing, and one attempt fails with %s", async (url, resolution, error) => {
    const { merchantId, id } = await endpoint("ok", { url });
    await recordNews(testDb, merchantId, 3);
    const post = vi.fn<DeliverDependencies["post"]>();
    const resolve = vi.fn<DeliverDependencies["resolve"]>(async () => resolution ?? { kind: "public", addresses: [] });
    const { deps, wakes } = worker({ post, resolve });
    await deliverTo(deps, id);
    expect(post).not.toHaveBeenCalled();
    expect(resolve).toHaveBeenCalledTimes(resolution === undefined ? 0 : 1);
    expect(await attemptsOf(id)).toMatchObject([{ statusCode: null, error, latencyMs: 0, requestHeaders: "{}" }]);
    expect((await rowsOf(id)).map(({ attempts }) => attempts).toSorted()).toEqual([0, 0, 1]);
    expect(wakes).toContain(5);
  });

  it("is resolved before each round, unless it is on loopback", async () => {
    const { merchantId, id } = await endpoint("ok", { url: "https://hooks.example.com/" });
    await recordNews(testDb, merchantId, ROUND_SIZE + 1);
    const answer = { statusCode: 200, error: null, latencyMs: 1, response: "", retryAfter: null } as const;
    const resolve = vi.fn<DeliverDependencies["resolve"]>(async () => ({ kind: "public", addresses: ["192.0.2.1"] }));
    await deliverTo(worker({ resolve, post: async () => answer }).deps, id);
    expect(resolve.mock.calls).toEqual([["hooks.example.com"], ["hooks.example.com"]]);
    const onLoopback = await endpoint("ok");
    await recordNews(testDb, onLoopback.merchantId);
    await deliverTo(worker({ resolve }).deps, onLoopback.id);
    expect(resolve).toHaveBeenCalledTimes(2);
  });

  it("is sent nothing if its secrets cannot be decrypted; this uses up no attempt, and the delivery is tried again", async () => {
    const { merchantId, id, key, secret } = await endpoint("ok");
    await recordNews(testDb, merchantId);
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const other = { ...env, SECRETS_AES_KEY: "other:MjEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=" };
    await deliverMessages([{ body: { webhookId: id } }], other, () => undefined);
    expect(error.mock.calls.flat()).toEqual([expect.stringContaining(id)]);
    expect(await receiver.log(key)).toEqual([]);
    expect(await rowsOf(id)).toMatchObject([{ status: "PENDING", attempts: 0, step: 0 }]);
    await deliverTo(worker({ laterMs: leaseMs(TIMEOUT_MS) + 1 }).deps, id);
    expect(await receiver.log(key)).toMatchObject([{ signedBy: [secret] }]);
  });
});

describe("a lease", () => {
  const claimOf = (id: WebhookId, token: string, nowMs: number) => {
    const of = { webhookId: id, token: token.padEnd(26, "0"), nowMs };
    return batch(testDb, leaseBatch(testDb, of)).then(([, , claimed]) => claimed);
  };

  it("takes at most one round of deliveries, in commit order, and no other lease gets them until it expires", async () => {
    const { merchantId, id } = await endpoint("ok");
    const ids = await recordNews(testDb, merchantId, ROUND_SIZE + 5);
    const nowMs = Date.now();
    const first = await claimOf(id, "A", nowMs);
    expect(first.map(({ eventId }) => eventId)).toEqual(ids.slice(0, ROUND_SIZE));
    const second = await claimOf(id, "B", nowMs + 1);
    expect(second.map(({ eventId }) => eventId)).toEqual(ids.slice(ROUND_SIZE));
    const endMs = nowMs + leaseMs(TIMEOUT_MS);
    expect(await claimOf(id, "C", endMs - 1)).toEqual([]);
    expect(await claimOf(id, "D", endMs)).toHaveLength(ROUND_SIZE);
  });

  it("that is repeated takes nothing more, and returns the same deliveries", async () => {
    const { merchantId, id } = await endpoint("ok");
    await recordNews(testDb, merchantId, 2 * ROUND_SIZE);
    const nowMs = Date.now();
    const first = await claimOf(id, "A", nowMs);
    expect(await claimOf(id, "A", nowMs)).toEqual(first);
    expect((await rowsOf(id)).filter(({ claim }) => claim !== null)).toHaveLength(ROUND_SIZE);
  });

  it("takes nothing beyond the limit of deliveries in flight, and nothing for an endpoint that is off or unknown", async () => {
    const { merchantId, id } = await endpoint("ok");
    await recordNews(testDb, merchantId, MOST_IN_FLIGHT + ROUND_SIZE);
    const taken = [];
    for (const token of ["A", "B", "C", "D"]) taken.push((await claimOf(id, token, Date.now())).length);
    expect(taken).toEqual([20, 20, 20, 0]);
    await testDb.update(webhooks).set({ isActive: false }).where(eq(webhooks.id, id));
    expect(await claimOf(id, "E", Date.now() + HOUR_MS)).toEqual([]);
    await testDb.delete(webhooks).where(eq(webhooks.id, id));
    expect(await claimOf(id, "F", Date.now() + HOUR_MS)).toEqual([]);
  });

  it("that has ended records each success once, but no failures", async () => {
    const { merchantId, id } = await endpoint("ok");
    await recordNews(testDb, merchantId, 2);
    const nowMs = Date.now();
    const [late, other] = await claimOf(id, "A", nowMs);
    await claimOf(id, "B", nowMs + leaseMs(TIMEOUT_MS));
    if (late === undefined || other === undefined) throw new Error("nothing was claimed");
    const answered = (statusCode: number) => ({
      atMs: nowMs,
      endedMs: nowMs,
      requestHeaders: {},
      answer: { statusCode, error: null, latencyMs: 1, response: "", retryAfter: null },
    });
    const event = { id: late.eventId, merchantId, type: "ping", sequence: null, data: "{}", createdAtMs: 1 };
    const outcomes = [
      { kind: "SUCCESS", attempt: { delivery: { ...late, event }, ...answered(200) } },
      { kind: "FAILURE", attempt: { delivery: { ...other, event }, ...answered(500) }, nextMs: null },
    ] as const;
    for (let times = 0; times < 2; times++) await batch(testDb, recordOutcomes(testDb, outcomes, { nowMs }));
    const rows = await rowsOf(id);
    const found = (wanted: string) => rows.find((row) => row.id === wanted);
    expect(found(late.id)).toMatchObject({ status: "SUCCEEDED", attempts: 1, claim: null });
    expect(found(other.id)).toMatchObject({ status: "PENDING", attempts: 0, claim: expect.stringMatching(/^B/) });
    expect(await attemptsOf(id)).toMatchObject([{ deliveryId: late.id, number: 1, statusCode: 200 }]);
    // Redelivery by a user starts a new schedule, to which the old success does not apply.
    await testDb.update(deliveries).set({ status: "PENDING", step: 0, claim: null }).where(eq(deliveries.id, late.id));
    await batch(testDb, recordOutcomes(testDb, outcomes, { nowMs }));
    expect((await rowsOf(id)).map(({ status }) => status)).toEqual(["PENDING", "PENDING"]);
  });
});

describe("a queue message", () => {
  it.each([[undefined], [null], ["whk_1"], [{}], [{ webhookId: 7 }], [{ webhookId: "whk_nothing" }]])(
    "with the content %o is logged and dropped",
    async (body) => {
      const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
      await deliverMessages([{ body }], env, () => undefined);
      expect(error.mock.calls).toEqual([[expect.stringContaining("names no endpoint")]]);
    },
  );

  it("for an unknown endpoint, or one with nothing due, does nothing", async () => {
    const error = vi.spyOn(console, "error");
    const { id } = await endpoint("ok");
    const messages = [{ body: { webhookId: freshId("whk") } }, { body: { webhookId: id } }];
    await deliverMessages(messages, env, () => undefined);
    expect(error).not.toHaveBeenCalled();
  });

  it("never makes the handler fail, even if the database fails, and logs none of its content", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { merchantId, id, key, secret } = await endpoint("ok");
    await recordNews(testDb, merchantId);
    const batch = async () => {
      throw new Error("D1_ERROR: no such table: deliveries");
    };
    const broken = { ...env, DB: { prepare: (text: string) => env.DB.prepare(text), batch } as unknown as D1Database };
    await deliverMessages([{ body: { webhookId: id } }], broken, () => undefined);
    const said = JSON.stringify(error.mock.calls);
    expect(said).toContain(id);
    for (const word of [key, secret, "api_key.created", "status="]) expect(said).not.toContain(word);
  });

  it("that delivers something is followed by another for deliveries that are due soon, and by none if nothing is left", async () => {
    const { merchantId, id } = await endpoint("ok");
    await recordNews(testDb, merchantId, 2);
    const [, later] = await rowsOf(id);
    if (later === undefined) throw new Error("two were recorded");
    const nowMs = Date.now();
    const dueAt = (nextAttemptMs: number) =>
      testDb.update(deliveries).set({ nextAttemptMs }).where(eq(deliveries.id, later.id));
    await dueAt(nowMs + 4_500);
    const { deps, wakes } = worker({ nowMs: () => nowMs });
    await deliverTo(deps, id);
    expect(wakes).toEqual([5]);
    await deliverTo(deps, id);
    expect(wakes).toEqual([5]);
    await dueAt(nowMs);
    await deliverTo(deps, id);
    expect([wakes, (await rowsOf(id)).map(({ status }) => status)]).toEqual([[5], ["SUCCEEDED", "SUCCEEDED"]]);
  });

  it("makes at most 40 POSTs in one invocation, and sends another message for the rest", async () => {
    const { merchantId, id, key } = await endpoint("ok");
    await recordNews(testDb, merchantId, 50);
    const { deps, wakes } = worker();
    await deliverTo(deps, id);
    expect(await receiver.log(key)).toHaveLength(40);
    expect(wakes).toEqual([0]);
    await deliverTo(deps, id);
    expect(await receiver.log(key)).toHaveLength(50);
    expect(wakes).toEqual([0]);
  });
});

describe("the cron", () => {
  it("wakes each endpoint with due deliveries once, alternating between merchants, with the longest-waiting first", async () => {
    const nowMs = Date.now() + DAY_MS;
    const shop = freshId("mer");
    const busy = await Promise.all([0, 1, 2].map(() => endpoint("ok", { merchantId: shop })));
    const quiet = await endpoint("ok");
    const idle = await endpoint("ok");
    const shops = busy.map(({ id }) => id);
    for (const [n, { merchantId, id }] of busy.entries()) {
      if (n === 0) await recordNews(testDb, merchantId, 3);
      await testDb.update(deliveries).set({ nextAttemptMs: n }).where(eq(deliveries.webhookId, id));
    }
    await recordNews(testDb, quiet.merchantId, 2);
    await recordNews(testDb, idle.merchantId, 1);
    await testDb.update(deliveries).set({ nextAttemptMs: 10 }).where(eq(deliveries.webhookId, quiet.id));
    await testDb
      .update(deliveries)
      .set({ nextAttemptMs: nowMs + 1 })
      .where(eq(deliveries.webhookId, idle.id));
    const woken: string[] = [];
    await wakeDue({ db: testDb, nowMs, wakeAll: async (ids) => void woken.push(...ids) });
    expect(woken.filter((id) => [...shops, quiet.id, idle.id].some((each) => each === id))).toEqual([
      shops[0],
      quiet.id,
      shops[1],
      shops[2],
    ]);
  });
});
