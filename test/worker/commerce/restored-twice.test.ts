// A database that is restored more than once.
import { env } from "cloudflare:workers";
import { eq, inArray } from "drizzle-orm";
import { expect, it } from "vitest";
import { runRestore } from "../../../src/commerce/restores/run-restore.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { isoTime, MINUTE_MS } from "../../../src/lib/time.ts";
import { restores } from "../../../src/platform/db/schema/restores.ts";
import { readRestoreStage } from "../../../src/platform/deployment/read-deployment.ts";
import { copyDatabase } from "../../support/copy-database.ts";
import { ownDatabase } from "../../support/production.ts";
import { importLost, putPhase, restoredEnv, restoreRun } from "../../support/restores.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const numberOf = (restored: Env) => Number.parseInt(restored.RESTORE_EPOCH, 10);

it("a restore to a time during an earlier import also recovers what that import had not yet recovered", async () => {
  const shop = await freshMerchant();
  await expectStatus(shop.post("/wallets", xpubWallet()), 201);
  const putBack = await copyDatabase();
  const first = restoredEnv(Date.now());
  const order = { name: "Order", rawAmount: 10, paymentMethods: [BTC] };
  const lost = await expectStatus(shop.post("/invoices", order), 201);
  await putBack();
  // The first import began at the minute to which the second restore goes back.
  await putPhase(first, "REVOCATIONS");
  const second = restoredEnv(Date.now() + 20 * MINUTE_MS);
  await importLost(second);
  expect(await expectStatus(shop.get(`/invoices/${lost.id}`), 200)).toMatchObject({ warnings: ["RESTORED"] });
  const rows = await testDb
    .select()
    .from(restores)
    .where(inArray(restores.epoch, [numberOf(first), numberOf(second)]));
  expect(rows.map(({ phase }) => phase)).toEqual(["DONE", "DONE"]);
});

it("a restore with the epoch number of an earlier one keeps the deployment closed, and imports nothing", async () => {
  const used = restoredEnv(Date.now());
  await putPhase(used, "DONE");
  const again = { ...used, DB: ownDatabase(), RESTORE_EPOCH: `${numberOf(used)}@${isoTime(Date.now() + MINUTE_MS)}` };
  expect(await readRestoreStage(again, sleep)).toEqual({ ok: true, value: "CLOSED" });
  expect(await runRestore(restoreRun(again))).toBe("nothing");
  const [row] = await testDb
    .select()
    .from(restores)
    .where(eq(restores.epoch, numberOf(used)));
  expect(row).toMatchObject({ phase: "DONE" });
  expect(await readRestoreStage({ ...used, DB: ownDatabase() }, sleep)).toEqual({ ok: true, value: "OPEN" });
  expect(env.RESTORE_EPOCH).toBe("");
});
