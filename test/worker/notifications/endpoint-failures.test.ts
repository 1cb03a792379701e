import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, inject, it, vi } from "vitest";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { type DeliverDependencies, deliverTo } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import { POSTS_AT_ONCE, ROUND_SIZE } from "../../../src/notifications/deliveries/round.ts";
import { wakeDue } from "../../../src/notifications/deliveries/wake-due.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { recordNews } from "../../support/endpoints.ts";
import { seedMember, seedUser } from "../../support/people.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import {
  attemptsOf,
  endpoint,
  hookOf,
  receiver,
  rowsOf,
  SOON_MS,
  useRealClock,
  wakingDb,
  worker,
} from "./deliveries-harness.ts";

useRealClock();

describe("an endpoint that hangs", () => {
  it("causes only the deliveries that were sent to it at once to fail; the round's other deliveries stay unchanged", async () => {
    const { merchantId, id, key } = await endpoint("hang", { timeoutMs: 3_000 });
    await recordNews(testDb, merchantId, ROUND_SIZE);
    const before = await rowsOf(id);
    const { deps, wakes } = worker();
    await deliverTo(deps, id);
    await vi.waitFor(async () => expect(await receiver.log(key)).toHaveLength(POSTS_AT_ONCE), SOON_MS);
    const after = await rowsOf(id);
    const untried = after.filter(({ attempts }) => attempts === 0);
    expect(untried).toHaveLength(ROUND_SIZE - POSTS_AT_ONCE);
    for (const row of untried) expect(before).toContainEqual(row);
    expect(after.filter(({ attempts }) => attempts === 1)).toHaveLength(POSTS_AT_ONCE);
    expect(wakes).toContain(5);
    expect(await hookOf(id)).toMatchObject({ failuresInRow: 1 });
  });

  it("forever does not delay a thousand deliveries to other endpoints, of its merchant and of another", async () => {
    const { merchantId, id, key } = await endpoint("hang", { timeoutMs: 30_000 });
    await recordNews(wakingDb, merchantId, 50);
    await vi.waitFor(async () => expect(await receiver.log(key)).not.toEqual([]), SOON_MS);
    const strangers = (await freshMerchant()).merchantId;
    const neighbours = await Promise.all(
      Array.from({ length: 10 }, (_, n) => endpoint("ok", { merchantId: n < 5 ? merchantId : strangers })),
    );
    for (const shop of [merchantId, strangers]) await recordNews(wakingDb, shop, 100);
    const counts = async () => Promise.all(neighbours.map(async (each) => (await receiver.log(each.key)).length));
    await vi.waitFor(async () => expect(await counts()).toEqual(neighbours.map(() => 100)), {
      timeout: 110_000,
      interval: 250,
    });
    // The endpoint still hangs, so no attempt has ended.
    const log = await receiver.log(key);
    expect(log.map(({ end }) => end)).toEqual(log.map(() => "OPEN"));
    expect(await attemptsOf(id)).toEqual([]);
  });
});

describe("an endpoint that fails many times in a row", () => {
  const many = { failuresInRow: 20, failingSinceMs: Date.now() - HOUR_MS, probeAtMs: Date.now() - 1 };

  it("is probed from the twentieth failure on, with one delivery every quarter of an hour", async () => {
    const { merchantId, id, key } = await endpoint("status/500", { ...many, failuresInRow: 19, probeAtMs: null });
    await recordNews(testDb, merchantId, 50);
    for (let n = 0; n < 3; n++) await deliverTo(worker().deps, id);
    const { probeAtMs, failuresInRow } = await hookOf(id);
    expect(failuresInRow).toBe(20);
    expect(Math.abs((probeAtMs ?? 0) - Date.now() - 15 * MINUTE_MS)).toBeLessThan(SOON_MS);
    expect(await receiver.log(key)).toHaveLength(ROUND_SIZE);
    const probes = [1, 2, 3].map(() => deliverTo(worker({ laterMs: 15 * MINUTE_MS + SECOND_MS }).deps, id));
    await Promise.all(probes);
    expect(await receiver.log(key)).toHaveLength(ROUND_SIZE + 1);
    expect(await hookOf(id)).toMatchObject({ failuresInRow: 21 });
  });

  it("gets all pending deliveries once a probe has succeeded", async () => {
    const { merchantId, id, key } = await endpoint("ok", many);
    await recordNews(testDb, merchantId, 10);
    await deliverTo(worker().deps, id);
    expect(await receiver.log(key)).toHaveLength(10);
    expect(await hookOf(id)).toMatchObject({ failuresInRow: 0, failingSinceMs: null, probeAtMs: null });
  });

  it("is not woken before its probe is due", async () => {
    const { merchantId, id } = await endpoint("ok", { ...many, probeAtMs: Date.now() + MINUTE_MS });
    await recordNews(testDb, merchantId);
    const woken = async (nowMs: number) => {
      const ids: string[] = [];
      await wakeDue({ db: testDb, nowMs, wakeAll: async (found) => void ids.push(...found) });
      return ids;
    };
    expect(await woken(Date.now())).not.toContain(id);
    expect(await woken(Date.now() + MINUTE_MS)).toContain(id);
  });

  it.each([
    ["stays on before five days are over", { ...many, failingSinceMs: Date.now() - 5 * DAY_MS + HOUR_MS }, true],
    ["is switched off after five days", { ...many, failingSinceMs: Date.now() - 5 * DAY_MS }, false],
    [
      "stays on after five days with fewer failures",
      { failuresInRow: 5, failingSinceMs: Date.now() - 9 * DAY_MS },
      true,
    ],
  ])("%s", async (_, health, isActive) => {
    const { merchantId, id } = await endpoint("status/500", health);
    await recordNews(testDb, merchantId);
    await deliverTo(worker().deps, id);
    const disabledReason = isActive ? null : "FAILING";
    expect(await hookOf(id)).toMatchObject({ isActive, disabledReason });
  });

  it("stays on if a success was recorded after the worker had read its health", async () => {
    const sinceMs = Date.now() - 6 * DAY_MS;
    const { merchantId, id } = await endpoint("status/500", { ...many, failingSinceMs: sinceMs });
    await recordNews(testDb, merchantId);
    const { deps } = worker();
    const post: DeliverDependencies["post"] = async (request) => {
      await testDb
        .update(webhooks)
        .set({ failuresInRow: 0, failingSinceMs: null, probeAtMs: null })
        .where(eq(webhooks.id, id));
      return deps.post(request);
    };
    await deliverTo({ ...deps, post }, id);
    expect(await hookOf(id)).toMatchObject({ isActive: true, failuresInRow: 0, failingSinceMs: null });
  });
});

describe("an endpoint that answers 410", () => {
  /** A team of an owner and an admin, who get emails, and a viewer, who does not. */
  async function team(merchantId: MerchantId) {
    const people = { owner: await seedUser(), admin: await seedUser(), viewer: await seedUser() };
    await seedMember(merchantId, people.owner.userId, "OWNER");
    await seedMember(merchantId, people.admin.userId, "ADMIN");
    await seedMember(merchantId, people.viewer.userId, "VIEWER");
    return people;
  }

  it("is switched off at once, with one event and one email to each owner and admin", async () => {
    const { merchantId, id, key } = await endpoint("status/410");
    const other = await endpoint("ok", { merchantId });
    const { owner, admin, viewer } = await team(merchantId);
    await recordNews(testDb, merchantId, 2 * ROUND_SIZE);
    await Promise.all([deliverTo(worker().deps, id), deliverTo(worker().deps, id)]);
    expect(await hookOf(id)).toMatchObject({
      isActive: false,
      disabledReason: "GONE",
      disabledAtMs: expect.any(Number),
    });
    const disabled = await testDb
      .select()
      .from(events)
      .where(and(eq(events.merchantId, merchantId), eq(events.type, "webhook.endpoint_disabled")));
    expect(disabled).toHaveLength(1);
    const url = `${inject("receiverOrigin")}/status/410`;
    const data = JSON.parse(disabled[0]?.data ?? "");
    expect(data).toMatchObject({ webhookId: id, url, reason: "GONE", failingSince: expect.stringMatching(/Z$/) });
    const entries = await testDb.select().from(auditEvents).where(eq(auditEvents.merchantId, merchantId));
    expect(entries).toMatchObject([{ action: "webhook.updated", target: id, actorKind: "SYSTEM", actorId: null }]);
    // The other endpoint gets the event after two rounds of earlier deliveries.
    for (let times = 0; times < 2; times++) await deliverTo(worker().deps, other.id);
    const types = (await receiver.log(other.key)).map(({ body }) => JSON.parse(body).type);
    expect(types.filter((type) => type === "webhook.endpoint_disabled")).toHaveLength(1);
    for (const steward of [owner, admin]) {
      const mails = await env.DEV_MAILBOX.getByName("mailbox").list(steward.email);
      expect(mails).toMatchObject([{ subject: "A webhook endpoint of Shop was switched off" }]);
      expect(mails[0]?.text).toContain(url);
      expect(mails[0]?.text).not.toContain(key);
    }
    expect(await env.DEV_MAILBOX.getByName("mailbox").list(viewer.email)).toEqual([]);
  });

  it("keeps its pending deliveries unchanged, and gets them when it is switched on again", async () => {
    const { merchantId, id, key } = await endpoint("told");
    await receiver.tell(key, "status/410");
    await recordNews(testDb, merchantId, 30);
    await deliverTo(worker().deps, id);
    const received = (await receiver.log(key)).length;
    expect(received).toBeLessThanOrEqual(POSTS_AT_ONCE);
    const owed = await rowsOf(id);
    expect(owed.every(({ status }) => status === "PENDING")).toBe(true);
    await deliverTo(worker({ laterMs: DAY_MS }).deps, id);
    const woken: string[] = [];
    await wakeDue({ db: testDb, nowMs: Date.now() + DAY_MS, wakeAll: async (ids) => void woken.push(...ids) });
    expect(woken).not.toContain(id);
    expect(await receiver.log(key)).toHaveLength(received);
    expect(await rowsOf(id)).toEqual(owed);
    await receiver.tell(key, "ok");
    const on = { isActive: true, failuresInRow: 0, failingSinceMs: null, probeAtMs: null, disabledReason: null };
    await testDb.update(webhooks).set(on).where(eq(webhooks.id, id));
    await deliverTo(worker({ laterMs: MINUTE_MS }).deps, id);
    expect((await rowsOf(id)).every(({ status }) => status === "SUCCEEDED")).toBe(true);
  });
});
