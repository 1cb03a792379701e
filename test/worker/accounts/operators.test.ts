// Operators through the Worker's entry: who they are, who adds and removes them, and that one always remains.
import { env } from "cloudflare:workers";
import { and, eq, isNotNull } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal, seedMerchant, send } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { seedSession, seedUser, type TestUser } from "../../support/people.ts";

const PATH = "/api/v1/operator/operators";
const db = openDb(env.DB);

const seedOperator = () => seedUser({ operatorSinceMs: Date.now() });
const add = (by: TestUser, email: string) => send(PATH, { method: "POST", headers: by.headers, body: { email } });
const remove = (by: TestUser, { userId }: Pick<TestUser, "userId">) =>
  send(`${PATH}/${userId}`, { method: "DELETE", headers: by.headers });
const isOperator = async ({ headers }: TestUser) => (await send("/api/v1/me", { headers })).json?.isOperator;
const auditOf = async ({ userId }: TestUser) =>
  (
    await db
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.target, userId)))
  ).map(({ action, actorId }) => [action, actorId]);

/** Removes the operators of earlier tests, because a test's own operator must be the last one. */
afterEach(async () => {
  await db.update(users).set({ operatorSinceMs: null }).where(isNotNull(users.operatorSinceMs));
});

describe("an operator", () => {
  test("can make a user an operator by their address, in upper or lower case, and can list all operators", async () => {
    const [ann, ben] = [await seedOperator(), await seedUser({ name: "Ben" })];
    const added = await add(ann, ben.email.toUpperCase());
    expect([added.status, added.json]).toEqual([
      200,
      { id: ben.userId, email: ben.email, name: "Ben", operatorSince: expect.stringMatching(/^20.*Z$/) },
    ]);
    expect(await isOperator(ben)).toBe(true);
    const listed = await send(PATH, { headers: ben.headers });
    expect(listed.json).toMatchObject({ data: [{ id: ann.userId }, { id: ben.userId }], pagination: { total: 2 } });
    expect(await auditOf(ben)).toEqual([["operator.added", ann.userId]]);
  });

  test("changes nothing by adding an existing operator", async () => {
    const [ann, ben] = [await seedOperator(), await seedUser()];
    const first = await add(ann, ben.email);
    expect((await add(ann, ben.email)).json).toEqual(first.json);
    expect(await auditOf(ben)).toHaveLength(1);
  });

  test("cannot add an address without an account", async () => {
    expectRefusal(await add(await seedOperator(), "nobody@example.com"), 404, "USER_NOT_FOUND");
  });

  test("can remove another operator and themselves, but never the last one; the account stays", async () => {
    const [ann, ben] = [await seedOperator(), await seedOperator()];
    expect((await remove(ann, ben)).status).toBe(204);
    expect(await isOperator(ben)).toBe(false);
    expect(await auditOf(ben)).toEqual([["operator.removed", ann.userId]]);
    expectRefusal(await remove(ann, ben), 404, "OPERATOR_NOT_FOUND");
    expectRefusal(await remove(ann, ann), 409, "LAST_OPERATOR");
    expectRefusal(await remove(ben, ann), 403, "OPERATOR_REQUIRED");
    await add(ann, ben.email);
    expect((await remove(ann, ann)).status).toBe(204);
    expect(await isOperator(ben)).toBe(true);
  });

  test("needs a recent factor to add or remove an operator", async () => {
    const { userId } = await seedOperator();
    const headers = await seedSession(userId, { factorAtMs: Date.now() - 300_001 });
    expectRefusal(
      await send(PATH, { method: "POST", headers, body: { email: "a@example.com" } }),
      403,
      "STEP_UP_REQUIRED",
    );
    expectRefusal(await send(`${PATH}/${userId}`, { method: "DELETE", headers }), 403, "STEP_UP_REQUIRED");
  });

  test("sees no merchant's data: another user's merchant is answered with 404", async () => {
    const { headers } = await seedOperator();
    const merchantId = await seedMerchant();
    expectRefusal(await send(`/api/v1/merchants/merchant/${merchantId}`, { headers }), 404, "MERCHANT_NOT_FOUND");
    expect((await send("/api/v1/merchants", { headers })).json).toMatchObject({ data: [] });
  });
});

describe("concurrent changes by operators", () => {
  test("always leave at least one operator, however many operators remove each other", async () => {
    const all = await Promise.all(Array.from({ length: 5 }, seedOperator));
    const removals = all.flatMap((by) => all.map((one) => remove(by, one)));
    for (const { status } of await Promise.all(removals)) expect([204, 403, 404, 409, 503]).toContain(status);
    const left = await db.select().from(users).where(isNotNull(users.operatorSinceMs));
    expect(left.length).toBeGreaterThanOrEqual(1);
  });

  test("have no effect if the operator was removed in the meantime", async () => {
    const [ann, ben, eve] = [await seedOperator(), await seedOperator(), await seedUser()];
    const demote = async () => db.update(users).set({ operatorSinceMs: null }).where(eq(users.id, ben.userId));
    const body = { email: eve.email };
    const added = await sendBeaten(PATH, { method: "POST", headers: ben.headers, body }, demote);
    expectRefusal(added, 403, "OPERATOR_REQUIRED");
    expect(await isOperator(eve)).toBe(false);
    expect(await isOperator(ann)).toBe(true);
  });
});
