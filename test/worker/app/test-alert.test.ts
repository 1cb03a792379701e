// A test of alerts goes where an alert goes, and its answer is what the mail provider said.
import { beforeEach, expect, test } from "vitest";
import { testAlertBody } from "../../../src/notifications/operator-alerts/contract.ts";
import { operatorAlerts } from "../../../src/platform/db/schema/operator-alerts.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { sendWith } from "../../support/access.ts";
import { mailsTo } from "../../support/browser.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedUser } from "../../support/people.ts";
import { doSetUp, FRESH, ownDatabase } from "../../support/production.ts";
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

test("every operator gets the email, nobody else does, and no alert counts as sent", async () => {
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

test("in production it goes through the provider of the deployment, whose refusal is the answer", async () => {
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

test("without a provider the answer says that no alert is ever sent", async () => {
  await doSetUp();
  const { answer } = await ask({ ...FRESH, DB: ownDatabase(), MAIL_PROVIDER: "" });
  expect(answer).toEqual({ isMailConfigured: false, mails: [] });
});
