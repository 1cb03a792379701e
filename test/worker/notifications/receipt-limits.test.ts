// Receipts must not be open to abuse: no email to a stranger without a payment, turns among merchants, and limits per mailbox and merchant.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { claimReceipts, selectDueReceipts } from "../../../src/notifications/receipts/store.ts";
import { receiptMails, receipts } from "../../../src/platform/db/schema/checkouts.ts";
import { freshEmail } from "../../support/browser.ts";
import { seedMember, seedUser } from "../../support/people.ts";
import { planOf } from "../../support/query-plan.ts";
import { cronAt, orderOf, owedFor, paidOrder, pay, rowsOf } from "../../support/receipts.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

async function accept(shop: TestMerchant, id: InvoiceId): Promise<void> {
  const done = await shop.post(`/invoices/${id}/resolve`, { action: "ACCEPT", reason: "of course" });
  expect(done.status, done.text).toBe(200);
}

/** Adds `count` receipts of another merchant, which have waited for a day. */
async function flood(count: number): Promise<void> {
  const shop = await freshMerchant();
  const id = await paidOrder(shop, freshEmail());
  const sinceMs = Date.now() - DAY_MS;
  await env.DB.prepare(
    `insert into receipts select 'inv_' || hex(randomblob(13)), recipient, merchant_id, 0, ?1, null, ?1
      from receipts, (with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2) select i from n) where invoice_id = ?3`,
  )
    .bind(sinceMs, count, id)
    .run();
}

/** Records receipt emails as if they had been sent today. */
async function seedMails(count: number, shop: TestMerchant, recipient: "CUSTOMER" | "MERCHANT"): Promise<void> {
  await env.DB.prepare(
    `insert into receipt_mails (invoice_id, recipient, merchant_id, mailbox, at_ms) select 'inv_' || hex(randomblob(13)), ?1, ?2, null, ?3
      from (with recursive n(i) as (select 1 union all select i + 1 from n where i < ?4) select i from n)`,
  )
    .bind(recipient, shop.merchantId, Date.now() - MINUTE_MS, count)
    .run();
}

describe("an invoice that the merchant accepts as paid without a payment", () => {
  it("causes no receipt for its customer, only the copy for its team that the settings ask for", async () => {
    const shop = await freshMerchant();
    await shop.patch("/settings", { mailReceiptsToMerchant: true });
    const id = await orderOf(shop, freshEmail());
    await accept(shop, id);
    expect(await owedFor(id)).toEqual(["MERCHANT"]);
  });

  it("causes one receipt for its customer once some payment has arrived, before or after it was accepted", async () => {
    const shop = await freshMerchant();
    const [part, later] = [await orderOf(shop, freshEmail()), await orderOf(shop, freshEmail())];
    await pay(shop, part, 4_000_000n);
    await accept(shop, part);
    await accept(shop, later);
    expect([await owedFor(part), await owedFor(later)]).toEqual([["CUSTOMER"], []]);
    await pay(shop, later, 4_000_000n);
    await pay(shop, later, 20_000_000n);
    expect(await owedFor(later)).toEqual(["CUSTOMER"]);
  });
});

describe("a cron run", () => {
  it("takes turns among merchants, so that one merchant's backlog does not delay another's receipts", async () => {
    await flood(300);
    const shop = await freshMerchant();
    const emails = [freshEmail(), freshEmail(), freshEmail()];
    for (const email of emails) await paidOrder(shop, email);
    const cron = cronAt();
    await cron.run();
    expect(emails.map((email) => cron.to(email).length)).toEqual([1, 1, 1]);
    const flooded = sql`created_at_ms < ${Date.now() - DAY_MS + MINUTE_MS}`;
    // The backlog gets the rest of the run's limit, which no other merchant needs.
    expect(await testDb.$count(receipts, sql`${flooded} and attempts > 0`)).toBeGreaterThan(80);
    await testDb.delete(receipts).where(flooded);
  });
});

describe("the daily limit of receipt emails", () => {
  const { receiptsPerMailboxMerchantAndDay: most, receiptsPerMerchantAndDay: mostOfAll } = LIMITS;

  it("makes a merchant's receipts to one mailbox wait until a day later, even when two runs race", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const email = freshEmail();
    const ids: InvoiceId[] = [];
    for (let n = 0; n < most + 3; n++) ids.push(await paidOrder(shop, n % 2 === 0 ? email : email.toUpperCase()));
    const elsewhere = await paidOrder(other, email);
    const [one, two] = [cronAt(), cronAt()];
    await Promise.all([one.run(), two.run()]);
    await one.run();
    const rows = (await Promise.all([...ids, elsewhere].map(rowsOf))).flat();
    const waiting = rows.filter(({ sentAtMs }) => sentAtMs === null);
    expect([rows.length, waiting.length]).toEqual([most + 4, 3]);
    expect(await rowsOf(elsewhere)).toMatchObject([{ sentAtMs: expect.any(Number) }]);
    for (const { attempts, nextAttemptMs } of waiting) {
      expect(attempts).toBe(0);
      expect(nextAttemptMs).toBeGreaterThan(Date.now() + DAY_MS - MINUTE_MS);
    }
    const later = cronAt(DAY_MS + MINUTE_MS);
    await later.run();
    const left = (await Promise.all(ids.map(rowsOf))).flat().filter(({ sentAtMs }) => sentAtMs === null);
    expect([later.to(email).length + later.to(email.toUpperCase()).length, left]).toEqual([3, []]);
    expect([...one.lines, ...two.lines, ...later.lines]).toEqual([]);
  });

  it("makes one merchant's receipts wait and not another's; copies to the team have their own limit", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    await shop.patch("/settings", { mailReceiptsToMerchant: true });
    const owner = await seedUser();
    await seedMember(shop.merchantId, owner.userId, "OWNER");
    await seedMails(mostOfAll - 1, shop, "CUSTOMER");
    const emails = [freshEmail(), freshEmail()];
    for (const email of emails) await paidOrder(shop, email);
    const customer = freshEmail();
    await paidOrder(other, customer);
    const cron = cronAt();
    await cron.run();
    expect(emails.map((email) => cron.to(email).length).toSorted()).toEqual([0, 1]);
    expect([cron.to(owner.email).length, cron.to(customer).length]).toEqual([2, 1]);
    const later = cronAt(DAY_MS);
    await later.run();
    expect([...emails.map((email) => later.to(email).length)].toSorted()).toEqual([0, 1]);
  });

  it("counts a retried receipt once", async () => {
    const shop = await freshMerchant();
    await seedMails(mostOfAll - 1, shop, "CUSTOMER");
    const email = freshEmail();
    await paidOrder(shop, email);
    const [failing, again] = [cronAt(0, new Set([email])), cronAt(2 * MINUTE_MS)];
    await failing.run();
    await again.run();
    expect(again.to(email)).toHaveLength(1);
  });

  it("stores a mailbox only as a hash, and deletes it after the day", async () => {
    const shop = await freshMerchant();
    const email = freshEmail();
    await paidOrder(shop, email);
    await cronAt().run();
    const mine = eq(receiptMails.merchantId, shop.merchantId);
    const [row] = await testDb.select().from(receiptMails).where(mine);
    expect(row?.mailbox).toMatch(/^[0-9a-f]{64}$/);
    // A run deletes up to 2,000 records, oldest first, and other tests leave some too.
    for (let run = 0; run < 3; run++) await cronAt(DAY_MS + MINUTE_MS).run();
    expect(await testDb.$count(receiptMails, mine)).toBe(0);
  });
});

describe("however many receipts there are", () => {
  it("due receipts are found through an index for each merchant, and claimed by their key", async () => {
    const due = await planOf(selectDueReceipts(testDb, { limit: 5, nowMs: 1 }));
    for (const step of [
      "SEARCH receipts USING COVERING INDEX receipts_due (merchant_id>?)",
      "SEARCH receipts USING COVERING INDEX receipts_due (merchant_id=? AND next_attempt_ms>?)",
      "SEARCH own USING COVERING INDEX receipts_due (merchant_id=? AND next_attempt_ms<?)",
      "SEARCH due USING INTEGER PRIMARY KEY (rowid=?)",
    ])
      expect(due).toContain(step);
    const claim = await planOf(claimReceipts(testDb, { keys: [], nowMs: 1 }));
    expect(claim).toContain("(invoice_id=? AND recipient=?)");
    expect(claim).not.toContain("SCAN receipts");
  });
});
