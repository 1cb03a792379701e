// Emails of the same kind to a team, about the same object and actor: the first is sent at once, and those of the next ten minutes are merged into
// one that states their count. Emails about payout targets are never merged.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../src/lib/time.ts";
import { deliverDependencies } from "../../../src/notifications/deliveries/dependencies.ts";
import { disableEndpoint } from "../../../src/notifications/deliveries/disable-endpoint.ts";
import { selectWebhookById, updateWebhook } from "../../../src/notifications/webhooks/store.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { notices } from "../../../src/platform/db/schema/notices.ts";
import { seedKey, send } from "../../support/access.ts";
import { addEndpoint } from "../../support/endpoints.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { freshTeam, type Teammate, type TestTeam } from "../../support/teams.ts";
import { directWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const subjectsTo = async ({ email }: Teammate) =>
  (await env.DEV_MAILBOX.getByName("mailbox").list(email)).map(({ subject }) => subject).toReversed();
const newestTo = async ({ email }: Teammate) => (await env.DEV_MAILBOX.getByName("mailbox").list(email))[0];
const tokenIn = (text: string | undefined) => /\/wallets\/disable#token=([\w-]+)/.exec(text ?? "")?.[1] ?? "none";
const runCron = () => runJobs();
const disableBy = (token: string) => send("/api/v1/wallets/disable", { method: "POST", body: { token } });

/** Moves this merchant's notices ten minutes into the past, and runs the cron. */
async function tenMinutesLater({ merchantId }: TestTeam): Promise<void> {
  const own = eq(notices.merchantId, merchantId);
  for (const row of await testDb.select().from(notices).where(own))
    await testDb
      .update(notices)
      .set({
        sentAtMs: row.sentAtMs - 10 * MINUTE_MS,
        dueAtMs: row.dueAtMs === null ? null : row.dueAtMs - 10 * MINUTE_MS,
      })
      .where(own);
  await runCron();
}

/** A wallet that is changed with an API key. A key has no mailbox, so the emails have no link. */
async function keyed() {
  const { team, owner } = await freshTeam();
  const key = await seedKey(team.merchantId);
  const wallets = `${team.merchant}/wallets`;
  const made = await send(wallets, { method: "POST", key, body: directWallet() });
  expect(made.status, made.text).toBe(201);
  const path = `${wallets}/${made.json?.id}`;
  const patch = async (body: object) => {
    const answer = await send(path, { method: "PATCH", key, body });
    expect(answer.status, answer.text).toBe(200);
  };
  return { team, owner, key, path, patch };
}

describe("changes to a wallet's settings", () => {
  it("made thirty times send two emails, the second with the count and the current state", async () => {
    const { team, owner, patch } = await keyed();
    for (let n = 0; n < 30; n++) await patch({ requiredConfirmations: 2 + (n % 2) });
    await runCron();
    const first = ["A wallet of Test shop was registered", "A wallet of Test shop was changed"];
    expect(await subjectsTo(owner)).toEqual(first);
    await tenMinutesLater(team);
    await tenMinutesLater(team);
    expect(await subjectsTo(owner)).toEqual([...first, "A wallet of Test shop was changed 29 more times"]);
    expect((await newestTo(owner))?.text).toMatch(/Now: 0x\w{40}, fingerprint \w{16}, enabled, 3 confirmations\n/);
    // After a quiet period the next email is sent at once again.
    await patch({ requiredConfirmations: 9 });
    expect((await subjectsTo(owner)).at(-1)).toBe("A wallet of Test shop was changed");
  });

  it("are emailed at once when they enable a wallet, even after other changes; only repetitions are joined", async () => {
    const { team, owner, patch } = await keyed();
    await patch({ isEnabled: false });
    await patch({ isEnabled: true });
    const once = ["registered", "changed", "changed"].map((done) => `A wallet of Test shop was ${done}`);
    expect(await subjectsTo(owner)).toEqual(once);
    expect((await newestTo(owner))?.text).toContain(", enabled, ");
    for (let n = 0; n < 14; n++) await patch({ isEnabled: n % 2 === 1 });
    expect(await subjectsTo(owner)).toEqual(once);
    await tenMinutesLater(team);
    expect((await subjectsTo(owner)).slice(3).toSorted()).toEqual(
      ["changed 7 more times", "enabled 7 more times"].map((done) => `A wallet of Test shop was ${done}`),
    );
  });

  it("by another user are emailed at once", async () => {
    const { owner, team, path, patch } = await keyed();
    await patch({ requiredConfirmations: 2 });
    await patch({ requiredConfirmations: 3 });
    const admin = await team.join("ADMIN");
    expect((await admin.as.patch(path, { requiredConfirmations: 4 })).status).toBe(200);
    expect(await subjectsTo(owner)).toHaveLength(3);
    expect((await newestTo(owner))?.text).toContain(`by ${admin.email} at `);
  });

  it("by a user whose only factor is email have a link in each email, even in a joined one", async () => {
    const { team, owner } = await freshTeam();
    const made = await owner.as.post(`${team.merchant}/wallets`, directWallet());
    const path = `${team.merchant}/wallets/${made.body.id}`;
    for (const requiredConfirmations of [2, 3, 4]) await owner.as.patch(path, { requiredConfirmations });
    await tenMinutesLater(team);
    const mail = await newestTo(owner);
    expect(mail?.subject).toBe("A wallet of Test shop was changed 2 more times");
    expect((await disableBy(tokenIn(mail?.text))).status).toBe(200);
    expect((await owner.as.get(path)).body.isEnabled).toBe(false);
  });

  it("after the wallet was disabled by a link are emailed at once, with a new link", async () => {
    const { team, owner } = await freshTeam();
    const made = await owner.as.post(`${team.merchant}/wallets`, directWallet());
    const path = `${team.merchant}/wallets/${made.body.id}`;
    for (const isEnabled of [false, true, false, true]) await owner.as.patch(path, { isEnabled });
    expect((await disableBy(tokenIn((await newestTo(owner))?.text))).status).toBe(200);
    const before = (await subjectsTo(owner)).length;
    expect((await owner.as.patch(path, { isEnabled: true })).status).toBe(200);
    expect(await subjectsTo(owner)).toHaveLength(before + 1);
    expect((await disableBy(tokenIn((await newestTo(owner))?.text))).status).toBe(200);
  });
});

it("every registration and every deletion of a wallet is emailed at once", async () => {
  const { owner, key, path, team } = await keyed();
  const wallets = `${team.merchant}/wallets`;
  expect((await send(path, { method: "DELETE", key })).status).toBe(200);
  for (let n = 0; n < 4; n++) {
    const made = await send(wallets, { method: "POST", key, body: directWallet() });
    expect((await send(`${wallets}/${made.json?.id}`, { method: "DELETE", key })).status).toBe(200);
  }
  const pair = ["A wallet of Test shop was registered", "A wallet of Test shop was deleted"];
  expect(await subjectsTo(owner)).toEqual([...pair, ...pair, ...pair, ...pair, ...pair]);
});

it("an endpoint's first switch-off is emailed at once, and repeated ones in one joined email", async () => {
  const { team, owner } = await freshTeam();
  const { merchantId } = team;
  const { webhook } = await addEndpoint(testDb, env.SECRETS_AES_KEY, {
    merchantId,
    url: "https://shop.example/hook?t=1",
  });
  const deps = deliverDependencies(env, () => undefined);
  const health = { failuresInRow: 21, failingSinceMs: 1, probeAtMs: null };
  for (let n = 0; n < 5; n++) {
    const again = { ...health, isActive: true, disabledReason: null, disabledAtMs: null };
    await commit(testDb, [updateWebhook(testDb, webhook.id, again)]);
    const [read = expect.fail()] = await selectWebhookById(testDb, webhook.id);
    await disableEndpoint(deps, read, { health, disable: "GONE" });
  }
  const first = "A webhook endpoint of Test shop was switched off";
  expect(await subjectsTo(owner)).toEqual([first]);
  await tenMinutesLater(team);
  expect(await subjectsTo(owner)).toEqual([first, `${first} 4 more times`]);
  const mail = await newestTo(owner);
  expect(mail?.text).toContain(
    `The endpoint ${webhook.id} of Test shop, https://shop.example/hook, was switched off 4 more`,
  );
  expect(mail?.text).not.toContain("t=1");
});
