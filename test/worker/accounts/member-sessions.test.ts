// A member's session can do with wallets and invoices what a secret key can, with the same permissions and the same idempotency. A session does not
// give a public key more rights (Interface 5, decisions 6 and 7).
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { expectRefusal, seedKey, send } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { seedMember, seedSession, seedUser } from "../../support/people.ts";
import { callerWith, freshTeam } from "../../support/teams.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, testDb } from "../../support/worker-merchant.ts";

async function expectStatus(answer: Promise<Answer>, status: number): Promise<Answer["body"]> {
  const { status: received, body, text } = await answer;
  expect(received, text).toBe(status);
  return body;
}

const ORDER = { name: "Order", rawAmount: 10, paymentMethods: [] };

describe("a member in a session", () => {
  it("can register, list, read, preview, export, change and delete wallets", async () => {
    const { team, owner } = await freshTeam();
    const path = `${team.merchant}/wallets`;
    const { id } = await expectStatus(owner.as.post(path, xpubWallet()), 201);
    expect((await expectStatus(owner.as.get(path), 200)).map((each: { id: string }) => each.id)).toEqual([id]);
    expect((await expectStatus(owner.as.get(`${path}/${id}`), 200)).id).toBe(id);
    expect((await expectStatus(owner.as.get(`${path}/${id}/addresses?count=2`), 200)).data).toHaveLength(2);
    expect((await expectStatus(owner.as.get(`${path}/${id}/recovery`), 200)).addresses).toEqual([]);
    expect((await expectStatus(owner.as.patch(`${path}/${id}`, { isEnabled: false }), 200)).isEnabled).toBe(false);
    await expectStatus(owner.as.delete(`${path}/${id}`), 200);
    await expectStatus(owner.as.get(`${path}/${id}`), 404);
  });

  it("cannot change a wallet if demoted or removed during the request", async () => {
    const { team, owner } = await freshTeam();
    const path = `${team.merchant}/wallets`;
    const { id } = await expectStatus(owner.as.post(path, directWallet()), 201);
    const beaten = async (method: string, at: string, body: object | undefined, role: "MEMBER" | "none") => {
      const { userId, headers } = await seedUser();
      const memberId = await seedMember(team.merchantId, userId, "ADMIN");
      const put = { MEMBER: testDb.update(members).set({ role: "MEMBER" }), none: testDb.delete(members) };
      const answer = await sendBeaten(at, { method, headers, ...(body === undefined ? {} : { body }) }, async () =>
        put[role].where(eq(members.id, memberId)),
      );
      expectRefusal(answer, 503, "CONTENTION");
    };
    for (const role of ["MEMBER", "none"] as const) {
      await beaten("POST", path, xpubWallet(), role);
      await beaten("PATCH", `${path}/${id}`, { isEnabled: false }, role);
      await beaten("DELETE", `${path}/${id}`, undefined, role);
    }
    const left = await expectStatus(owner.as.get(path), 200);
    expect(left).toMatchObject([{ id, isEnabled: true }]);
    expect(left).toHaveLength(1);
  });

  it("cannot register a wallet or create a key for a merchant that is deleted during the request", async () => {
    const key = { name: "k", kind: "SECRET", permissions: ["INVOICE_VIEW"] };
    for (const [at, table, body] of [
      ["wallets", wallets, directWallet()],
      ["api-keys", apiKeys, key],
    ] as const) {
      const { team } = await freshTeam();
      const { userId, headers } = await seedUser();
      await seedMember(team.merchantId, userId, "ADMIN");
      const answer = await sendBeaten(`${team.merchant}/${at}`, { method: "POST", headers, body }, async () =>
        testDb.update(merchants).set({ deletedAtMs: Date.now() }).where(eq(merchants.id, team.merchantId)),
      );
      expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
      expect(await testDb.select().from(table).where(eq(table.merchantId, team.merchantId))).toEqual([]);
    }
  });

  it("can create, list, read and change invoices and add payment methods as MEMBER, and cancel as OWNER", async () => {
    const { team, owner } = await freshTeam();
    const member = await team.join("MEMBER");
    await expectStatus(owner.as.post(`${team.merchant}/wallets`, directWallet()), 201);
    const path = `${team.merchant}/invoices`;
    const body = { ...ORDER, customerEmail: "payer@example.com", externalId: "one", metadata: { a: "b" } };
    const made = await expectStatus(member.as.post(path, body), 201);
    expect(made).toMatchObject({ customer: { email: "payer@example.com" }, externalId: "one", metadata: { a: "b" } });
    const one = `${path}/${made.id}`;
    expect(await expectStatus(member.as.get(one), 200)).toEqual(made);
    expect((await expectStatus(member.as.get(path), 200)).data).toEqual([made]);
    expect((await expectStatus(member.as.get(`${one}/payment-methods`), 200)).data).toMatchObject([USDT]);
    expect(await expectStatus(member.as.post(`${one}/payment-methods`, USDT), 201)).toMatchObject({ status: "ACTIVE" });
    expect((await expectStatus(member.as.get(`${one}/payments`), 200)).data).toEqual([]);
    expect((await expectStatus(member.as.patch(one, { name: "Another" }), 200)).name).toBe("Another");
    expect((await expectStatus(member.as.post(`${one}/cancel`), 403)).code).toBe("PERMISSION_DENIED");
    expect((await expectStatus(owner.as.post(`${one}/cancel`), 200)).status).toBe("CANCELLED");
  });

  it("can read wallets without a step-up, but not change them", async () => {
    const { team, owner } = await freshTeam();
    const { id } = await expectStatus(owner.as.post(`${team.merchant}/wallets`, directWallet()), 201);
    const stale = callerWith(await seedSession(owner.userId, { factorAtMs: Date.now() - 301_000 }));
    const path = `${team.merchant}/wallets/${id}`;
    for (const ask of [
      stale.post(`${team.merchant}/wallets`, xpubWallet()),
      stale.patch(path, { isEnabled: false }),
      stale.delete(path),
    ]) {
      expect(await expectStatus(ask, 403)).toMatchObject({ code: "STEP_UP_REQUIRED", factors: ["email_code"] });
    }
    expect((await expectStatus(stale.get(path), 200)).isEnabled).toBe(true);
  });
});

describe("an Idempotency-Key in a session", () => {
  const key = { "idempotency-key": "one" };

  it.each([
    ["a wallet", "/wallets", directWallet(), { ...directWallet(), requiredConfirmations: 9 }],
    ["an invoice", "/invoices", ORDER, { ...ORDER, rawAmount: 11 }],
  ])("repeats the first response for %s, and refuses a different body", async (_, rest, body, other) => {
    const { team, owner } = await freshTeam();
    const ask = (sent: object) => owner.as.post(`${team.merchant}${rest}`, sent, key);
    const first = await ask(body);
    const again = await ask(body);
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect((await ask(other)).status).toBe(409);
  });

  it("creates one invoice for many parallel requests, from any sessions of the team", async () => {
    const { team, owner } = await freshTeam();
    const admin = await team.join("ADMIN");
    const ask = (who: typeof owner) => who.as.post(`${team.merchant}/invoices`, ORDER, key);
    const answers = await Promise.all([owner, admin, owner, admin].map(ask));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await owner.as.get(`${team.merchant}/invoices`)).body.data).toHaveLength(1);
  });

  it("is shared with the merchant's secret keys, but not with its public keys", async () => {
    const { team, owner } = await freshTeam();
    const [secret, browser] = [await seedKey(team.merchantId), await seedKey(team.merchantId, { kind: "PUBLIC" })];
    const first = await owner.as.post(`${team.merchant}/invoices`, ORDER, key);
    const ask = { method: "POST", body: ORDER, headers: key };
    expect((await send(`${team.merchant}/invoices`, { ...ask, key: secret })).text).toBe(first.text);
    const own = await send(`${team.merchant}/invoices`, { ...ask, key: browser });
    expect([own.status, own.headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect(own.json?.id).not.toBe(first.body.id);
  });
});

describe("a public key", () => {
  it("has no more rights when a session cookie is sent with it", async () => {
    const { team, owner } = await freshTeam();
    await expectStatus(owner.as.post(`${team.merchant}/wallets`, xpubWallet()), 201);
    const key = await seedKey(team.merchantId, { kind: "PUBLIC" });
    const { headers } = owner;
    const at = (rest: string) => `${team.merchant}${rest}`;
    expectRefusal(await send(at("/wallets"), { key, headers }), 403, "PUBLIC_KEY_FORBIDDEN");
    expectRefusal(await send(at("/audit-events"), { key, headers }), 403, "PUBLIC_KEY_FORBIDDEN");
    const body = { name: "Order", rawAmount: 10, paymentMethods: [BTC] };
    const made = await send(at("/invoices"), { method: "POST", key, headers, body });
    expect([made.status, made.json?.customer, made.json?.metadata]).toEqual([201, null, null]);
    expect(made.json).not.toHaveProperty("warnings");
  });
});
