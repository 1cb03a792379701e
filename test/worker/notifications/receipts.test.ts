// Receipts by email: they are recorded in the batch that makes an invoice paid, however it is paid, and the cron sends them once to each recipient.
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { claimReceipts } from "../../../src/notifications/receipts/store.ts";
import { checkouts, receipts } from "../../../src/platform/db/schema/checkouts.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { freshEmail } from "../../support/browser.ts";
import { seedPayment } from "../../support/payments.ts";
import { seedMember, seedUser } from "../../support/people.ts";
import { changed, cronAt, orderOf, owedFor, paidOrder, pay, paymentOf, rowsOf } from "../../support/receipts.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const statusOf = async (id: InvoiceId) =>
  (await testDb.select({ status: invoices.status }).from(invoices).where(eq(invoices.id, id)))[0]?.status;
const mailbox = (to: string) => env.DEV_MAILBOX.getByName("mailbox").list(to);

describe("a receipt is due", () => {
  it("after a confirmed payment of the exact amount or more", async () => {
    const shop = await freshMerchant();
    const [exact, more] = [await paidOrder(shop, freshEmail()), await orderOf(shop, freshEmail())];
    await pay(shop, more, 20_000_000n);
    expect([await statusOf(exact), await statusOf(more)]).toEqual(["PAID", "OVERPAID"]);
    expect([await owedFor(exact), await owedFor(more)]).toEqual([["CUSTOMER"], ["CUSTOMER"]]);
  });

  it("after the merchant accepts a partial payment", async () => {
    const shop = await freshMerchant();
    const id = await orderOf(shop, freshEmail());
    await pay(shop, id, 4_000_000n);
    const { body } = await shop.post(`/invoices/${id}/resolve`, { action: "ACCEPT", reason: "Paid in cash" });
    expect([body.status, await owedFor(id)]).toEqual(["PAID", ["CUSTOMER"]]);
  });

  it("after the merchant assigns a payment", async () => {
    const shop = await freshMerchant();
    const id = await orderOf(shop, freshEmail());
    const { id: unmatched } = await paymentOf(shop, id, 10_000_000n, {
      invoiceId: null,
      matchedBy: null,
      status: "UNMATCHED",
      confirmations: 3,
    });
    const assigned = await shop.post(`/payments/${unmatched}/resolve`, {
      action: "ASSIGN",
      invoiceId: id,
      reason: "Theirs",
    });
    expect(assigned.status, assigned.text).toBe(200);
    expect([await statusOf(id), await owedFor(id)]).toEqual(["PAID", ["CUSTOMER"]]);
  });

  it("after the sweep accepts an amount within the tolerance", async () => {
    const shop = await freshMerchant();
    const id = await orderOf(shop, freshEmail());
    await paymentOf(shop, id, 9_950_000n, { receivedAtMs: Date.now() - 10 * MINUTE_MS });
    await testDb
      .update(invoices)
      .set({ expiresAtMs: Date.now() - MINUTE_MS })
      .where(eq(invoices.id, id));
    await expireInvoices(invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep }));
    expect([await statusOf(id), await owedFor(id)]).toEqual(["PAID", ["CUSTOMER"]]);
  });

  it("to nobody for a partially paid, cancelled or expired invoice", async () => {
    const shop = await freshMerchant();
    const ids = [
      await orderOf(shop, freshEmail()),
      await orderOf(shop, freshEmail()),
      await orderOf(shop, freshEmail()),
    ];
    const [part, cancelled, expired] = ids;
    if (part === undefined || cancelled === undefined || expired === undefined) throw new Error("three orders");
    await pay(shop, part, 4_000_000n);
    await shop.post(`/invoices/${cancelled}/cancel`);
    await testDb
      .update(invoices)
      .set({ expiresAtMs: Date.now() - MINUTE_MS })
      .where(eq(invoices.id, expired));
    await expireInvoices(invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep }));
    expect(await Promise.all(ids.map(statusOf))).toEqual(["AWAITING_PAYMENT", "CANCELLED", "EXPIRED"]);
    expect(await Promise.all(ids.map(owedFor))).toEqual([[], [], []]);
  });

  it.each([
    [true, false, true, ["CUSTOMER"]],
    [true, true, true, ["CUSTOMER", "MERCHANT"]],
    [false, true, true, ["MERCHANT"]],
    [false, false, true, []],
    [true, true, false, ["MERCHANT"]],
  ])(
    "with mailReceiptsToCustomers %s, mailReceiptsToMerchant %s and a known customer email %s, to %j",
    async (mailReceiptsToCustomers, mailReceiptsToMerchant, hasEmail, wanted) => {
      const shop = await freshMerchant();
      await shop.patch("/settings", { mailReceiptsToCustomers, mailReceiptsToMerchant });
      expect(await owedFor(await paidOrder(shop, hasEmail ? freshEmail() : undefined))).toEqual(wanted);
    },
  );

  it("only once, however often the invoice is paid", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    const id = await paidOrder(shop, email);
    await cronAt().run();
    const [sent] = await rowsOf(id);
    await pay(shop, id, 10_000_000n);
    expect(await statusOf(id)).toBe("OVERPAID");
    expect(await rowsOf(id)).toEqual([sent]);
    const later = cronAt(DAY_MS);
    await later.run();
    expect(later.to(email)).toEqual([]);
  });
});

describe("the cron", () => {
  it("sends a due receipt to the mailbox when it runs as deployed, and nothing more the next time", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    const id = await paidOrder(shop, email);
    for (let run = 0; run < 2; run++) {
      await runJobs();
      const [mail, ...more] = await mailbox(email);
      expect([mail?.subject, more]).toEqual(["Receipt from Shop", []]);
      expect(mail?.text).toContain(`http://localhost:8787/pay/${id}/receipt`);
    }
    const [row] = await rowsOf(id);
    expect(row).toMatchObject({ attempts: 1, nextAttemptMs: null, sentAtMs: expect.any(Number) });
  });

  it("emails every owner and admin of the team, and no other member", async () => {
    const shop = await freshMerchant();
    await shop.patch("/settings", { mailReceiptsToMerchant: true });
    const people = await Promise.all(
      (["OWNER", "ADMIN", "MEMBER", "VIEWER"] as const).map(async (role) => {
        const user = await seedUser();
        await seedMember(shop.merchantId, user.userId, role);
        return user.email;
      }),
    );
    const customer = freshEmail();
    const id = await paidOrder(shop, customer);
    const cron = cronAt();
    await cron.run();
    expect(people.map((email) => cron.to(email).length)).toEqual([1, 1, 0, 0]);
    expect(cron.to(people[0] ?? "")[0]?.mail.text).toContain(id);
    expect(cron.to(customer)).toHaveLength(1);
  });

  it("writes in the language of the opened checkout, under the shop's own name", async () => {
    const shop = await freshMerchant();
    await shop.patch("/settings", { brand: { name: "Eckladen", supportUrl: "https://shop.example/hilfe" } });
    const email = freshEmail();
    const id = await paidOrder(shop, email);
    await testDb.insert(checkouts).values({ invoiceId: id, language: "de", openedAtMs: Date.now() });
    const cron = cronAt();
    await cron.run();
    const [{ mail } = { mail: undefined }] = cron.to(email);
    expect(mail?.html).toContain('<html lang="de"');
    expect(mail?.text).toContain("Eckladen");
    expect(mail?.text).toContain("https://shop.example/hilfe");
    expect(mail?.subject).not.toBe("Receipt from Eckladen");
  });

  it("sends each receipt once, even when two runs race and one runs again", async () => {
    const shop = await freshMerchant();
    const emails = Array.from({ length: 12 }, () => freshEmail());
    for (const email of emails) await paidOrder(shop, email);
    const [one, other] = [cronAt(), cronAt()];
    await Promise.all([one.run(), other.run()]);
    await one.run();
    const all = [...one.sent, ...other.sent].map(({ to }) => to).filter((to) => emails.includes(to));
    expect(all.toSorted()).toEqual(emails.toSorted());
  });

  it("sends a receipt whose worker crashed before emailing it once the lease has ended, and not earlier", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    const id = await paidOrder(shop, email);
    await claimReceipts(testDb, { keys: [{ invoiceId: id, recipient: "CUSTOMER" }], nowMs: Date.now() });
    const [soon, later] = [cronAt(MINUTE_MS), cronAt(10 * MINUTE_MS)];
    await soon.run();
    expect(soon.to(email)).toEqual([]);
    await later.run();
    expect(later.to(email)).toHaveLength(1);
    expect(await rowsOf(id)).toMatchObject([{ attempts: 2, nextAttemptMs: null }]);
  });

  it("retries an email that the provider did not accept, under the same id, and logs no address", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    const id = await paidOrder(shop, email);
    const [failing, early, later] = [cronAt(0, new Set([email])), cronAt(MINUTE_MS / 2), cronAt(2 * MINUTE_MS)];
    await failing.run();
    expect(failing.to(email)).toHaveLength(3);
    expect(failing.lines).toEqual([
      JSON.stringify({
        alert: "a receipt could not be sent yet",
        invoiceId: id,
        recipient: "CUSTOMER",
        attempts: 1,
        reason: "no answer in time",
      }),
    ]);
    await early.run();
    expect(early.to(email)).toEqual([]);
    await later.run();
    expect(later.to(email)).toHaveLength(1);
    expect(new Set([...failing.to(email), ...later.to(email)].map(({ id }) => id)).size).toBe(1);
  });

  it("gives up on a receipt after nine failed attempts, logs an alert, and never retries the receipt", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    const id = await paidOrder(shop, email);
    const lines: string[] = [];
    for (let day = 0; day < 12; day++) {
      const cron = cronAt(day * DAY_MS, new Set([email]));
      await cron.run();
      lines.push(...cron.lines);
    }
    expect(lines.map((line) => JSON.parse(line).alert)).toEqual([
      ...Array<string>(8).fill("a receipt could not be sent yet"),
      "a receipt was given up",
    ]);
    expect(lines.join()).not.toContain(email);
    expect(await rowsOf(id)).toMatchObject([{ attempts: 9, nextAttemptMs: null, sentAtMs: null }]);
  });

  it("does not email the whole team again if one member's email failed", async () => {
    const shop = await freshMerchant();
    await shop.patch("/settings", { mailReceiptsToMerchant: true });
    const [owner, admin] = [await seedUser(), await seedUser()];
    // The emails are sent in the order in which the members joined.
    await seedMember(shop.merchantId, owner.userId, "OWNER", 1);
    await seedMember(shop.merchantId, admin.userId, "ADMIN", 2);
    const id = await paidOrder(shop);
    const cron = cronAt(0, new Set([admin.email]));
    await cron.run();
    expect([cron.to(owner.email).length, cron.to(admin.email).length]).toEqual([1, 3]);
    expect(cron.lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ alert: "mails of a receipt were not sent", invoiceId: id, lost: 1 }),
    ]);
    const later = cronAt(DAY_MS);
    await later.run();
    expect(later.to(owner.email)).toEqual([]);
  });
});

describe("a receipt that is due and not sent yet", () => {
  it("is not sent to a customer who was erased", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    const id = await paidOrder(shop, email);
    const { body } = await shop.get(`/invoices/${id}`);
    expect((await shop.delete(`/customers/${body.customerId}`)).status).toBeLessThan(300);
    const cron = cronAt();
    await cron.run();
    expect([cron.to(email), cron.lines, await rowsOf(id)]).toMatchObject([
      [],
      [],
      [{ nextAttemptMs: null, sentAtMs: null }],
    ]);
  });

  it("is not sent once the merchant has switched receipts off", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    await paidOrder(shop, email);
    await shop.patch("/settings", { mailReceiptsToCustomers: false });
    const cron = cronAt();
    await cron.run();
    expect([cron.to(email), cron.lines]).toEqual([[], []]);
  });

  it("is not sent while the payment is off the chain, but is sent once the payment is on the chain again", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    const id = await orderOf(shop, email);
    const payment = await pay(shop, id);
    const gone = { ...payment, status: "REORGED", reorgedAtMs: Date.now() } as const;
    await changed(shop, id, { payments: [gone], events: [{ type: "payment.reorged", paymentId: payment.id }] });
    expect(await statusOf(id)).not.toBe("PAID");
    const [between, after] = [cronAt(), cronAt()];
    await between.run();
    expect([between.to(email), between.lines, await rowsOf(id)]).toEqual([[], [], []]);
    await changed(shop, id, { payments: [payment], events: [{ type: "payment.confirmed", paymentId: payment.id }] });
    await after.run();
    expect([await statusOf(id), after.to(email).length]).toEqual(["PAID", 1]);
  });

  it("does not delay others if its email cannot be composed", async () => {
    const shop = await freshMerchant();
    const [bad, good] = [freshEmail("bad"), freshEmail("good")];
    const broken = await paidOrder(shop, bad);
    await testDb.update(invoices).set({ currency: "?" }).where(eq(invoices.id, broken));
    await seedPayment(shop.merchantId, { invoiceId: broken, network: "MOON", status: "CONFIRMED" });
    await paidOrder(shop, good);
    const cron = cronAt();
    await cron.run();
    expect([cron.to(bad), cron.to(good).length]).toEqual([[], 1]);
    expect(cron.lines.join()).toContain("no mail can be made from its data");
    await testDb.delete(receipts).where(and(eq(receipts.invoiceId, broken)));
  });
});
