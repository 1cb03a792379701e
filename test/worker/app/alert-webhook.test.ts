// Alerts by webhook, posted to a real receiver: which messages it gets, how often, and that neither channel depends on the other.
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { alertDependencies } from "../../../src/app/health/dependencies.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { type AlertDependencies, sendAlerts } from "../../../src/notifications/operator-alerts/send-alerts.ts";
import { webhookSecret } from "../../../src/notifications/webhooks/secret.ts";
import { jobRuns } from "../../../src/platform/db/schema/job-runs.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { operatorAlerts } from "../../../src/platform/db/schema/operator-alerts.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { mailsTo } from "../../support/browser.ts";
import { seedUser } from "../../support/people.ts";
import { takeMessage } from "../../support/queue-messages.ts";
import { receiverAt } from "../../support/receiver-control.ts";
import { testDb } from "../../support/worker-merchant.ts";

const receiver = receiverAt(inject("receiverOrigin"));
const FULL = { DATABASE_LIMIT_GB: "0.00001" };
const SECRET = webhookSecret(new Uint8Array(32).fill(7));
const CAUSE = "DATABASE_NEARLY_FULL";

beforeEach(async () => {
  for (const table of [networkCursors, jobRuns, operatorAlerts]) await testDb.delete(table);
  await testDb.update(users).set({ operatorSinceMs: null });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A deployment whose alerts are also posted to a receiver with this behaviour. */
async function deployment(behaviour: string) {
  const key = crypto.randomUUID();
  const { email } = await seedUser({ operatorSinceMs: 1 });
  await receiver.trust(key, SECRET);
  const settings = { ALERT_WEBHOOK_URL: receiver.url(behaviour, key), ALERT_WEBHOOK_SECRET: SECRET };
  /** Runs the job once; resolves when its background work is done. */
  const run = (changes: Partial<Env> = {}) =>
    takeMessage({ job: "watch-deployment", minuteMs: 0, runs: 0 }, { ...settings, ...changes });
  /** Runs the operation `laterMs` from now, with some of its dependencies replaced. */
  const send = async (changes: Partial<AlertDependencies>, laterMs = 0) => {
    const context = createExecutionContext();
    const background = (work: Promise<unknown>) => context.waitUntil(work);
    const nowMs = Date.now() + laterMs;
    const own = alertDependencies({ ...env, ...settings, ...FULL }, { db: testDb, nowMs, background });
    await sendAlerts({ ...own, ...changes });
    await waitOnExecutionContext(context);
  };
  const bodies = async () => (await receiver.log(key)).map(({ body }) => JSON.parse(body));
  return { key, email, run, send, bodies };
}

test("the receiver gets each alert once, signed, along with the emails: when a cause starts, and when it is over", async () => {
  const { key, email, run, bodies } = await deployment("ok");
  await run();
  expect(await bodies()).toEqual([]);
  await run(FULL);
  await run(FULL);
  await run();
  await run();
  const received = await receiver.log(key);
  const [began, over, ...more] = await bodies();
  expect(more).toEqual([]);
  expect(began).toEqual({
    id: received[0]?.headers["webhook-id"],
    type: "deployment.alert",
    timestamp: expect.stringMatching(/Z$/),
    text: expect.stringMatching(
      /^Needs an operator: DATABASE_NEARLY_FULL\nDATABASE_NEARLY_FULL: the database is at .*\nhttp:\/\/localhost:8787\/healthz$/,
    ),
    data: {
      deployment: "http://localhost:8787",
      status: "FAILING",
      failing: [{ cause: CAUSE, detail: expect.any(String), since: began.timestamp, endedAt: null }],
      over: [],
    },
  });
  expect(over).toMatchObject({
    text: expect.stringMatching(/^Over: DATABASE_NEARLY_FULL\n/),
    data: { status: "OK", failing: [], over: [{ cause: CAUSE, since: began.timestamp, endedAt: over.timestamp }] },
  });
  expect(over.id).not.toBe(began.id);
  expect(received.map(({ signedBy }) => signedBy)).toEqual([[SECRET], [SECRET]]);
  expect((await mailsTo(email)).map(({ subject }) => subject)).toEqual([
    "Over: DATABASE_NEARLY_FULL",
    "Needs an operator: DATABASE_NEARLY_FULL",
  ]);
});

test("an alert that the receiver does not accept is sent again with the same id, like an email, up to three times in all", async () => {
  const late = await deployment("fail-first/2");
  await late.run(FULL);
  const received = await receiver.log(late.key);
  expect(received).toHaveLength(3);
  expect(new Set(received.map(({ headers, body }) => `${headers["webhook-id"]} ${body}`)).size).toBe(1);
  await testDb.delete(operatorAlerts);
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const lost = await deployment("status/500");
  await lost.run(FULL);
  expect(await receiver.log(lost.key)).toHaveLength(3);
  expect(logged.mock.calls.map(([line]) => JSON.parse(String(line)))).toEqual([
    {
      level: "error",
      alert: "an alert by webhook was lost",
      reason: "the receiver answered with status 500",
      tries: 3,
    },
  ]);
  expect(await mailsTo(lost.email)).toHaveLength(1);
});

test("an alert that the receiver refused is not emailed a second time, and the receiver gets the next alert after an hour", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { key, email, send, bodies } = await deployment("told");
  await receiver.tell(key, "status/404");
  await send({});
  await receiver.tell(key, "ok");
  await send({}, 59 * MINUTE_MS);
  // A 404 will not change within seconds, so the request is not repeated.
  expect([(await bodies()).length, (await mailsTo(email)).length]).toEqual([1, 1]);
  await send({}, HOUR_MS + MINUTE_MS);
  expect([(await bodies()).length, (await mailsTo(email)).length]).toEqual([2, 2]);
});

test("alerts are posted if emails fail, and if mail is not configured", async () => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const failing = await deployment("ok");
  await failing.send({ mailer: { post: () => Promise.reject(new Error("no mailbox")) } });
  expect(await failing.bodies()).toHaveLength(1);
  expect(logged).toHaveBeenCalledWith(expect.stringContaining("mails about the deployment could not be sent"));
  await testDb.delete(operatorAlerts);
  const without = await deployment("ok");
  await without.send({ mailer: undefined });
  await without.send({ mailer: undefined });
  expect(await without.bodies()).toHaveLength(1);
});

test("a wrong ALERT_WEBHOOK_URL loses alerts by webhook but stops no email, and the log does not show the URL", async () => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const { email, run } = await deployment("ok");
  await run({ ...FULL, ALERT_WEBHOOK_URL: "https://10.0.0.1/hunter2" });
  expect(await mailsTo(email)).toHaveLength(1);
  expect(logged.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
    { alert: "an alert by webhook was lost", reason: "ALERT_WEBHOOK_URL: the host is an IP address" },
  ]);
  expect(JSON.stringify(logged.mock.calls)).not.toContain("hunter2");
});
