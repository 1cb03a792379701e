// A test alert is sent like a real one, and returns the answers of the mail provider and the receiver.
import { beforeEach, expect, inject, test } from "vitest";
import { testAlertBody } from "../../../src/notifications/operator-alerts/contract.ts";
import { webhookSecret } from "../../../src/notifications/webhooks/secret.ts";
import { operatorAlerts } from "../../../src/platform/db/schema/operator-alerts.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { sendWith } from "../../support/access.ts";
import { mailsTo } from "../../support/browser.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedUser } from "../../support/people.ts";
import { doSetUp, FRESH, ownDatabase } from "../../support/production.ts";
import { receiverAt } from "../../support/receiver-control.ts";
import { standIns } from "../../support/stand-ins.ts";
import { testDb } from "../../support/worker-merchant.ts";

beforeEach(async () => {
  await testDb.update(users).set({ operatorSinceMs: null });
});

async function ask(changes: Partial<Env>) {
  const ann = await seedUser({ operatorSinceMs: 1 });
  const answer = await sendWith(changes, "/api/v1/operator/alerts/test", { method: "POST", headers: ann.headers });
  expect(answer.status, answer.text).toBe(200);
  expectDocumented(testAlertBody, answer.json);
  return { email: ann.email, answer: testAlertBody().parse(answer.json) };
}

test("a test alert is emailed to every operator and to no one else, and is not recorded as an alert", async () => {
  const [ben, guest] = [await seedUser({ operatorSinceMs: 1 }), await seedUser()];
  const { email, answer } = await ask({});
  const accepted = (to: string) => ({ email: to, isAccepted: true, problem: null });
  expect(answer.isMailConfigured).toBe(true);
  expect(answer.mails.toSorted((one, other) => (one.email < other.email ? -1 : 1))).toEqual(
    [email, ben.email].toSorted().map(accepted),
  );
  for (const to of [email, ben.email]) {
    const [mail] = await mailsTo(to);
    expect(mail?.subject).toBe("Test: alerts of the deployment reach you");
    expect(mail?.text).toContain("Nothing is wrong");
  }
  expect(await mailsTo(guest.email)).toEqual([]);
  expect(await testDb.select().from(operatorAlerts)).toEqual([]);
});

test("a test alert in production goes through the deployment's provider, and the response reports a refusal by the provider", async () => {
  await doSetUp();
  const sent: { readonly to?: unknown }[] = [];
  const production = (send: (mail: { readonly to?: unknown }) => Promise<unknown>) => ({
    ...FRESH,
    DB: ownDatabase(),
    MAIL_FROM: "Shop <shop@example.com>",
    ...standIns({ SEND_EMAIL: { send } }),
  });
  const taken = await ask(production(async (mail) => void sent.push(mail)));
  expect(taken.answer.mails).toEqual([{ email: taken.email, isAccepted: true, problem: null }]);
  expect(sent).toHaveLength(1);
  await testDb.update(users).set({ operatorSinceMs: null });
  const refused = await ask(
    production(async () => {
      throw Object.assign(new Error("no"), { code: "E_RECIPIENT_NOT_ALLOWED" });
    }),
  );
  expect(refused.answer.mails).toEqual([{ email: refused.email, isAccepted: false, problem: expect.any(String) }]);
});

test("without a mail provider, the response to a test alert says that mail is not configured", async () => {
  await doSetUp();
  const { answer } = await ask({ ...FRESH, DB: ownDatabase(), MAIL_PROVIDER: "" });
  expect(answer).toEqual({ isMailConfigured: false, mails: [], webhook: null });
});

const receiver = receiverAt(inject("receiverOrigin"));
const ALERT_WEBHOOK_SECRET = webhookSecret(new Uint8Array(32).fill(7));

test("a test alert is also posted to the receiver, signed, and the response includes the receiver's answer", async () => {
  const key = crypto.randomUUID();
  await receiver.trust(key, ALERT_WEBHOOK_SECRET);
  const ALERT_WEBHOOK_URL = receiver.url("ok", key);
  const { answer } = await ask({ ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET });
  const host = new URL(ALERT_WEBHOOK_URL).host;
  expect(answer.mails).toMatchObject([{ isAccepted: true }]);
  expect(answer.webhook).toEqual({ host, isAccepted: true, statusCode: 200, problem: null });
  const [posted, ...more] = await receiver.log(key);
  expect(more).toEqual([]);
  expect(posted?.signedBy).toEqual([ALERT_WEBHOOK_SECRET]);
  expect(JSON.parse(posted?.body ?? "")).toMatchObject({
    id: posted?.headers["webhook-id"],
    type: "deployment.alert_test",
    text: expect.stringContaining("Nothing is wrong"),
    data: { deployment: "http://localhost:8787", status: "TEST", failing: [], over: [] },
  });
});

test("each channel of a test alert is tried once, whatever the result of the other channel", async () => {
  const key = crypto.randomUUID();
  const { email, answer } = await ask({ ALERT_WEBHOOK_URL: receiver.url("status/503", key) });
  expect(answer.mails).toEqual([{ email, isAccepted: true, problem: null }]);
  expect(answer.webhook).toMatchObject({
    isAccepted: false,
    statusCode: 503,
    problem: "the receiver answered with status 503",
  });
  const [posted, ...more] = await receiver.log(key);
  expect([posted?.headers["webhook-signature"], more]).toEqual([undefined, []]);
  const broken = { MAIL_PROVIDER: '{"kind":"resend"}', ALERT_WEBHOOK_URL: receiver.url("ok", key) };
  const other = await ask(broken);
  expect(other.answer.mails.some(({ isAccepted }) => isAccepted)).toBe(false);
  expect(other.answer.webhook).toMatchObject({ isAccepted: true, statusCode: 200, problem: null });
});

test.each([
  ["a receiver without a server", { ALERT_WEBHOOK_URL: "http://127.0.0.1:4/" }, "no connection to the receiver"],
  [
    "a URL with a user name",
    { ALERT_WEBHOOK_URL: "https://a:hunter2@shop.com/" },
    "ALERT_WEBHOOK_URL: it contains a user name or a password",
  ],
  ["a private host", { ALERT_WEBHOOK_URL: "https://10.0.0.1/" }, "ALERT_WEBHOOK_URL: the host is an IP address"],
  [
    "an invalid secret",
    { ALERT_WEBHOOK_URL: "https://shop.com/", ALERT_WEBHOOK_SECRET: "hunter2" },
    "ALERT_WEBHOOK_SECRET must be whsec_ and the base64 of 24 to 64 bytes",
  ],
])("the answer to a test alert says in words what is wrong with %s", async (_, changes, problem) => {
  const { answer } = await ask(changes);
  expect(answer.webhook).toMatchObject({ isAccepted: false, statusCode: null, problem });
  expect(answer.mails).toMatchObject([{ isAccepted: true }]);
  expect(JSON.stringify(answer)).not.toContain("hunter2");
});
