// The calls of the database that a run of each job makes, most of them one after the other. The queue's consumer runs wherever the platform chooses, so each
// may be a trip around the world (docs/design/records/place-of-jobs.md).
import { env } from "cloudflare:workers";
import { and, eq, like } from "drizzle-orm";
import { expect, it } from "vitest";
import { JOB_NAMES, type JobName, runJobMessage } from "../../../src/app/jobs.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { freshEmail } from "../../support/browser.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { paidOrder } from "../../support/receipts.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

async function callsOf(job: JobName): Promise<number> {
  const { bindings, calls } = countingEnv();
  const afterwards: Promise<unknown>[] = [];
  const background = (work: Promise<unknown>) => afterwards.push(work);
  await runJobMessage({ job, minuteMs: Date.now(), runs: 0 }, { ...env, ...bindings }, background);
  await Promise.all(afterwards);
  return calls.filter((call) => call.startsWith("D1")).length;
}

it("a job that finds nothing to do makes three to five D1 calls", async () => {
  // What other tests have left.
  for (const job of JOB_NAMES) await callsOf(job);
  for (const job of JOB_NAMES) {
    const calls = await callsOf(job);
    expect([job, calls >= 3, calls <= 5]).toEqual([job, true, true]);
  }
});

it("a sweep that settles 140 invoices makes 17 D1 calls", async () => {
  const shop = await freshMerchant();
  await shop.post("/wallets", directWallet());
  const { body, text } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] });
  expect(body.id, text).toBeDefined();
  await copyInvoice(body.id, 149);
  const ofThisTest = like(invoices.id, `${body.id}%`);
  const [expiresAtMs, monitorUntilMs] = [Date.now() - 1_000, Date.now() - 999];
  await testDb.update(invoices).set({ expiresAtMs, monitorUntilMs }).where(ofThisTest);
  expect(await callsOf("expire")).toBe(17);
  expect(await testDb.$count(invoices, and(ofThisTest, eq(invoices.status, "EXPIRED")))).toBe(140);
});

it("the receipts job makes five D1 calls per run, two more for every five receipts, and two more for each receipt", async () => {
  const shop = await freshMerchant();
  for (let n = 0; n < 25; n++) await paidOrder(shop, freshEmail());
  expect(await callsOf("receipts")).toBe(5 + 2 * 5 + 2 * 25);
});
