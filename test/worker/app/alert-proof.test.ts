// A deployment warns that its alerts were never proved until an operator confirms that a test alert arrived, or dismisses the warning.
import { and, desc, eq } from "drizzle-orm";
import { afterAll, beforeEach, expect, inject, test } from "vitest";
import { alertProofBody } from "../../../src/notifications/deployment-status/contract.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { alertProof } from "../../../src/platform/db/schema/operator-alerts.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { deploymentWith, expectRefusal } from "../../support/access.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedUser, type TestUser } from "../../support/people.ts";
import { doSetUp, FRESH, production, undoSetUp } from "../../support/production.ts";
import { receiverAt } from "../../support/receiver-control.ts";
import { testDb } from "../../support/worker-merchant.ts";

const receiver = receiverAt(inject("receiverOrigin"));
const WARNING = "ALERTS_UNPROVED";
let ann: TestUser;

beforeEach(async () => {
  await testDb.delete(alertProof);
  await testDb.update(users).set({ operatorSinceMs: null });
  await doSetUp();
  ann = await seedUser({ operatorSinceMs: 1 });
});
afterAll(undoSetUp);

const ask = (path: string, body?: object, changes: Partial<Env> = {}) =>
  deploymentWith(changes)(`/api/v1/operator/${path}`, {
    headers: ann.headers,
    ...(body === undefined ? {} : { method: "POST", body }),
  });
const sendTest = (changes: Partial<Env> = {}) =>
  deploymentWith(changes)("/api/v1/operator/alerts/test", { method: "POST", headers: ann.headers });
const say = (outcome: string, changes: Partial<Env> = {}) => ask("alerts/proof", { outcome }, changes);
/** What operators and monitors are shown. */
async function shown(changes: Partial<Env> = {}) {
  const health = await deploymentWith(changes)("/healthz");
  const warnings: unknown = health.json?.warnings;
  return {
    alerts: (await ask("status", undefined, changes)).json?.alerts,
    warns: Array.isArray(warnings) && warnings.includes(WARNING),
  };
}
const actionsOf = async ({ userId }: TestUser) =>
  (
    await testDb
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.actorId, userId), eq(auditEvents.target, "alerts")))
      .orderBy(desc(auditEvents.id))
  ).map(({ action }) => action);

test("a deployment that was set up warns until an operator confirms that an accepted test alert arrived", async () => {
  const never = { state: "UNPROVED", testAcceptedAt: null, provedAt: null, dismissedAt: null };
  expect(await shown()).toEqual({ alerts: never, warns: true });
  expectRefusal(await say("ARRIVED"), 409, "TEST_ALERT_MISSING");
  expect((await sendTest()).status).toBe(200);
  const tested = { ...never, testAcceptedAt: expect.any(String) };
  expect(await shown()).toEqual({ alerts: tested, warns: true });
  const proved = await say("ARRIVED");
  expect(proved.status, proved.text).toBe(200);
  expectDocumented(alertProofBody, proved.json);
  expect(proved.json).toEqual({ ...tested, state: "PROVED", provedAt: expect.any(String) });
  expect(await shown()).toEqual({ alerts: proved.json, warns: false });
  expect((await say("ARRIVED")).json).toEqual(proved.json);
  expect((await say("DISMISSED")).json).toEqual(proved.json);
  expect(await actionsOf(ann)).toEqual(["alerts.proved"]);
});

test("a test alert that only the receiver accepted can be confirmed, and one that nobody accepted cannot", async () => {
  const key = crypto.randomUUID();
  const broken = { MAIL_PROVIDER: '{"kind":"resend"}', ALERT_WEBHOOK_URL: receiver.url("told", key) };
  await receiver.tell(key, "status/503");
  expect((await sendTest(broken)).json).toMatchObject({ webhook: { isAccepted: false } });
  expectRefusal(await say("ARRIVED", broken), 409, "TEST_ALERT_MISSING");
  await receiver.tell(key, "ok");
  expect((await sendTest(broken)).json).toMatchObject({ webhook: { isAccepted: true } });
  expect((await say("ARRIVED", broken)).json).toMatchObject({ state: "PROVED" });
});

test("changing the settings of mail or of the receiver brings the warning back until a test with the new settings has arrived", async () => {
  await sendTest();
  const proved = (await say("ARRIVED")).json;
  expect(await shown()).toEqual({ alerts: proved, warns: false });
  const key = crypto.randomUUID();
  await receiver.tell(key, "ok");
  const changed = { ALERT_WEBHOOK_URL: receiver.url("told", key) };
  for (const change of [changed, { ...changed, MAIL_FROM: "Other <other@example.com>" }]) {
    const withdrawn = { alerts: { ...proved, state: "UNPROVED", testAcceptedAt: null }, warns: true };
    expect(await shown(change)).toEqual(withdrawn);
    expectRefusal(await say("ARRIVED", change), 409, "TEST_ALERT_MISSING");
  }
  await sendTest(changed);
  expect(await shown(changed)).toMatchObject({ alerts: { testAcceptedAt: expect.any(String) }, warns: true });
  // What was tested is not what is set now.
  expectRefusal(await say("ARRIVED", { MAIL_FROM: "other@example.com" }), 409, "TEST_ALERT_MISSING");
  expect((await say("ARRIVED", changed)).json).toMatchObject({ state: "PROVED" });
  expect((await shown(changed)).warns).toBe(false);
  expect((await shown()).warns).toBe(true);
});

test("a proof that the previous release recorded without settings must be repeated", async () => {
  await testDb.insert(alertProof).values({ id: 1, acceptedAtMs: 5, provedAtMs: 6 });
  expect(await shown()).toMatchObject({ alerts: { state: "UNPROVED", testAcceptedAt: null }, warns: true });
});

test("the warning about untested alerts can be dismissed without a test, and a later confirmation still counts", async () => {
  const dismissed = await say("DISMISSED");
  expect(dismissed.json).toMatchObject({ state: "DISMISSED", dismissedAt: expect.any(String), provedAt: null });
  expect((await shown()).warns).toBe(false);
  expect((await say("DISMISSED")).json).toEqual(dismissed.json);
  await sendTest();
  expect((await say("ARRIVED")).json).toMatchObject({ state: "PROVED" });
  expect(await actionsOf(ann)).toEqual(["alerts.proved", "alerts.dismissed"]);
});

test("only an operator may confirm a test alert or dismiss the warning, and no other outcome is accepted", async () => {
  expectRefusal(await say("SKIPPED"), 400, "VALIDATION_FAILED");
  expectRefusal(await ask("alerts/proof", {}), 400, "VALIDATION_FAILED");
  ann = await seedUser();
  expectRefusal(await say("DISMISSED"), 403, "OPERATOR_REQUIRED");
  expect(await testDb.$count(alertProof)).toBe(0);
});

test("a deployment that is not set up does not warn, because nobody could test its alerts", async () => {
  const warnings = async () => (await production({ ...FRESH })("/healthz")).json?.warnings;
  expect(await warnings()).toContain(WARNING);
  await undoSetUp();
  expect(await warnings()).not.toContain(WARNING);
});
