// What a plugin reads about an invoice and receives by webhook when the invoice is paid, partly paid, paid late, overpaid, reversed, marked by a user
// or expired.
import { env } from "cloudflare:workers";
import { desc, eq } from "drizzle-orm";
import { describe, expect, inject, it } from "vitest";
import { changeInvoice, readFile } from "../../../../src/commerce/invoices/change-invoice.ts";
import { invoiceDependencies } from "../../../../src/commerce/invoices/dependencies.ts";
import { settlementChange } from "../../../../src/commerce/invoices/settle-invoice.ts";
import type { Payment } from "../../../../src/commerce/payments/payment.ts";
import { bytesToHex, utf8ToBytes } from "../../../../src/lib/bytes.ts";
import { hmacSha256 } from "../../../../src/lib/hmac.ts";
import type { InvoiceId } from "../../../../src/lib/ids.ts";
import { ok } from "../../../../src/lib/result.ts";
import { sleep } from "../../../../src/lib/sleep.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";
import { deliverMessages } from "../../../../src/notifications/deliveries/dependencies.ts";
import { noticeDependencies } from "../../../../src/notifications/notices/dependencies.ts";
import { sendNotices } from "../../../../src/notifications/notices/send-notices.ts";
import { SYSTEM_TRAIL } from "../../../../src/platform/audit/entry.ts";
import { auditEvents } from "../../../../src/platform/db/schema/audit-events.ts";
import { invoices } from "../../../../src/platform/db/schema/invoices.ts";
import { notices } from "../../../../src/platform/db/schema/notices.ts";
import { payments } from "../../../../src/platform/db/schema/payments.ts";
import { deliveries, webhooks } from "../../../../src/platform/db/schema/webhooks.ts";
import { type Ask, seedKey, send } from "../../../support/access.ts";
import { mailsTo } from "../../../support/browser.ts";
import { idIn } from "../../../support/id-in.ts";
import { seedPayment } from "../../../support/payments.ts";
import { receiverAt } from "../../../support/receiver-control.ts";
import { freshTeam } from "../../../support/teams.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../../support/worker-merchant.ts";

const receiver = receiverAt(inject("receiverOrigin"));
const SECRET = "0123456789abcdef0123456789abcdef0123456789abcdef";

type Shop = Awaited<ReturnType<typeof pluginShop>>;
type Known = Pick<TestMerchant, "merchantId" | "secret">;

/** A merchant as a plugin sees it, with an endpoint for every event. */
async function pluginShop(known?: Known) {
  const { merchantId, secret } = known ?? (await freshMerchant());
  const call = async (method: string, rest: string, body?: unknown, ask: Ask = {}) => {
    const { status, text } = await send(`/api/v1/stores/${merchantId}${rest}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { authorization: `token ${secret}`, ...ask.headers },
    });
    // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a response
    return { status, text, body: text === "" ? undefined : (JSON.parse(text) as any) };
  };
  const key = crypto.randomUUID();
  const hook = await call("POST", "/webhooks", {
    url: receiver.url("ok", key),
    authorizedEvents: { everything: true },
    secret: SECRET,
  });
  expect(hook.status, hook.text).toBe(200);
  return { merchantId, call, key, hook: hook.body };
}

async function order(shop: Shop, more: object = {}): Promise<InvoiceId> {
  const made = await shop.call("POST", "/invoices", {
    amount: "10",
    currency: "USD",
    metadata: { orderId: "7", taxIncluded: 1.5 },
    ...more,
  });
  expect(made.status, made.text).toBe(200);
  return idIn("inv", made.body.id);
}

/** Changes the invoice as a watcher does; returns it. */
async function changed(
  shop: Shop,
  id: InvoiceId,
  payment: Payment,
  type: "payment.detected" | "payment.confirmed" | "payment.dropped",
) {
  const deps = { ...invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep }), trail: SYSTEM_TRAIL };
  const file = await readFile(deps, shop.merchantId, id);
  if (!file.ok) throw new Error(file.error.code);
  const occasion = { payments: [payment], events: [{ type, paymentId: payment.id }] };
  const of = { merchantId: shop.merchantId, id, read: file.value };
  const done = await changeInvoice(deps, of, async (read) => ok(settlementChange(read, deps.nowMs, occasion)));
  if (!done.ok) throw new Error(done.error.code);
}

/** A payment worth this many dollars. */
async function pay(shop: Shop, id: InvoiceId, dollars: number, of: Partial<Payment> = {}): Promise<Payment> {
  const worth = { fiatMicros: BigInt(dollars) * 1_000_000n, receivedAtMs: Date.now() };
  const payment = await seedPayment(shop.merchantId, {
    invoiceId: id,
    matchedBy: "MANUAL",
    status: "CONFIRMED",
    ...worth,
    ...of,
  });
  await changed(shop, id, payment, payment.status === "CONFIRMED" ? "payment.confirmed" : "payment.detected");
  return payment;
}

async function end(id: InvoiceId): Promise<void> {
  const past = Date.now() - HOUR_MS;
  await testDb
    .update(invoices)
    .set({ createdAtMs: past - 1, expiresAtMs: past, closedAtMs: past })
    .where(eq(invoices.id, id));
}

async function stateOf(shop: Shop, id: InvoiceId): Promise<string> {
  const { body } = await shop.call("GET", `/invoices/${id}`);
  return `${body.status}/${body.additionalStatus}`;
}

/** The deliveries to the endpoint, each with a valid signature. */
async function received(shop: Shop) {
  for (let rounds = 0; rounds < 3; rounds++)
    await deliverMessages([{ body: { webhookId: shop.hook.id } }], env, () => {});
  const log = await receiver.log(shop.key);
  return Promise.all(
    log.map(async ({ body, headers }) => {
      const mac = bytesToHex(await hmacSha256(utf8ToBytes(SECRET), utf8ToBytes(body)));
      expect(headers["btcpay-sig"]).toBe(`sha256=${mac}`);
      expect(Object.keys(headers).filter((name) => name.startsWith("webhook-"))).toEqual([]);
      return JSON.parse(body);
    }),
  );
}

const typesAt = async (shop: Shop) => (await received(shop)).map(({ type }) => type);

describe("an order", () => {
  it("that is paid is New, then Processing, then Settled, and each webhook has the shop's own metadata", async () => {
    const shop = await pluginShop();
    const id = await order(shop);
    expect(await stateOf(shop, id)).toBe("New/None");
    const seen = await pay(shop, id, 10, { status: "DETECTED", confirmations: 0 });
    expect(await stateOf(shop, id)).toBe("Processing/None");
    await testDb.update(payments).set({ status: "CONFIRMED" }).where(eq(payments.id, seen.id));
    await changed(shop, id, { ...seen, status: "CONFIRMED", confirmations: 3 }, "payment.confirmed");
    expect(await stateOf(shop, id)).toBe("Settled/None");
    const all = await received(shop);
    expect(all.map(({ type }) => type).sort()).toEqual([
      "InvoiceCreated",
      "InvoicePaymentSettled",
      "InvoiceProcessing",
      "InvoiceReceivedPayment",
      "InvoiceSettled",
    ]);
    const settled = all.find(({ type }) => type === "InvoiceSettled");
    expect(settled).toEqual({
      deliveryId: expect.stringMatching(/^dlv_/),
      webhookId: shop.hook.id,
      originalDeliveryId: settled.deliveryId,
      isRedelivery: false,
      type: "InvoiceSettled",
      timestamp: expect.any(Number),
      storeId: shop.merchantId,
      invoiceId: id,
      metadata: { orderId: "7", taxIncluded: 1.5 },
      manuallyMarked: false,
      overPaid: false,
    });
    const got = all.find(({ type }) => type === "InvoiceReceivedPayment");
    expect(got).toMatchObject({
      afterExpiration: false,
      paymentMethodId: "USDT-ETH",
      payment: { status: "Processing", value: "10" },
    });
  });

  it("that is underpaid and expired is Expired/PaidPartial, and the webhook says so", async () => {
    const shop = await pluginShop();
    const id = await order(shop);
    await pay(shop, id, 4);
    expect(await stateOf(shop, id)).toBe("New/PaidPartial");
    await end(id);
    await testDb
      .update(payments)
      .set({ receivedAtMs: Date.now() - 2 * HOUR_MS })
      .where(eq(payments.invoiceId, id));
    expect(await stateOf(shop, id)).toBe("Expired/PaidPartial");
    expect(await received(shop)).toContainEqual(
      expect.objectContaining({ type: "InvoiceExpired", partiallyPaid: true }),
    );
  });

  it("that is not paid on time is Expired, and Expired/PaidLate once it has been paid in full and confirmed", async () => {
    const shop = await pluginShop();
    const id = await order(shop);
    await end(id);
    expect(await stateOf(shop, id)).toBe("Expired/None");
    expect(await received(shop)).toContainEqual(
      expect.objectContaining({ type: "InvoiceExpired", partiallyPaid: false }),
    );
    await pay(shop, id, 9, { isLate: true });
    expect(await stateOf(shop, id)).toBe("Expired/PaidPartial");
    const rest = await pay(shop, id, 1, { status: "DETECTED", confirmations: 0, isLate: true });
    expect(await stateOf(shop, id)).toBe("Expired/PaidPartial");
    await testDb.update(payments).set({ status: "CONFIRMED" }).where(eq(payments.id, rest.id));
    expect(await stateOf(shop, id)).toBe("Expired/PaidLate");
    const late = (await received(shop)).filter(({ type }) => type === "InvoiceReceivedPayment");
    expect(late).toMatchObject([{ afterExpiration: true }]);
  });

  it.each([
    // Two parts of the whole amount: each part's value is rounded down.
    ["PaidLate", [3_333_333n, 6_666_666n]],
    ["PaidPartial", [3_333_332n, 6_666_666n]],
    ["PaidPartial", [9_999_999n]],
  ])("that is paid late, in one part or several, is %s", async (additionalStatus, parts) => {
    const shop = await pluginShop();
    const id = await order(shop);
    await end(id);
    for (const fiatMicros of parts) await pay(shop, id, 0, { fiatMicros, isLate: true });
    expect(await stateOf(shop, id)).toBe(`Expired/${additionalStatus}`);
  });

  it("that is overpaid is Settled/PaidOver", async () => {
    const shop = await pluginShop();
    const id = await order(shop);
    await pay(shop, id, 20);
    expect(await stateOf(shop, id)).toBe("Settled/PaidOver");
    expect(await received(shop)).toContainEqual(expect.objectContaining({ type: "InvoiceSettled", overPaid: true }));
  });

  it("that was paid and reversed is Invalid, also in its webhook, and needs review", async () => {
    const shop = await pluginShop();
    const id = await order(shop);
    const payment = await pay(shop, id, 10);
    expect(await stateOf(shop, id)).toBe("Settled/None");
    await testDb.update(payments).set({ status: "DROPPED" }).where(eq(payments.id, payment.id));
    await changed(shop, id, { ...payment, status: "DROPPED" }, "payment.dropped");
    expect(await stateOf(shop, id)).toBe("Invalid/None");
    const types = await typesAt(shop);
    expect(types.filter((type) => type === "InvoiceInvalid").length).toBeGreaterThan(0);
    expect(types.at(-1)).toBe("InvoiceInvalid");
  });
});

describe("an order that a user marks as settled", () => {
  it("is reported by webhook, audited and emailed, is not PAID in our own API, and a repeat changes nothing", async () => {
    const { team, owner } = await freshTeam();
    const shop = await pluginShop({ merchantId: team.merchantId, secret: await seedKey(team.merchantId) });
    const id = await order(shop);
    const marked = await shop.call("POST", `/invoices/${id}/status`, { status: "Settled" });
    expect([marked.status, marked.body.status, marked.body.additionalStatus]).toEqual([200, "Settled", "Marked"]);
    const again = await shop.call("POST", `/invoices/${id}/status`, { status: "Settled" });
    expect(again.body).toEqual(marked.body);
    const own = await owner.as.get(`${team.merchant}/invoices/${id}`);
    expect(own.body).toMatchObject({ status: "AWAITING_PAYMENT", resolution: { action: "MARK" } });
    const [entry] = await testDb
      .select()
      .from(auditEvents)
      .where(eq(auditEvents.target, id))
      .orderBy(desc(auditEvents.id));
    expect(entry).toMatchObject({ action: "invoice.resolved" });
    const mails = await mailsTo(owner.email);
    expect(JSON.stringify(mails)).toContain(id);
    const settled = (await received(shop)).filter(({ type }) => type === "InvoiceSettled");
    expect(settled).toMatchObject([{ manuallyMarked: true, overPaid: false }]);
  });

  it("causes one email for all orders marked within ten minutes, and no other request by a user leads to PAID", async () => {
    const { team, owner } = await freshTeam();
    const shop = await pluginShop({ merchantId: team.merchantId, secret: await seedKey(team.merchantId) });
    for (let n = 0; n < 4; n++) await shop.call("POST", `/invoices/${await order(shop)}/status`, { status: "Settled" });
    expect((await mailsTo(owner.email)).filter(({ subject }) => subject.includes("settled by hand"))).toHaveLength(1);
    await testDb
      .update(notices)
      .set({ dueAtMs: Date.now() - 1 })
      .where(eq(notices.merchantId, team.merchantId));
    await sendNotices(noticeDependencies(env, { db: testDb, nowMs: Date.now(), background: (work) => void work }));
    const [joined] = (await mailsTo(owner.email)).filter(({ subject }) => subject.startsWith("Invoices of"));
    expect(joined?.text).toContain("marked 3 more invoices of");
    const id = await order(shop);
    for (const status of ["ACCEPT", "DISMISS", "RETURNED", "MARK", "Processing", "New", "", 1, null]) {
      const answer = await shop.call("POST", `/invoices/${id}/status`, { status });
      expect([status, answer.status]).toEqual([status, 422]);
    }
    expect(await stateOf(shop, id)).toBe("New/None");
  });

  it("is Invalid again once a received payment is gone", async () => {
    const shop = await pluginShop();
    const id = await order(shop);
    await shop.call("POST", `/invoices/${id}/status`, { status: "Settled" });
    await new Promise((done) => setTimeout(done, 2));
    const payment = await pay(shop, id, 10);
    await testDb.update(payments).set({ status: "DROPPED" }).where(eq(payments.id, payment.id));
    await changed(shop, id, { ...payment, status: "DROPPED" }, "payment.dropped");
    expect(await stateOf(shop, id)).toBe("Invalid/None");
  });
});

describe("an endpoint", () => {
  it("that a user creates in BTCPay Server's format gets only InvoiceSettled by default, and cannot subscribe to events that exist only in our API", async () => {
    const shop = await freshMerchant();
    const url = "https://shop.example.com/btcpay";
    const { status, body, text } = await shop.post("/webhooks", { url, format: "GREENFIELD" });
    expect(status, text).toBe(201);
    expect(body.events).toEqual(["invoice.paid", "invoice.overpaid", "invoice.marked"]);
    for (const wrong of [
      { url, format: "GREENFIELD", events: ["invoice.*"] },
      { url, events: ["*"], secret: SECRET },
      { url },
      { url, format: "GREENFIELD", secret: "short" },
    ])
      expect((await shop.post("/webhooks", wrong)).status).toBe(400);
    expect((await shop.patch(`/webhooks/${body.id}`, { events: ["wallet.created"] })).status).toBe(400);
    expect((await shop.patch(`/webhooks/${body.id}`, { events: ["invoice.created"] })).status).toBe(200);
  });

  it("gets a failed delivery again under the same id, marked as a redelivery", async () => {
    const shop = await pluginShop();
    await testDb
      .update(webhooks)
      .set({ url: receiver.url("fail-each/1", shop.key) })
      .where(eq(webhooks.id, shop.hook.id));
    await order(shop);
    // The first attempt may be made for the order's own message, and its result, with the time of the next attempt, stored after it was received.
    const attempts = async () => {
      await testDb.update(deliveries).set({ nextAttemptMs: 0 }).where(eq(deliveries.webhookId, shop.hook.id));
      return received(shop);
    };
    await expect.poll(attempts).toHaveLength(2);
    const [first, second] = await received(shop);
    expect([first.isRedelivery, second.isRedelivery]).toEqual([false, true]);
    expect(second).toEqual({ ...first, isRedelivery: true });
  });
});
