// The sweep through its own entry, once a minute: it settles due invoices, releases amounts that are no longer watched and deletes old answers, each
// independently of the others.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { type InvoiceId, newUlid } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices, paymentMethods, timelineItems } from "../../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { operations } from "../../../src/platform/db/schema/operations.ts";
import { amountsAt } from "../../support/amounts.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import { type Answer, freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

/** The types of the event about an expiry: the current name and the older one. */
const EXPIRED = ["invoice.expired", "payment.expired"];

async function sweep(): Promise<void> {
  await runJobs();
}

/** Runs the sweep; returns the errors that it logs. */
async function sweepErrors(): Promise<readonly unknown[]> {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    await sweep();
    return log.mock.calls.map(([line]) => JSON.parse(String(line)));
  } finally {
    log.mockRestore();
  }
}

async function freshShop(): Promise<TestMerchant> {
  const shop = await freshMerchant();
  expect((await shop.post("/wallets", directWallet())).status).toBe(201);
  return shop;
}

async function created(shop: TestMerchant): Promise<Answer["body"]> {
  const { status, body, text } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] });
  expect([status, body.paymentMethods?.[0]?.status], text).toEqual([201, "ACTIVE"]);
  return body;
}

/** Moves the end of invoices, and the end of their monitoring, into the past. */
const makeDue = (made: readonly { readonly id: InvoiceId }[], agoMs = 1_000) =>
  testDb
    .update(invoices)
    .set({ expiresAtMs: Date.now() - agoMs, monitorUntilMs: Date.now() - agoMs + 1 })
    .where(
      inArray(
        invoices.id,
        made.map(({ id }) => id),
      ),
    );

/** Sets an unknown network, which prevents settlement. */
const break_ = (id: InvoiceId) =>
  testDb.update(paymentMethods).set({ network: "MOON" }).where(eq(paymentMethods.invoiceId, id));

const statusOf = async (id: InvoiceId) =>
  (await testDb.select({ status: invoices.status }).from(invoices).where(eq(invoices.id, id)))[0]?.status;

/** The invoice's row, timeline and events, all of which a sweep may write. */
const traceOf = (id: InvoiceId) =>
  testDb.batch([
    testDb.select().from(timelineItems).where(eq(timelineItems.invoiceId, id)).orderBy(timelineItems.position),
    testDb.select().from(events).where(eq(events.invoiceId, id)).orderBy(events.sequence),
    testDb.select().from(invoices).where(eq(invoices.id, id)),
  ]);

async function plantOldOperation(shop: TestMerchant, ageMs: number): Promise<string> {
  const id = newUlid(Date.now() - ageMs, crypto.getRandomValues(new Uint8Array(16)));
  const row = { id, merchantId: shop.merchantId, status: 201, body: "{}", createdAtMs: Date.now() - ageMs };
  await testDb.insert(operations).values(row);
  return id;
}

const operationsOf = async (shop: TestMerchant) =>
  (await testDb.select({ id: operations.id }).from(operations).where(eq(operations.merchantId, shop.merchantId))).map(
    ({ id }) => id,
  );

const heldOf = (id: InvoiceId) =>
  testDb.$count(methodAmounts, and(eq(methodAmounts.invoiceId, id), isNull(methodAmounts.releasedAtMs)));
/** Makes the holds on the invoice's amounts end at that time. */
async function releaseAt(id: InvoiceId, atMs: number): Promise<void> {
  const ends = { heldUntilMs: atMs, releaseAfterMs: atMs };
  const rows = await testDb.update(methodAmounts).set(ends).where(eq(methodAmounts.invoiceId, id)).returning();
  for (const row of rows)
    await runInDurableObject(amountsAt(row), (_, { storage }) => {
      storage.sql.exec("UPDATE amounts SET held_until_ms = ? WHERE invoice_id = ?", atMs, id);
    });
}

/** A merchant's counter of active invoices, and their real count. */
async function activeOf(shop: TestMerchant): Promise<readonly [counter: number | undefined, real: number]> {
  const [row] = await testDb
    .select({ n: merchants.activeInvoices })
    .from(merchants)
    .where(eq(merchants.id, shop.merchantId));
  const isActive = sql`${invoices.merchantId} = ${shop.merchantId} and ${invoices.status} in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')`;
  return [row?.n, await testDb.$count(invoices, isActive)];
}

// Invoices that one test leaves due must not affect the next.
afterEach(() => testDb.update(invoices).set({ status: "CANCELLED" }).where(eq(invoices.status, "AWAITING_PAYMENT")));

describe("the sweep", () => {
  it("settles a due invoice with one timeline item and one event, and no other invoice", async () => {
    const shop = await freshShop();
    const [due, open] = [await created(shop), await created(shop)];
    await makeDue([due]);
    const before = await traceOf(open.id);
    expect(await sweepErrors()).toEqual([]);
    const [items, written, [row]] = await traceOf(due.id);
    expect(items.map(({ position, paymentStatus }) => [position, paymentStatus])).toEqual([
      [1, "AWAITING_PAYMENT"],
      [2, "EXPIRED"],
    ]);
    expect(written.map(({ type }) => type)).toEqual(["invoice.created", "payment.created", ...EXPIRED]);
    expect(row?.status).toBe("EXPIRED");
    expect(await traceOf(open.id)).toEqual(before);
  });

  it("changes nothing more when it runs again, or twice at once", async () => {
    const shop = await freshShop();
    const made = [await created(shop), await created(shop), await created(shop)];
    await makeDue(made);
    // Runs without the job's lease, which allows one run at a time, because a lease may end before its run does.
    const run = () => expireInvoices(invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep }));
    await Promise.all([run(), run(), sweep(), sweep()]);
    const traces = await Promise.all(made.map(({ id }) => traceOf(id)));
    for (const [items, written] of traces) {
      expect(items).toHaveLength(2);
      expect(written.map(({ type }) => type)).toEqual(["invoice.created", "payment.created", ...EXPIRED]);
    }
    await sweep();
    expect(await Promise.all(made.map(({ id }) => traceOf(id)))).toEqual(traces);
  });

  it("reports an invoice that cannot be settled, settles the others, releases amounts and deletes expired operations", async () => {
    const shop = await freshShop();
    const [broken, due, finished] = [await created(shop), await created(shop), await created(shop)];
    expect((await shop.post(`/invoices/${finished.id}/cancel`)).status).toBe(200);
    await makeDue([broken], 2_000);
    await makeDue([due]);
    await break_(broken.id);
    await releaseAt(finished.id, Date.now() - 1);
    const [old, young] = [await plantOldOperation(shop, 26 * HOUR_MS), await plantOldOperation(shop, 24 * HOUR_MS)];
    expect(await sweepErrors()).toEqual([
      {
        level: "error",
        alert: "invoices left unsettled",
        left: [{ invoiceId: broken.id, reason: "Error" }],
      },
    ]);
    expect([await statusOf(broken.id), await statusOf(due.id)]).toEqual(["AWAITING_PAYMENT", "EXPIRED"]);
    expect(await heldOf(finished.id)).toBe(0);
    expect(await operationsOf(shop)).toContain(young);
    expect(await operationsOf(shop)).not.toContain(old);
  });

  it("reaches the newest invoice despite any number of older ones that cannot be settled", async () => {
    const shop = await freshShop();
    const [broken, due] = [await created(shop), await created(shop)];
    await makeDue([broken], HOUR_MS);
    await makeDue([due]);
    await break_(broken.id);
    await copyInvoice(broken.id, 160);
    const [error] = await sweepErrors();
    expect(error).toMatchObject({ left: expect.arrayContaining([{ invoiceId: broken.id, reason: "Error" }]) });
    expect(await statusOf(due.id)).toBe("EXPIRED");
  });

  it("reports why it left an invoice unsettled: the code of the refusal or the database's message, but no data from rows", async () => {
    const shop = await freshShop();
    const [contended, refused] = [await created(shop), await created(shop)];
    await makeDue([contended], 2_000);
    await makeDue([refused]);
    // The next sequence number of one invoice's events is taken, and a trigger refuses the change to the other invoice.
    const taken = { merchantId: shop.merchantId, type: "ping", data: "{}", createdAtMs: 0 } as const;
    await testDb.insert(events).values({ ...taken, id: freshId("evt"), invoiceId: contended.id, sequence: 3 });
    await env.DB.prepare(
      `create trigger sweep_refused before update on invoices when old.id = '${refused.id}' and new.status = 'EXPIRED'
       begin select raise(abort, 'the disk says no'); end`,
    ).run();
    try {
      const [error] = await sweepErrors();
      expect(error).toEqual({
        level: "error",
        alert: "invoices left unsettled",
        left: [
          { invoiceId: contended.id, reason: "CONTENTION" },
          { invoiceId: refused.id, reason: expect.stringMatching(/^D1_ERROR: the disk says no/) },
        ],
      });
    } finally {
      await env.DB.prepare("drop trigger sweep_refused").run();
    }
  });

  it("releases amounts and deletes expired operations even if due invoices cannot be queried, but fails, so that the platform reports it", async () => {
    const shop = await freshShop();
    const finished = await created(shop);
    expect((await shop.post(`/invoices/${finished.id}/cancel`)).status).toBe(200);
    await releaseAt(finished.id, Date.now() - 1);
    const old = await plantOldOperation(shop, 26 * HOUR_MS);
    await env.DB.prepare("alter table unsettled_invoices rename to unsettled_away").run();
    try {
      await expect(sweep()).rejects.toThrow();
    } finally {
      await env.DB.prepare("alter table unsettled_away rename to unsettled_invoices").run();
    }
    expect(await heldOf(finished.id)).toBe(0);
    expect(await operationsOf(shop)).not.toContain(old);
  });

  it("does not release amounts that are still watched, or amounts of an active invoice", async () => {
    const shop = await freshShop();
    const [watched, active] = [await created(shop), await created(shop)];
    expect((await shop.post(`/invoices/${watched.id}/cancel`)).status).toBe(200);
    await releaseAt(active.id, Date.now() - 1);
    await sweep();
    expect([await heldOf(watched.id), await heldOf(active.id)]).toEqual([1, 1]);
  });
});

describe("the counter of a merchant's active invoices", () => {
  it("is the real count after creations, cancellations, expiries and moves between active states", async () => {
    const [shop, other] = [await freshShop(), await freshShop()];
    const made: Answer["body"][] = [];
    for (let n = 0; n < 6; n++) made.push(await created(shop));
    const theirs = await created(other);
    expect(await activeOf(shop)).toEqual([6, 6]);
    const [first, second, third] = made;
    for (const { id } of [first, second]) expect((await shop.post(`/invoices/${id}/cancel`)).status).toBe(200);
    // A second cancel is refused, and does not change the count.
    expect((await shop.post(`/invoices/${first.id}/cancel`)).status).toBe(422);
    expect(await activeOf(shop)).toEqual([4, 4]);
    await makeDue([third, theirs]);
    await sweep();
    expect([await activeOf(shop), await activeOf(other)]).toEqual([
      [3, 3],
      [0, 0],
    ]);
    const moved = async (status: "PENDING_CONFIRMATION" | "PAID" | "AWAITING_PAYMENT") => {
      await testDb.update(invoices).set({ status }).where(eq(invoices.id, made[3].id));
      return activeOf(shop);
    };
    expect(await moved("PENDING_CONFIRMATION")).toEqual([3, 3]);
    expect(await moved("PAID")).toEqual([2, 2]);
    expect(await moved("PENDING_CONFIRMATION")).toEqual([3, 3]);
    expect(await moved("AWAITING_PAYMENT")).toEqual([3, 3]);
  });
});
