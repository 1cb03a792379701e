import { env } from "cloudflare:workers";
import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { Invoice, InvoiceFile } from "../../../src/commerce/invoice-records/invoice.ts";
import { changeInvoice, readFile } from "../../../src/commerce/invoices/change-invoice.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { type Occasion, settlementChange } from "../../../src/commerce/invoices/settle-invoice.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { ok } from "../../../src/lib/result.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { send } from "../../support/access.ts";
import { seedPayment } from "../../support/payments.ts";
import { seedMember, seedUser } from "../../support/people.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

/** A 10 USD invoice created through the API and then set to `columns`. */
async function invoiceOf(shop: TestMerchant, columns: Partial<Invoice> = {}): Promise<InvoiceId> {
  const { body } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [] });
  const id: InvoiceId = body.id;
  if (Object.keys(columns).length > 0) await testDb.update(invoices).set(columns).where(eq(invoices.id, id));
  return id;
}

const past = () => ({ expiresAtMs: Date.now() - HOUR_MS, closedAtMs: Date.now() - HOUR_MS });
const expired = (): Partial<Invoice> => ({ ...past(), status: "EXPIRED" });
const STATES: Readonly<Record<string, () => Partial<Invoice>>> = {
  AWAITING_PAYMENT: () => ({}),
  EXPIRED: expired,
  UNDERPAID: () => ({ ...past(), status: "UNDERPAID", receivedMicros: 4_000_000n, confirmedMicros: 4_000_000n }),
  CANCELLED: () => ({ status: "CANCELLED", cancelledAtMs: Date.now() - HOUR_MS }),
};

const resolve = (shop: TestMerchant, id: string, action: string, more: object = {}) =>
  shop.post(`/invoices/${id}/resolve`, { action, reason: "They called us", ...more });
const eventsOf = (id: InvoiceId) =>
  testDb.select().from(events).where(eq(events.invoiceId, id)).orderBy(asc(events.sequence));
const typesOf = async (id: InvoiceId) => (await eventsOf(id)).map(({ type }) => type).slice(1);
const auditOf = (id: InvoiceId) =>
  testDb.select().from(auditEvents).where(eq(auditEvents.target, id)).orderBy(asc(auditEvents.createdAtMs));
const reviewQueue = async (shop: TestMerchant, flag = true) =>
  (await shop.get(`/invoices?needsReview=${flag}`)).body.data.map(({ id }: { id: string }) => id);

/** Changes the invoice as a watcher does. */
async function changed(shop: TestMerchant, id: InvoiceId, occasionOf: (file: InvoiceFile) => Occasion) {
  const deps = { ...invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep }), trail: SYSTEM_TRAIL };
  const file = await readFile(deps, shop.merchantId, id);
  if (!file.ok || file.value === undefined) throw new Error(`${id} cannot be read`);
  const of = { merchantId: shop.merchantId, id, read: file.value };
  const made = await changeInvoice(deps, of, async (read) => ok(settlementChange(read, deps.nowMs, occasionOf(read))));
  if (!made.ok) throw new Error(made.error.code);
  return made.value.invoice;
}

/** A payment that arrived after the invoice's end. */
async function payLate(shop: TestMerchant, id: InvoiceId): Promise<void> {
  const credited = { invoiceId: id, matchedBy: "ADDRESS", status: "CONFIRMED" } as const;
  const payment = await seedPayment(shop.merchantId, { ...credited, receivedAtMs: Date.now() });
  const news = [{ type: "payment.detected", paymentId: payment.id }] as const;
  await changed(shop, id, () => ({ payments: [payment], news }));
}

describe("ACCEPT", () => {
  it.each(Object.keys(STATES))(
    "makes an invoice in %s PAID in one step, and records who decided and why",
    async (status) => {
      const shop = await freshMerchant();
      const id = await invoiceOf(shop, { ...STATES[status]?.(), needsReview: status === "EXPIRED" });
      const { status: httpStatus, body, text } = await resolve(shop, id, "ACCEPT");
      expect([httpStatus, body.status, body.needsReview], text).toEqual([200, "PAID", false]);
      expect(body.resolution).toStrictEqual({
        action: "ACCEPT",
        reason: "They called us",
        txHash: null,
        actor: expect.stringMatching(/^key_/),
        at: body.updatedAt,
      });
      expect(body.invoiceTimeline.at(-1)).toMatchObject({ paymentStatus: "PAID" });
      expect(body.invoiceTimeline).toHaveLength(2);
      expect((await shop.get(`/invoices/${id}`)).body).toEqual(body);
      expect(await typesOf(id)).toEqual(["invoice.paid", "payment.paid"]);
      const [, entry] = await auditOf(id);
      expect(entry).toMatchObject({ action: "invoice.resolved", actorKind: "API_KEY" });
      expect(JSON.parse(entry?.after ?? "")).toMatchObject({ status: "PAID", resolution: "ACCEPT" });
      expect(JSON.stringify(await auditOf(id))).not.toContain("They called us");
    },
  );

  it.each(["PAID", "OVERPAID", "PENDING_CONFIRMATION"] as const)("is refused in %s", async (status) => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop, { status });
    const { status: httpStatus, body } = await resolve(shop, id, "ACCEPT");
    expect([httpStatus, body.code]).toEqual([422, "INVOICE_NOT_RESOLVABLE"]);
    expect(await typesOf(id)).toEqual([]);
  });

  it("takes effect once when requested several times at once", async () => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop);
    const answers = await Promise.all([1, 2, 3].map(() => resolve(shop, id, "ACCEPT")));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    expect(await typesOf(id)).toEqual(["invoice.paid", "payment.paid"]);
  });

  it("is final, no matter what is decided later about late payments", async () => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop, expired());
    await resolve(shop, id, "ACCEPT");
    await payLate(shop, id);
    expect(await reviewQueue(shop)).toEqual([id]);
    for (const action of ["RETURNED", "DISMISS"]) {
      await testDb.update(invoices).set({ needsReview: true }).where(eq(invoices.id, id));
      const { body } = await resolve(shop, id, action);
      expect([body.status, body.needsReview, body.resolution.action]).toEqual(["PAID", false, action]);
      expect(Object.keys(body.resolution)).toEqual(["action", "reason", "actor", "at", "txHash"]);
    }
    expect((await shop.get(`/invoices/${id}`)).body.status).toBe("PAID");
    expect(await typesOf(id)).not.toContain("invoice.reversed");
  });
});

describe("DISMISS and RETURNED", () => {
  it.each(["DISMISS", "RETURNED"])(
    "%s takes an invoice out of the review queue and keeps its status",
    async (action) => {
      const shop = await freshMerchant();
      const id = await invoiceOf(shop, expired());
      const other = await invoiceOf(shop);
      await payLate(shop, id);
      expect([await reviewQueue(shop), await reviewQueue(shop, false)]).toEqual([[id], [other]]);
      const txHash = "ab".repeat(32);
      const { status, body, text } = await resolve(shop, id, action, { txHash });
      expect([status, body.status, body.needsReview, body.isLate], text).toEqual([200, "EXPIRED", false, true]);
      expect(body.resolution).toMatchObject({ action, txHash });
      expect(await reviewQueue(shop)).toEqual([]);
      expect((await typesOf(id)).slice(-2)).toEqual(["invoice.payment_late", "invoice.updated"]);
    },
  );

  it("are reverted only by new late payments, not by later settlements", async () => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop, expired());
    await payLate(shop, id);
    await resolve(shop, id, "DISMISS");
    const moved = await changed(shop, id, ({ payments }) => ({
      payments: payments.map((payment) => ({ ...payment, blockHeight: 101 })),
    }));
    expect([moved.needsReview, moved.isLate]).toEqual([false, true]);
    // The database maintains the time of the search index by itself.
    expect(await changed(shop, id, () => ({}))).toEqual({ ...moved, indexedAtMs: moved.updatedAtMs });
    await payLate(shop, id);
    expect(await reviewQueue(shop)).toEqual([id]);
  });

  it("are refused when nothing needs review", async () => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop);
    for (const action of ["DISMISS", "RETURNED"]) {
      const { status, body } = await resolve(shop, id, action);
      expect([status, body.code]).toEqual([422, "NOTHING_TO_REVIEW"]);
    }
  });
});

describe("resolving an invoice", () => {
  it("records who did it, even for a user in a session", async () => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop);
    const { userId, headers } = await seedUser();
    await seedMember(shop.merchantId, userId, "ADMIN");
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices/${id}/resolve`;
    const body = { action: "ACCEPT", reason: "Paid in cash" };
    const { status, json } = await send(path, { method: "POST", headers, body });
    expect([status, json?.resolution]).toMatchObject([200, { actor: userId, reason: "Paid in cash" }]);
    expect((await auditOf(id)).at(-1)).toMatchObject({ actorKind: "USER", actorId: userId });
  });

  it("finds neither another merchant's invoice nor an unknown one", async () => {
    const shop = await freshMerchant();
    const foreign = await invoiceOf(await freshMerchant());
    for (const id of [foreign, freshId("inv"), "inv_1"]) {
      const { status, body } = await resolve(shop, id, "ACCEPT");
      expect([status, body.code]).toEqual([404, "INVOICE_NOT_FOUND"]);
    }
  });

  it.each([
    [{ action: "PAY" }, "action"],
    [{ reason: "" }, "reason"],
    [{ reason: undefined }, "reason"],
    [{ reason: "x".repeat(501) }, "reason"],
    [{ txHash: "" }, "txHash"],
    [{ note: "x" }, "note"],
  ])("requires a valid action and reason: %j", async (changes, path) => {
    const shop = await freshMerchant();
    const id = await invoiceOf(shop);
    const { status, body } = await resolve(shop, id, "ACCEPT", changes);
    expect([status, body.details?.[0]?.path]).toEqual([400, path]);
  });
});
