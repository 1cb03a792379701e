// The sweep settles every merchant's due invoices in turn: the delay may depend on how many merchants have due invoices, but not on how many one
// merchant has.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, it } from "vitest";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { watchMethod } from "../../support/watched.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

/** The number of invoices that are older than the updated one. */
const nth = sql`(select count(*) from invoices older where older.id < invoices.id)`;

const MINUTE_MS = 60_000;

async function made(shop: TestMerchant): Promise<InvoiceId> {
  const answer = await shop.post("/invoices", { name: "Order", rawAmount: 10 });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

const sweepAt = (nowMs: number) => expireInvoices(invoiceDependencies(env, { db: testDb, nowMs, sleep }));
const statusOf = async (id: InvoiceId) =>
  (await testDb.select({ status: invoices.status }).from(invoices).where(eq(invoices.id, id)))[0]?.status;

afterEach(() => testDb.delete(invoices));

describe("the sweep", () => {
  it("expires a shop's invoice, however many of another merchant's are due at the same time", async () => {
    const [shop, flood] = [await freshMerchant(), await freshMerchant()];
    const mine = await made(shop);
    const theirs = await made(flood);
    await copyInvoice(theirs, 400);
    const nowMs = Date.now();
    const isTheirs = eq(invoices.merchantId, flood.merchantId);
    await testDb
      .update(invoices)
      .set({ expiresAtMs: sql`${nowMs - 2 * HOUR_MS} + (${nth} % 2) * ${HOUR_MS}` })
      .where(isTheirs);
    await testDb
      .update(invoices)
      .set({ expiresAtMs: nowMs - 1.5 * HOUR_MS })
      .where(eq(invoices.id, mine));
    await sweepAt(nowMs);
    expect(await statusOf(mine)).toBe("EXPIRED");
  });

  it("settles 140 invoices in one run if they all belong to one merchant", async () => {
    const flood = await freshMerchant();
    await copyInvoice(await made(flood), 400);
    await testDb.update(invoices).set({ expiresAtMs: sql`${Date.now() - HOUR_MS} + ${nth}` });
    expect((await sweepAt(Date.now())).settled).toBe(140);
  });

  it("pauses between its batches for as long as the last one took, within bounds, to leave the database to others", async () => {
    const flood = await freshMerchant();
    await copyInvoice(await made(flood), 120);
    await testDb.update(invoices).set({ expiresAtMs: Date.now() - HOUR_MS });
    const paused: number[] = [];
    const tookMs = [40, 3, 250, 12, 60];
    let nowMs = 0;
    let looks = 0;
    const clock = () => {
      looks += 1;
      if (looks % 2 === 0) nowMs += tookMs[looks / 2 - 1] ?? 0;
      return nowMs;
    };
    const deps = invoiceDependencies(env, {
      db: testDb,
      nowMs: Date.now(),
      // Anything longer is the time limit of a call, not a pause.
      sleep: (ms, cancellation) => {
        if (ms <= 100) paused.push(ms);
        return sleep(ms, cancellation);
      },
    });
    await expireInvoices({ ...deps, clock });
    expect(paused).toEqual([10, 40, 10, 100, 12]);
  });

  it("reaches each of 120 merchants within three runs, however many invoices of another one are due", async () => {
    const flood = await freshMerchant();
    await copyInvoice(await made(flood), 600);
    const nowMs = Date.now();
    await testDb.update(invoices).set({ expiresAtMs: sql`${nowMs - 2 * HOUR_MS} + (${nth} % 2) * ${HOUR_MS}` });
    const ids: InvoiceId[] = [];
    for (let n = 0; n < 120; n++) {
      const of = { network: "ETH", cryptocurrency: "USDT", address: `0x${n}`, nowMs: nowMs - 3 * HOUR_MS };
      ids.push(await watchMethod(testDb, { ...of, expiresAtMs: nowMs - 1.5 * HOUR_MS }));
    }
    await env.DB.prepare("delete from network_cursors").run();
    for (let run = 0; run < 3; run++) await sweepAt(nowMs + run * MINUTE_MS);
    const left = [];
    for (const id of ids) if ((await statusOf(id)) !== "EXPIRED") left.push(id);
    expect(left).toEqual([]);
  });
});
