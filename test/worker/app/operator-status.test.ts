// The status that operators see, through the Worker's entry.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, test } from "vitest";
import { HOUR_MS, isoTime, MINUTE_MS } from "../../../src/lib/time.ts";
import {
  SELECT_CURSORS,
  SELECT_DELIVERIES,
  SELECT_MAILS,
  SELECT_OLDEST_INVOICE,
  SELECT_RECEIPTS,
} from "../../../src/notifications/deployment-status/store.ts";
import { receipts } from "../../../src/platform/db/schema/checkouts.ts";
import { jobRuns } from "../../../src/platform/db/schema/job-runs.ts";
import { networkCursors, stuckAddresses } from "../../../src/platform/db/schema/network-cursors.ts";
import { notices } from "../../../src/platform/db/schema/notices.ts";
import { deliveries, webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { deploymentWith, expectRefusal } from "../../support/access.ts";
import { seedUser } from "../../support/people.ts";
import { planOf } from "../../support/query-plan.ts";
import { watchMethod } from "../../support/watched.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "https://node.example" }] });
const ask = deploymentWith({ CHAIN_SOURCES });

async function status(changes?: Partial<Env>) {
  const { headers } = await seedUser({ operatorSinceMs: Date.now() });
  const answer = await (changes === undefined ? ask : deploymentWith({ CHAIN_SOURCES, ...changes }))(
    "/api/v1/operator/status",
    { headers },
  );
  expect(answer.status).toBe(200);
  expect(answer.text).not.toContain("node.example");
  return answer.json ?? {};
}

beforeEach(async () => {
  for (const table of [networkCursors, stuckAddresses, jobRuns, deliveries, webhooks, receipts, notices])
    await testDb.delete(table);
});

test("the operator status is healthy for a deployment with nothing to do", async () => {
  expect(await status()).toEqual({
    status: "OK",
    checkedAt: expect.stringMatching(/Z$/),
    reasons: [],
    networks: [
      {
        network: "ETH",
        cursorHeight: null,
        tipHeight: null,
        lagSeconds: null,
        isWaitedOn: false,
        quarantinedAddresses: 0,
        degradedSince: null,
        pausedAt: null,
      },
    ],
    cron: { lastRunAt: null },
    database: { bytes: expect.any(Number), limitBytes: 10_000_000_000 },
    invoices: { oldestDueAt: null, unsettled: 0 },
    deliveries: { due: 0, oldestDueAt: null },
    receipts: { due: 0, oldestDueAt: null },
    mails: { due: 0, oldestDueAt: null },
    alerts: { state: "UNPROVED", testAcceptedAt: null, provedAt: null, dismissedAt: null },
  });
});

test("the operator status shows how far networks were read, that the cron stopped, and the size of the database", async () => {
  const nowMs = Date.now();
  await watchMethod(testDb, { network: "ETH", cryptocurrency: "ETH", address: "0x1", nowMs: nowMs - HOUR_MS });
  await testDb.update(networkCursors).set({ height: 7, tipHeight: 9, tickedAtMs: nowMs });
  const stopped = { job: "wake-watchers", runId: "r", leasedUntilMs: 0, beganAtMs: nowMs - 6 * MINUTE_MS };
  await testDb.insert(jobRuns).values([stopped, { ...stopped, job: "expire", beganAtMs: nowMs }]);
  const found = await status({ DATABASE_LIMIT_GB: "0.00001" });
  expect(found).toMatchObject({
    status: "FAILING",
    reasons: [
      { code: "CRON_STOPPED", network: null, since: isoTime(stopped.beganAtMs) },
      {
        code: "CURSOR_STALE",
        network: "ETH",
        since: isoTime(nowMs - HOUR_MS),
        detail: expect.stringContaining("7 of 9"),
      },
      { code: "DATABASE_NEARLY_FULL", network: null, since: null },
    ],
    networks: [{ network: "ETH", cursorHeight: 7, tipHeight: 9, isWaitedOn: true }],
    cron: { lastRunAt: isoTime(stopped.beganAtMs) },
  });
  const { database } = found as { database: { bytes: number } };
  expect(database.bytes).toBeGreaterThan(100_000);
});

test("the operator status shows work that is due, but none that is scheduled, done or cancelled", async () => {
  const nowMs = Date.now();
  const due = (minutes: number) => nowMs - minutes * MINUTE_MS;
  const hook = (isActive: boolean) => ({
    id: freshId("whk"),
    merchantId: freshId("mer"),
    url: "https://a.example",
    events: "[]",
    isActive,
    retryCount: 0,
    timeoutMs: 1,
    failuresInRow: 0,
    createdAtMs: 0,
    updatedAtMs: 0,
  });
  const [on, other, off] = [hook(true), hook(true), hook(false)];
  await testDb.insert(webhooks).values([on, other, off]);
  const delivery = (of: typeof on, nextAttemptMs: number, state: "PENDING" | "SUCCEEDED" = "PENDING") => ({
    id: freshId("dlv"),
    merchantId: of.merchantId,
    webhookId: of.id,
    eventId: freshId("evt"),
    eventType: "x",
    status: state,
    attempts: 0,
    step: 0,
    nextAttemptMs,
    wakes: true,
    createdAtMs: 0,
    updatedAtMs: 0,
  });
  await testDb
    .insert(deliveries)
    .values([delivery(on, due(3)), delivery(on, due(-3)), delivery(other, due(5)), delivery(other, due(4))]);
  await testDb.insert(deliveries).values([delivery(off, due(90)), delivery(on, due(90), "SUCCEEDED")]);
  const receipt = (nextAttemptMs: number | null) => ({
    invoiceId: freshId("inv"),
    recipient: "CUSTOMER" as const,
    merchantId: freshId("mer"),
    attempts: 0,
    nextAttemptMs,
    sentAtMs: null,
    createdAtMs: 0,
  });
  await testDb.insert(receipts).values([receipt(due(2)), receipt(due(7)), receipt(null), receipt(due(-1))]);
  await testDb.insert(notices).values({
    kind: "WALLET_ENABLED",
    thing: "w",
    actor: "",
    isLinked: false,
    merchantId: freshId("mer"),
    sentAtMs: 0,
    waiting: 1,
    dueAtMs: due(8),
  });
  const late = { network: "ETH", cryptocurrency: "ETH", address: "0x2", nowMs: due(60) };
  await watchMethod(testDb, { ...late, expiresAtMs: due(9) });
  await watchMethod(testDb, { ...late, expiresAtMs: due(30), status: "EXPIRED" });
  expect(await status()).toMatchObject({
    invoices: { oldestDueAt: isoTime(due(9)), unsettled: 0 },
    deliveries: { due: 3, oldestDueAt: isoTime(due(5)) },
    receipts: { due: 2, oldestDueAt: isoTime(due(7)) },
    mails: { due: 1, oldestDueAt: isoTime(due(8)) },
  });
});

it("the operator status is answered with 503 if storage does not answer", async () => {
  const { headers } = await seedUser({ operatorSinceMs: Date.now() });
  let calls = 0;
  const DB = new Proxy(env.DB, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== "batch") return typeof value === "function" ? value.bind(target) : value;
      // The first call authenticates the caller.
      return (statements: D1PreparedStatement[]) =>
        calls++ === 0 ? target.batch(statements) : Promise.reject(new Error("D1_ERROR: D1 DB is overloaded."));
    },
  });
  expectRefusal(await deploymentWith({ DB })("/api/v1/operator/status", { headers }), 503, "STORAGE_UNAVAILABLE");
});

describe("an index finds without a scan:", () => {
  it.each([
    ["quarantined addresses", SELECT_CURSORS, [/stuck USING INDEX/]],
    ["the oldest invoice that is due", SELECT_OLDEST_INVOICE, [/invoices USING INDEX invoices_due \(expires_at_ms</]],
    ["due deliveries", SELECT_DELIVERIES, [/hook USING INDEX/, /due USING .*INDEX deliveries_due \(webhook_id=/]],
    ["due receipts", SELECT_RECEIPTS, [/due USING .*INDEX receipts_due \(merchant_id=/]],
    ["due emails", SELECT_MAILS, [/INDEX notices_due \(due_at_ms/, /INDEX invitations_mail_due \(mail_due_at_ms/]],
  ])("%s", async (_, sql, steps) => {
    const params = sql.includes("?1") ? [1] : [];
    const plan = await planOf({ toSQL: () => ({ sql, params }) });
    for (const step of steps) expect(plan).toMatch(step);
    // SQLite also reports a scan when a loop starts at the first entry of an index.
    const scans = plan.split("\n").filter((line) => /^SCAN (?!cursor|step|asked|\(|CONSTANT|\d)/.test(line));
    expect(scans.filter((line) => !line.includes("COVERING INDEX"))).toEqual([]);
  });
});
