// A rotation must not sign altered rows, overwrite concurrent changes, or judge rows by a wrong key (docs/design/security.md, Rotation).
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { acceptStep } from "../../../src/accounts/totp/store.ts";
import { TOTP_ROWS, totpContext } from "../../../src/accounts/totp/totp-rows.ts";
import { newUserRow } from "../../../src/accounts/users/store.ts";
import { KEYED_ROWS, rotateDependencies } from "../../../src/app/keys/dependencies.ts";
import { seal, unseal } from "../../../src/lib/seal.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/time.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { deploymentKeys } from "../../../src/platform/db/schema/deployment-keys.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { webhookSecrets } from "../../../src/platform/db/schema/webhooks.ts";
import type { Statement } from "../../../src/platform/db/statement.ts";
import { keyringOf } from "../../../src/platform/keys/keyrings.ts";
import { planStretch } from "../../../src/platform/keys/rotate-rows.ts";
import { selectEnd, selectMacs, selectSeals } from "../../../src/platform/keys/store.ts";
import { freshEmail } from "../../support/browser.ts";
import { triesOf } from "../../support/property-runs.ts";
import { planOf } from "../../support/query-plan.ts";
import {
  type Deployment,
  deploymentOf,
  newMasterKey,
  type RotatedShop,
  shopOf,
  verdictsOn,
} from "../../support/rotations.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function made(at: Deployment, shop: RotatedShop, rest: string, body: unknown) {
  const answer = await shop.post(at, rest, body);
  expect(answer.status, answer.text).toBe(201);
  return { id: String(answer.json?.id), json: answer.json ?? {} };
}

/** A shop with a row of each kind, written under the only key of `at`. */
async function stocked(at: Deployment) {
  const shop = await shopOf(at);
  const xpub = await made(at, shop, "/wallets", xpubWallet());
  const direct = await made(at, shop, "/wallets", directWallet());
  const endpoint = await made(at, shop, "/webhooks", { url: "http://127.0.0.1:9/hook", events: ["invoice.paid"] });
  const invoice = await made(at, shop, "/invoices", { name: "Order", rawAmount: 10, paymentMethods: [BTC, USDT] });
  return { shop, xpub, direct, endpoint, invoice };
}

const walletRow = async (id: string) => (await testDb.select().from(wallets).where(sql`id = ${id}`))[0];
const methodsOf = (id: string) => testDb.select().from(paymentMethods).where(sql`invoice_id = ${id}`);

describe("a row that was altered in the database", () => {
  it("is frozen or stays hidden, is never re-signed, and does not prevent its key from being removed", async () => {
    const [k1, k2] = [newMasterKey(), newMasterKey()];
    const [before, now] = [deploymentOf([k1]), deploymentOf([k2, k1])];
    const { shop, direct, xpub, endpoint, invoice } = await stocked(before);
    const stranger = `0x${"66".repeat(20)}`;
    await testDb.update(wallets).set({ address: stranger }).where(sql`id = ${direct.id}`);
    await testDb
      .update(paymentMethods)
      .set({ address: stranger })
      .where(sql`invoice_id = ${invoice.id} and network = 'ETH'`);
    await testDb
      .update(webhookSecrets)
      .set({ sealed: `v1.${k1.id}.${btoa("x".repeat(60))}` })
      .where(sql`webhook_id = ${endpoint.id}`);
    const [was] = await methodsOf(invoice.id).then((rows) => rows.filter(({ network }) => network === "ETH"));

    const reports = await now.rotate();
    expect(reports.map(({ kind }) => kind).sort()).toEqual(["methods", "wallets", "webhookSecrets"]);
    expect(JSON.stringify(reports)).not.toContain(stranger);
    expect(await walletRow(direct.id)).toMatchObject({ macKeyId: k1.id, frozenAtMs: expect.any(Number) });
    expect(await walletRow(xpub.id)).toMatchObject({ macKeyId: k2.id, frozenAtMs: null });
    const [altered] = await methodsOf(invoice.id).then((rows) => rows.filter(({ network }) => network === "ETH"));
    expect(altered).toMatchObject({ mac: was?.mac, macKeyId: `!${k1.id}` });
    const shown = await shop.get(now, `/invoices/${invoice.id}`);
    expect(shown.json?.paymentMethods).toMatchObject([
      { network: "BTC", status: "ACTIVE" },
      { network: "ETH", status: "UNAVAILABLE", reason: "INTEGRITY_CHECK_FAILED", address: null },
    ]);
    expect(await verdictsOn(now, shop, endpoint.id)).toContain(`secret fails under ${k1.id}`);
    // The job does not report the altered row again, and the row does not prevent the key's removal.
    expect(await now.rotate()).toEqual([]);
    const [, older] = await now.keyUses();
    expect([Object.values(older?.left ?? {}), older?.retirableAt]).toEqual([[0, 0, 0, 0, 0, 0], expect.any(String)]);
    // Restoring the true values does not make the row valid again.
    await testDb
      .update(wallets)
      .set({ address: String(direct.json.address) })
      .where(sql`id = ${direct.id}`);
    await now.rotate();
    expect((await shop.get(now, `/wallets/${direct.id}`)).json?.address).toBeNull();
  });

  it("is not published if it is a public key", async () => {
    const [k1, k2] = [newMasterKey(), newMasterKey()];
    const keysAt = async (at: Deployment) =>
      [...(await at.send("/.well-known/edgetill-keys.json")).text.matchAll(/"kid":"(\w+)"/g)].map(([, kid]) => kid);
    await deploymentOf([k1]).rotate();
    const now = deploymentOf([k2]);
    // This deployment lacks the key of the record's HMAC too, because the job had no time to renew the HMAC.
    expect(await keysAt(now)).toEqual([k2.id]);
    const both = deploymentOf([k2, k1]);
    await both.rotate();
    expect(await keysAt(now)).toEqual([k2.id, k1.id]);
    // While the signing key is still configured, the job corrects the key's altered record.
    await testDb
      .update(deploymentKeys)
      .set({ kept: "A".repeat(43), macKeyId: `!${k1.id}` })
      .where(sql`keyring = 'SIGNING_KEY' and key_id = ${k1.id}`);
    expect(await keysAt(now)).toEqual([k2.id]);
    await both.rotate();
    expect(await keysAt(now)).toEqual([k2.id, k1.id]);
    const kept = sql`keyring = 'SIGNING_KEY' and key_id = ${k1.id}`;
    const [row] = await testDb.select().from(deploymentKeys).where(kept);
    await testDb
      .update(deploymentKeys)
      .set({ kept: "A".repeat(43) })
      .where(kept);
    expect(await keysAt(now)).toEqual([k2.id]);
    await testDb
      .update(deploymentKeys)
      .set({ kept: row?.kept ?? null })
      .where(kept);
    await now.rotate();
    // The old key is published for 90 days after its removal, and no longer, even if the row is changed to state a later removal.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 89 * DAY_MS });
    expect(await keysAt(now)).toEqual([k2.id, k1.id]);
    vi.setSystemTime(Date.now() + 2 * DAY_MS);
    expect(await keysAt(now)).toEqual([k2.id]);
    await testDb.update(deploymentKeys).set({ leftAtMs: Date.now() }).where(kept);
    expect(await keysAt(now)).toEqual([k2.id]);
  });
});

describe("a different key under an id that was used before", () => {
  it("is reported, and is never used to verify", async () => {
    const [k1, k2] = [newMasterKey(), newMasterKey()];
    const before = deploymentOf([k1]);
    const { shop, endpoint } = await stocked(before);
    await before.rotate();
    const wrong = { text: newMasterKey().text.replace(/^[^:]+/, k1.id) };
    for (const keys of [
      [k2, wrong],
      [wrong, k2],
    ]) {
      const reports = await deploymentOf(keys).rotate();
      expect(new Set(reports.map(({ keyId }) => keyId))).toEqual(new Set([k1.id]));
      expect(reports.length).toBe(5);
    }
    const verdicts = await verdictsOn(before, shop, endpoint.id);
    expect(new Set(verdicts)).toEqual(
      new Set(["wallet", "method", "secret"].map((kind) => `${kind} verifies under ${k1.id}`)),
    );
  });
});

describe("the count of rows under an older key", () => {
  it("includes every row at first; the key may be removed one day after a pass that found no row", async () => {
    const [k1, k2] = [newMasterKey(), newMasterKey()];
    const { shop, endpoint } = await stocked(deploymentOf([k1]));
    const now = deploymentOf([k2, k1]);
    const older = async () => (await now.keyUses()).find(({ keyId }) => keyId === k1.id);
    expect(await older()).toMatchObject({ left: { wallets: 2, methods: 2, webhookSecrets: 1 }, retirableAt: null });
    const beganAtMs = Date.now();
    await now.rotate();
    const retirableAtMs = Date.parse((await older())?.retirableAt ?? "never");
    expect(retirableAtMs).toBeGreaterThanOrEqual(beganAtMs + DAY_MS);
    // A row written by an isolate with the old keys is found within an hour, and the one-day wait starts over.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + HOUR_MS });
    await made(deploymentOf([k1, k2]), shop, "/invoices", { name: "Late", rawAmount: 10, paymentMethods: [USDT] });
    expect(await older()).toMatchObject({ left: { methods: 1 }, retirableAt: null });
    await now.rotate();
    expect((await older())?.retirableAt).toBe(new Date(Date.now() + DAY_MS).toISOString());
    expect(new Set(await verdictsOn(now, shop, endpoint.id)).size).toBe(3);
  });

  it("is not written if there is only one key, or between two passes", async () => {
    const [k1, k2] = [newMasterKey(), newMasterKey()];
    const now = deploymentOf([k2, k1]);
    await deploymentOf([k1]).rotate();
    await now.rotate();
    const writes = vi.fn();
    const watched = (at: Deployment) => {
      const { db, ...deps } = rotateDependencies(at.world, { db: testDb, nowMs: Date.now() });
      const batched = (statements: D1PreparedStatement[]) => {
        writes(statements.length);
        return db.$client.batch(statements);
      };
      return {
        ...deps,
        db: Object.assign(Object.create(db), {
          $client: { prepare: db.$client.prepare.bind(db.$client), batch: batched },
        }),
      };
    };
    await now.rotate(watched(now));
    expect(writes).not.toHaveBeenCalled();
    const single = deploymentOf([k2]);
    await single.rotate();
    await single.rotate(watched(single));
    expect(writes).not.toHaveBeenCalled();
  });
});

describe("a range of rows", () => {
  it.each(KEYED_ROWS)(
    "of $kind is found by row number, at a cost that does not depend on the table's size",
    async (rows) => {
      const stretch = { after: 500, length: 500, keyIds: ["k1"], nowMs: Date.now() };
      const read = "column" in rows ? selectSeals(testDb, rows, stretch) : selectMacs(testDb, rows, stretch);
      for (const query of [read, selectEnd(testDb, rows, stretch)]) {
        const plan = await planOf(query);
        expect(plan).toContain(`SEARCH ${rows.table} USING INTEGER PRIMARY KEY (rowid>?`);
        expect(plan).not.toContain(`SCAN ${rows.table}`);
      }
    },
  );
});

describe("runs of the key rotation job between changes to rows", () => {
  const STEPS = ["plan", "commit", "invoice", "wallet", "rotate secret", "older invoice", "replace wallet"] as const;

  it("leave every row under the current key, whatever the order of runs and changes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { minLength: 5, maxLength: 9 }), async (steps) => {
        const [k1, k2] = [newMasterKey(), newMasterKey()];
        const [before, now] = [deploymentOf([k1, k2]), deploymentOf([k2, k1])];
        const { shop, endpoint, direct } = await stocked(before);
        const deps = rotateDependencies(now.world, { db: testDb, nowMs: Date.now() });
        let planned: Statement[] = [];
        let wallet = direct.id;
        const stretch = { after: 0, length: 1_000_000, keyIds: [k1.id] };
        const doStep = async (step: (typeof STEPS)[number]) => {
          switch (step) {
            case "plan":
              planned = [];
              for (const rows of KEYED_ROWS) {
                const ring = keyringOf(now.world, rows.keyring);
                if (!ring.ok) throw new Error(ring.error);
                planned.push(...(await planStretch(deps, { rows, ring: ring.value, stretch })).statements);
              }
              return;
            case "commit":
              if (planned.length > 0) await batch(testDb, planned);
              return;
            case "invoice":
            case "older invoice": {
              const at = step === "invoice" ? now : before;
              const body = { name: "Order", rawAmount: 10, paymentMethods: [BTC] };
              expect((await made(at, shop, "/invoices", body)).json.paymentMethods).toMatchObject([
                { status: "ACTIVE" },
              ]);
              return;
            }
            case "wallet":
              await testDb.update(wallets).set({ requiredConfirmations: 7 }).where(sql`id = ${wallet}`);
              return;
            case "rotate secret":
              expect((await shop.post(before, `/webhooks/${endpoint.id}/rotate-secret`, {})).status).toBe(200);
              return;
            case "replace wallet":
              await testDb.update(wallets).set({ deletedAtMs: Date.now() }).where(sql`id = ${wallet}`);
              wallet = (await made(before, shop, "/wallets", directWallet())).id;
          }
        };
        for (const step of steps) {
          await doStep(step);
          for (const at of [before, now]) {
            const verdicts = await verdictsOn(at, shop, endpoint.id);
            expect(
              verdicts.filter((verdict) => !/ verifies under r/.test(verdict)),
              step,
            ).toEqual([]);
          }
        }
        await now.rotate();
        expect(
          (await verdictsOn(now, shop, endpoint.id)).filter((verdict) => !verdict.endsWith(` verifies under ${k2.id}`)),
        ).toEqual([]);
      }),
      { numRuns: triesOf({ usual: 5, deep: 300 }) },
    );
  });

  it("do not overwrite an authenticator app's secret that was replaced during the run, and codes from a resealed secret are accepted", async () => {
    const [k1, k2] = [newMasterKey(), newMasterKey()];
    const [before, now] = [deploymentOf([k1]), deploymentOf([k2, k1])];
    const sealedBy = async ({ world }: Deployment, id: string, text: string) => {
      const ring = keyringOf(world, "SECRETS_AES_KEY");
      if (!ring.ok) throw new Error(ring.error);
      return { ring: ring.value, sealed: await seal(ring.value, totpContext(id), text) };
    };
    const ids = [freshId("usr"), freshId("usr")] as const;
    for (const id of ids) {
      const email = freshEmail();
      const { sealed } = await sealedBy(before, id, "SECRET");
      const row = newUserRow({ id, email, emailKey: email, nowMs: 1 });
      await testDb.insert(users).values({ ...row, totpSecret: sealed, totpEnabledAtMs: 5 });
    }
    const [replaced, kept] = ids;
    const deps = rotateDependencies(now.world, { db: testDb, nowMs: Date.now() });
    const { ring, sealed } = await sealedBy(now, replaced, "ANOTHER");
    const stretch = { after: 0, length: 1_000_000, keyIds: [k1.id] };
    const { statements, met } = await planStretch(deps, { rows: TOTP_ROWS, ring, stretch });
    expect(met).toEqual([k1.id, k1.id]);
    await testDb.update(users).set({ totpSecret: sealed }).where(sql`id = ${replaced}`);
    await batch(testDb, statements);
    const secretOf = async (id: string) =>
      (await testDb.select().from(users).where(sql`id = ${id}`))[0]?.totpSecret ?? "";
    expect(await secretOf(replaced)).toBe(sealed);
    expect(await secretOf(kept)).toMatch(new RegExp(`^v1\\.${k2.id}\\.`));
    expect(await unseal(ring, totpContext(kept), await secretOf(kept))).toBe("SECRET");
    // The time step of a code can still be recorded after the secret was resealed, but not if another app was set up since.
    await batch(testDb, acceptStep(testDb, { userId: kept, enabledAtMs: 5, step: 1 }));
    await expect(batch(testDb, acceptStep(testDb, { userId: kept, enabledAtMs: 6, step: 2 }))).rejects.toThrow();
  });
});
