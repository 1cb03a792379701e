// The cron sends a message for each job, and the queue's consumer runs it. A job that has work left sends itself another message, and ends.
import { eq, sql } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";
import { isDue, JOB_NAMES, type JobMessage, jobsOf } from "../../../src/app/jobs.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { recordNews } from "../../support/endpoints.ts";
import { takeMessage } from "../../support/queue-messages.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import { endpoint, rowsOf } from "../notifications/deliveries-harness.ts";

/** Handles one message of the queue; returns the messages that it sends. */
async function take(body: unknown, queueName?: string): Promise<unknown[]> {
  const sent: unknown[] = [];
  const answer = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
  const send = async (message: unknown) => {
    sent.push(message);
    return answer;
  };
  const queue = { send } as Partial<Env["JOB_QUEUE"]> as Env["JOB_QUEUE"];
  await takeMessage(body, { JOB_QUEUE: queue }, queueName);
  return sent;
}

const expire = (runs: number): JobMessage => ({ job: "expire", minuteMs: Date.now(), runs });

/** Creates active invoices that are past their expiry; returns the id of their merchant. */
async function plantDue(count: number): Promise<string> {
  const shop = await freshMerchant();
  const { body } = await shop.post("/invoices", { name: "Order", rawAmount: 10 });
  await copyInvoice(body.id, count - 1);
  await testDb
    .update(invoices)
    .set({ expiresAtMs: Date.now() - 60_000 })
    .where(eq(invoices.merchantId, shop.merchantId));
  return shop.merchantId;
}

const activeOf = (merchantId: string) =>
  testDb.$count(invoices, sql`merchant_id = ${merchantId} and status = 'AWAITING_PAYMENT'`);

describe("a job that stops at its limit", () => {
  it("sends itself another message until no work is left", async () => {
    const merchantId = await plantDue(400);
    let messages: unknown[] = [expire(0)];
    const left: number[] = [];
    for (let n = 0; messages.length > 0 && n < 10; n++) {
      const [message] = messages;
      messages = await take(message);
      left.push(await activeOf(merchantId));
      if (messages.length > 0) expect(messages).toEqual([{ ...expire(n + 1), minuteMs: expect.any(Number) }]);
    }
    expect(left.at(-1)).toBe(0);
    expect(left.length).toBeGreaterThan(2);
    expect(messages).toEqual([]);
  });

  it("sends itself no message after its 1,000th run, and the cron starts it again", async () => {
    await plantDue(200);
    expect(await take(expire(999))).toEqual([]);
    const sent: unknown[] = [];
    await runJobs(sent);
    expect(await testDb.$count(invoices, sql`status = 'AWAITING_PAYMENT' and expires_at_ms < ${Date.now()}`)).toBe(0);
  });
});

describe("the cron of an idle deployment", () => {
  const MINUTE_MS = 60_000;
  const startMs = Date.UTC(2026, 10, 26, 3, 7);
  const duesOf = (everyMs: number, crons: number) =>
    Array.from({ length: crons }, (_, n) => JOB_NAMES.filter((job) => isDue(job, startMs + n * everyMs, everyMs)));

  it("starts each job within an hour, and urgent jobs every minute", () => {
    const hour = duesOf(MINUTE_MS, 60).flat();
    for (const job of JOB_NAMES) expect(hour, job).toContain(job);
    for (const job of ["expire", "price", "wake-watchers", "wake-endpoints", "receipts", "watch-deployment", "restore"])
      expect(hour.filter((each) => each === job).length, job).toBe(60);
  });

  it("needs fewer queue operations than the million included each month", () => {
    const idle = new Set(jobsOf({}));
    const day = duesOf(MINUTE_MS, 24 * 60).flat();
    expect(day.filter((job) => idle.has(job)).length * 30 * 3).toBeLessThan(1_000_000);
  });

  it("starts each job within five minutes in development, where a cron runs every 5 s", () => {
    expect(duesOf(5_000, 60)).toHaveLength(60);
    for (const job of JOB_NAMES) expect(duesOf(5_000, 60).flat(), job).toContain(job);
  });
});

describe("a queue with the name", () => {
  it.each(["edgetill-jobs", "shop-jobs", "edgetill-webhooks", "mail", "x"])(
    "%s carries jobs and deliveries",
    async (name) => {
      const merchantId = await plantDue(1);
      expect(await take(expire(0), name)).toEqual([]);
      expect(await activeOf(merchantId)).toBe(0);
      const shop = await endpoint("ok");
      await recordNews(testDb, shop.merchantId);
      await takeMessage({ webhookId: shop.id }, {}, name);
      expect((await rowsOf(shop.id)).map(({ status }) => status)).toEqual(["SUCCEEDED"]);
    },
  );
});

const NO_JOB = "a message of the queue that names no job";
const NO_ENDPOINT = "a queue message names no endpoint";

describe("an unknown queue message", () => {
  it.each([
    ["from another version", { job: "gone", minuteMs: 1, runs: 0 }, NO_JOB],
    ["without its minute", { job: "expire", runs: 0 }, NO_JOB],
    ["named like a prototype member", { job: "constructor", minuteMs: 1, runs: 0 }, NO_JOB],
    ["of another kind", { mailId: "mail_1" }, NO_ENDPOINT],
    ["that is not an object", "expire", NO_ENDPOINT],
    ["that is null", null, NO_ENDPOINT],
  ])("%s is reported and dropped", async (_, body, alert) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      expect(await take(body)).toEqual([]);
      expect(log.mock.calls.map(([line]) => JSON.parse(String(line)).alert)).toEqual([alert]);
    } finally {
      log.mockRestore();
    }
  });
});
