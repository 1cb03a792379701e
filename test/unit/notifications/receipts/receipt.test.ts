import { describe, expect, it } from "vitest";
import { makeId } from "../../../../src/lib/ids.ts";
import { LEASE_MS, nextAttemptMs, planReceipt } from "../../../../src/notifications/receipts/receipt.ts";
import type { ReceiptFacts } from "../../../../src/notifications/receipts/receipt-mail.ts";
import { LANGUAGES } from "../../../../src/platform/texts/languages.ts";

const invoiceId = makeId("inv", "0".repeat(26));
const publicUrl = "https://pay.example";
const HASH = `0x${"ab".repeat(32)}`;
const GONE = `0x${"cd".repeat(32)}`;
const FACTS: ReceiptFacts = {
  invoiceId,
  status: "PAID",
  title: "Order 7",
  externalId: "A-7",
  currency: "EUR",
  amountMicros: 49_900_000n,
  confirmedMicros: 49_900_000n,
  paidAtMs: Date.UTC(2026, 10, 21, 12),
  payments: [
    { network: "ETH", cryptocurrency: "USDT", amountUnits: 52_100_000n, txHash: HASH, status: "CONFIRMED" },
    { network: "ETH", cryptocurrency: "USDT", amountUnits: 1n, txHash: GONE, status: "DROPPED" },
  ],
  merchantName: "Corner Ltd",
  shopName: "Corner shop",
  supportUrl: "https://corner.example/help",
  isMerchantLive: true,
  mailReceiptsToCustomers: true,
  mailReceiptsToMerchant: true,
  customerEmail: "ann@example.com",
  language: null,
  stewards: [
    { userId: makeId("usr", "1".repeat(26)), email: "owner@example.com" },
    { userId: makeId("usr", "2".repeat(26)), email: "admin@example.com" },
  ],
};

function mailsOf(recipient: "CUSTOMER" | "MERCHANT", changes: Partial<ReceiptFacts> = {}, context = { publicUrl }) {
  const plan = planReceipt(recipient, { ...FACTS, ...changes }, context);
  if (typeof plan === "string") throw new Error(plan);
  return plan;
}

describe("a customer's receipt", () => {
  const [{ mail, id }] = mailsOf("CUSTOMER");

  it("states who was paid, for what, how much, when, by which transactions, and where to read it again", () => {
    expect([mail.to, id]).toEqual(["ann@example.com", `receipt-${invoiceId}-CUSTOMER`]);
    expect(mail.subject).toContain("Corner shop");
    const wanted = ["Corner shop", "Order 7", "€49.90", "2026", `${HASH} (52.1 USDT, Ethereum)`, invoiceId];
    for (const each of [...wanted, `${publicUrl}/pay/${invoiceId}/receipt`, "https://corner.example/help"])
      expect(mail.text).toContain(each);
    expect(mail.text).not.toContain(GONE);
  });

  it("contains nothing internal to the shop", () => {
    expect(mail.text + mail.html).not.toMatch(/A-7|Corner Ltd|owner@/);
  });

  it.each(Object.entries(LANGUAGES))(
    "in %s has that language's text direction, and no unfilled placeholder",
    (code, { direction }) => {
      for (const status of ["PAID", "OVERPAID"] as const) {
        const confirmedMicros = status === "OVERPAID" ? 60_000_000n : FACTS.amountMicros;
        const [{ mail: other }] = mailsOf("CUSTOMER", { language: code, status, confirmedMicros });
        expect(other.html).toContain(`<html lang="${code}" dir="${direction}">`);
        expect(other.text + other.subject).not.toMatch(/[{}]/);
        expect(other.text.includes("60")).toBe(status === "OVERPAID");
      }
    },
  );

  it.each([null, "", "xx", "constructor"])("is in English when the page's language was %j", (language) => {
    expect(mailsOf("CUSTOMER", { language })).toEqual(mailsOf("CUSTOMER"));
  });

  it("for an any-amount invoice states what was received", () => {
    const [{ mail: other }] = mailsOf("CUSTOMER", { amountMicros: 0n, confirmedMicros: 3_500_000n });
    expect(other.text).toContain("€3.50");
  });

  it("states what was received if it was slightly less than the price, and the price if nothing was received", () => {
    expect(mailsOf("CUSTOMER", { confirmedMicros: 49_500_000n })[0].mail.text).toContain("€49.50");
    expect(mailsOf("CUSTOMER", { confirmedMicros: 0n })[0].mail.text).toContain("€49.90");
  });

  it("has no link when PUBLIC_URL is not set", () => {
    const [{ mail: other }] = mailsOf("CUSTOMER", {}, { publicUrl: "" });
    expect(other.text).not.toContain("/receipt");
  });

  it("keeps the shop's texts on one line, without effect as markup or headers", () => {
    const evil = "Order\r\nBcc: eve@example.com <script>\u202E";
    const [{ mail: other }] = mailsOf("CUSTOMER", { title: evil, shopName: evil });
    expect(other.subject).not.toMatch(/[\r\n\u202E]/);
    expect(other.html).not.toContain("<script>");
    expect(other.text).not.toMatch(/^Bcc|\u202E/m);
  });
});

describe("a team's receipt", () => {
  it("goes to each owner and admin under a separate id, in English whatever the customer's language", () => {
    const mails = mailsOf("MERCHANT", { language: "ar" });
    expect(mails.map(({ mail }) => mail.to)).toEqual(["owner@example.com", "admin@example.com"]);
    expect(new Set(mails.map(({ id }) => id)).size).toBe(2);
    const [{ mail }] = mails;
    for (const each of ["Corner Ltd", "Order 7", "A-7", invoiceId, HASH, "€49.90"]) expect(mail.text).toContain(each);
    expect(mail.text).not.toContain("more than was asked");
    expect(mail.text).not.toContain("ann@example.com");
  });

  it("states in its subject what was received, or that the invoice was accepted without payment", () => {
    const subject = (confirmedMicros: bigint) => mailsOf("MERCHANT", { confirmedMicros })[0].mail.subject;
    expect(subject(49_500_000n)).toBe("Corner Ltd was paid €49.50");
    expect(subject(0n)).toBe("Corner Ltd accepted €49.90 as paid");
  });

  it("states that more was received than asked for", () => {
    const [{ mail }] = mailsOf("MERCHANT", { status: "OVERPAID", confirmedMicros: 60_000_000n });
    expect(mail.text).toContain("more than was asked");
    expect(mail.text).toContain("Received: €60.00");
  });
});

it("no receipt contains a link, header or tag from a text of the shop or its customers", () => {
  const evil = "https://eve.example/pay now@eve.example www.eve.example\r\nBcc: <b>\u202E";
  const texts = { title: evil, externalId: evil, merchantName: evil, shopName: evil };
  for (const { mail } of [...mailsOf("CUSTOMER", texts), ...mailsOf("MERCHANT", texts)]) {
    expect(mail.text + mail.html + mail.subject).not.toMatch(/eve\.|@eve|\u202E/);
    expect(mail.html).not.toContain("<b>");
    expect(mail.text).not.toMatch(/^Bcc/m);
    expect(mail.subject).not.toMatch(/[\r\n]/);
  }
});

it("no receipt contains an address to pay to", () => {
  for (const { mail } of [...mailsOf("CUSTOMER"), ...mailsOf("MERCHANT")])
    expect((mail.text + mail.html).match(/\b(0x[0-9a-f]{40}\b|bc1|T[1-9A-HJ-NP-Za-km-z]{33})/g)).toBeNull();
});

describe("a receipt that is due", () => {
  it.each<[string, "CUSTOMER" | "MERCHANT", Partial<ReceiptFacts>, string]>([
    ["the invoice was reversed", "CUSTOMER", { status: "EXPIRED" }, "REVERSED"],
    ["the invoice awaits confirmation again", "MERCHANT", { status: "PENDING_CONFIRMATION" }, "REVERSED"],
    ["the customer was erased", "CUSTOMER", { customerEmail: null }, "UNWANTED"],
    ["receipts to customers are switched off", "CUSTOMER", { mailReceiptsToCustomers: false }, "UNWANTED"],
    ["nobody paid", "CUSTOMER", { payments: [] }, "UNWANTED"],
    ["no payment is confirmed", "CUSTOMER", { payments: FACTS.payments.slice(1) }, "UNWANTED"],
    ["receipts to the team are switched off", "MERCHANT", { mailReceiptsToMerchant: false }, "UNWANTED"],
    ["the team has no owner or admin", "MERCHANT", { stewards: [] }, "UNWANTED"],
    ["the merchant is deleted", "CUSTOMER", { isMerchantLive: false }, "UNWANTED"],
  ])("is not sent when %s", (_, recipient, changes, plan) => {
    expect(planReceipt(recipient, { ...FACTS, ...changes }, { publicUrl })).toBe(plan);
  });

  it("is retried with growing pauses for about three days, and then dropped", () => {
    const pauses: number[] = [];
    for (let attempts = 1; ; attempts++) {
      const next = nextAttemptMs(attempts, 1_000);
      if (next === null) break;
      pauses.push(next - 1_000);
    }
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    const days = pauses.reduce((sum, each) => sum + each, 0) / 86_400_000;
    expect([days > 2.5, days < 3.5, LEASE_MS >= 60_000]).toEqual([true, true, true]);
  });
});
