// The cron dispatches jobs and the queue runs them: a job with work left sends itself another message, and ends.
import { createExecutionContext, createMessageBatch } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";
import type { JobMessage } from "../../../src/app/jobs.ts";
import worker from "../../../src/app/worker.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

/** Takes one message of the queue, and returns those that it sends. */
async function take(body: unknown): Promise<unknown[]> {
  const sent: unknown[] = [];
  const answer = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
  const send = async (message: unknown) => {
    sent.push(message);
    return answer;
  };
  const message = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body };
  const queue = { send } as Partial<Env["JOB_QUEUE"]> as Env["JOB_QUEUE"];
  const batch = createMessageBatch("edgetill-jobs", [message]);
  await worker.queue(batch, { ...env, JOB_QUEUE: queue }, createExecutionContext());
  return sent;
}

const expire = (runs: number): JobMessage => ({ job: "expire", minuteMs: Date.now(), runs });

/** Creates expired invoices that are still active; returns their merchant. */
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
  it("sends itself the next message until nothing is left", async () => {
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

  it("ends its chain after 1,000 runs, and the cron starts a new one", async () => {
    await plantDue(200);
    expect(await take(expire(999))).toEqual([]);
    const sent: unknown[] = [];
    await runJobs(sent);
    expect(await testDb.$count(invoices, sql`status = 'AWAITING_PAYMENT' and expires_at_ms < ${Date.now()}`)).toBe(0);
  });
});

describe("an unknown queue message", () => {
  it.each([
    ["from another version", { job: "gone", minuteMs: 1, runs: 0 }],
    ["without its minute", { job: "expire", runs: 0 }],
    ["named like a prototype member", { job: "constructor", minuteMs: 1, runs: 0 }],
    ["that is not an object", "expire"],
    ["that is null", null],
  ])("%s is reported and dropped", async (_, body) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      expect(await take(body)).toEqual([]);
      expect(log.mock.calls.map(([line]) => JSON.parse(String(line)).alert)).toEqual([
        "a message of the queue that names no job",
      ]);
    } finally {
      log.mockRestore();
    }
  });
});
