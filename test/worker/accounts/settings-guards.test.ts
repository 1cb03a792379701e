// A stolen key or session cannot shorten the delay for wallet changes unnoticed, and a member who is removed during a request writes nothing.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { type Ask, expectRefusal, seedKey, send } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { seedSession } from "../../support/people.ts";
import { freshTeam, type Teammate, type TestTeam } from "../../support/teams.ts";
import { directWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const mailsTo = async ({ email }: Teammate) =>
  (await env.DEV_MAILBOX.getByName("mailbox").list(email)).map(({ subject, text }) => ({ subject, text }));
const setDelay = (team: TestTeam, columns: Partial<typeof merchants.$inferInsert>) =>
  testDb.update(merchants).set(columns).where(eq(merchants.id, team.merchantId));

describe("the delay for wallet changes", () => {
  it("cannot be changed by a key; a key that sends the current delay can change the other settings", async () => {
    const { team, owner } = await freshTeam();
    await setDelay(team, { walletChangeDelayHours: 48 });
    const key = await seedKey(team.merchantId);
    const patch = (body: object) => send(`${team.merchant}/settings`, { method: "PATCH", key, body });
    for (const walletChangeDelayHours of [0, 47, 49]) {
      expectRefusal(await patch({ walletChangeDelayHours, rateLockSeconds: 60 }), 403, "SESSION_REQUIRED");
    }
    expect((await patch({ walletChangeDelayHours: 48, rateLockSeconds: 61 })).json).toMatchObject({
      walletChangeDelayHours: 48,
      pendingWalletChangeDelay: null,
      rateLockSeconds: 61,
    });
    expect(await mailsTo(owner)).toEqual([]);
  });

  it("can be changed in a session only after a step-up, even to a longer delay", async () => {
    const { team, owner } = await freshTeam();
    const old = await seedSession(owner.userId, { factorAtMs: Date.now() - 300_001 });
    const patch = (body: object, headers: Readonly<Record<string, string>>) =>
      send(`${team.merchant}/settings`, { method: "PATCH", headers, body });
    expectRefusal(await patch({ walletChangeDelayHours: 48 }, old), 403, "STEP_UP_REQUIRED");
    expect((await patch({ rateLockSeconds: 60 }, old)).status).toBe(200);
    expect((await patch({ walletChangeDelayHours: 48 }, owner.headers)).json).toMatchObject({
      walletChangeDelayHours: 48,
    });
  });

  it("becomes shorter only after the old delay has passed, while every OWNER and ADMIN is emailed at once", async () => {
    const { team, owner } = await freshTeam();
    const [admin, member] = [await team.join("ADMIN"), await team.join("MEMBER")];
    await setDelay(team, { walletChangeDelayHours: 48 });
    const { body } = await admin.as.patch(`${team.merchant}/settings`, { walletChangeDelayHours: 0 });
    expect(body.walletChangeDelayHours).toBe(48);
    expect(body.pendingWalletChangeDelay.hours).toBe(0);
    const fromMs = Date.parse(body.pendingWalletChangeDelay.from);
    expect(Math.abs(fromMs - Date.now() - 48 * HOUR_MS)).toBeLessThan(HOUR_MS / 2);
    for (const reader of [owner, admin]) {
      const [mail, ...more] = await mailsTo(reader);
      expect([mail?.subject, more]).toEqual(["The wallet change delay of Test shop was changed", []]);
      expect(mail?.text).toContain(`${admin.email} changed the wallet change delay of Test shop at `);
      expect(mail?.text).toContain(`Now: 48 hours, and 0 hours from ${body.pendingWalletChangeDelay.from} on`);
    }
    expect(await mailsTo(member)).toEqual([]);
    const [entry] = await team.audit("settings.updated");
    expect(entry).toMatchObject({
      actorId: admin.userId,
      before: { "pendingWalletChangeDelay.hours": null },
      after: { "pendingWalletChangeDelay.hours": 0, "pendingWalletChangeDelay.from": new Date(fromMs).toISOString() },
    });
    const register = async () => (await owner.as.post(`${team.merchant}/wallets`, directWallet())).body;
    const early = await register();
    expect(Date.parse(early.usableFrom)).toBeGreaterThan(Date.now() + 47 * HOUR_MS);
    await setDelay(team, { walletChangeDelayNextFromMs: Date.now() });
    expect((await owner.as.get(`${team.merchant}/settings`)).body).toMatchObject({
      walletChangeDelayHours: 0,
      pendingWalletChangeDelay: null,
    });
    await owner.as.delete(`${team.merchant}/wallets/${early.id}`);
    expect((await register()).usableFrom).toBeNull();
  });
});

describe("a member who is removed from the team during a request", () => {
  const product = { name: "Coffee", price: 3, currency: "USD" };
  const customer = { email: "ann@example.com", name: "Ann" };
  const made = async (path: string, who: Teammate, body: object) => (await who.as.post(path, body)).body.id;
  const writes: readonly [string, (team: TestTeam, owner: Teammate) => Promise<readonly [string, Ask]>][] = [
    ["renames nothing", async (team) => [team.merchant, { method: "PATCH", body: { name: "Mine" } }]],
    [
      "changes no setting",
      async (team) => [`${team.merchant}/settings`, { method: "PATCH", body: { rateLockSeconds: 60 } }],
    ],
    ["makes no product", async (team) => [`${team.merchant}/products`, { method: "POST", body: product }]],
    [
      "changes no product",
      async (team, owner) => [
        `${team.merchant}/products/${await made(`${team.merchant}/products`, owner, product)}`,
        { method: "PATCH", body: { price: 1 } },
      ],
    ],
    [
      "deletes no product",
      async (team, owner) => [
        `${team.merchant}/products/${await made(`${team.merchant}/products`, owner, product)}`,
        { method: "DELETE" },
      ],
    ],
    ["makes no customer", async (team) => [`${team.merchant}/customers`, { method: "POST", body: customer }]],
    [
      "changes no customer by their email",
      async (team, owner) => {
        await made(`${team.merchant}/customers`, owner, customer);
        return [`${team.merchant}/customers`, { method: "POST", body: { ...customer, name: "Bob" } }];
      },
    ],
    [
      "changes no customer",
      async (team, owner) => [
        `${team.merchant}/customers/${await made(`${team.merchant}/customers`, owner, customer)}`,
        { method: "PATCH", body: { name: "Bob" } },
      ],
    ],
    [
      "deletes no customer",
      async (team, owner) => [
        `${team.merchant}/customers/${await made(`${team.merchant}/customers`, owner, customer)}`,
        { method: "DELETE" },
      ],
    ],
  ];
  it.each(writes)("%s", async (_, write) => {
    const { team, owner } = await freshTeam();
    const admin = await team.join("ADMIN");
    const [path, ask] = await write(team, owner);
    const before = await team.audit();
    const leave = () => testDb.delete(members).where(eq(members.id, admin.memberId));
    const answer = await sendBeaten(path, { ...ask, headers: admin.headers }, leave);
    expectRefusal(answer, 404, "MERCHANT_NOT_FOUND");
    expect(await team.audit()).toEqual(before);
  });
});
