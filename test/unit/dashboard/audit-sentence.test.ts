// The sentence about an entry of the audit log, with the current names of users and objects.
import { describe, expect, it, test } from "vitest";
import { type Known, sentenceOf } from "../../../dashboard/src/audit/sentence.ts";
import { ACTIONS, isKnownAction } from "../../../dashboard/src/audit/words.ts";

const NAMES: Readonly<Record<string, string>> = { inv_1: "Order 9001", mem_1: "ann@example.com", key_1: "Shop server" };

const KNOWN: Known = {
  actor: "You",
  nameOf: (id) => NAMES[id],
  moneyOf: (amount) => `$${Number(amount).toFixed(2)}`,
  money: (amount, currency) => `${Number(amount).toFixed(2)} ${currency}`,
  coins: (amount) => amount,
};

type Entry = Parameters<typeof sentenceOf>[0];

const entry = (action: Entry["action"], of: Partial<Entry> = {}): Entry => ({
  action,
  target: "inv_1",
  before: null,
  after: null,
  ...of,
});

const USDT = { cryptocurrency: "USDT", network: "ETH" };

describe("an audit log entry", () => {
  it.each([
    [
      "a renamed merchant",
      entry("merchant.updated", { before: { name: "Corner shop" }, after: { name: "Harbour" } }),
      "You renamed the merchant from “Corner shop” to “Harbour”",
    ],
    [
      "a new invoice",
      entry("invoice.created", { after: { rawAmount: "49.900000", currency: "EUR" } }),
      "You created “Order 9001” for 49.90 EUR",
    ],
    [
      "a new invoice for any amount",
      entry("invoice.created", { after: { rawAmount: "0.000000", currency: "EUR" } }),
      "You created “Order 9001”, for any amount",
    ],
    [
      "a changed status",
      entry("invoice.status_changed", {
        before: { status: "AWAITING_PAYMENT", amountReceived: "0.000000" },
        after: { status: "PENDING_CONFIRMATION", amountReceived: "25.000000" },
      }),
      "You moved “Order 9001” from Awaiting payment to Confirming: $25.00 received",
    ],
    [
      "an invoice that the reader may not see",
      entry("invoice.cancelled", { target: "inv_2" }),
      "You cancelled an invoice",
    ],
    [
      "an invoice that a user changed",
      entry("invoice.updated", { after: { fields: ["name", "description", "redirectUrl"] } }),
      "You changed the name, description and 1 more of “Order 9001”",
    ],
    [
      "a received payment",
      entry("invoice.updated", { before: { amountReceived: "0.000000" }, after: { amountReceived: "12.000000" } }),
      "You recorded a payment to “Order 9001”: $12.00 received",
    ],
    [
      "an offered coin",
      entry("invoice.payment_method_activated", { after: { ...USDT, amount: "25" } }),
      "You added 25 USDT on ETH as a payment method to “Order 9001”",
    ],
    ["a decision", entry("invoice.resolved", { after: { resolution: "ACCEPT" } }), "You accepted “Order 9001” as paid"],
    [
      "an unknown decision",
      entry("invoice.resolved", { after: { resolution: "constructor" } }),
      "You resolved “Order 9001”",
    ],
    [
      "an assigned payment",
      entry("payment.resolved", { target: "pay_1", after: { status: "CONFIRMED", invoiceId: "inv_1" } }),
      "You assigned a payment to “Order 9001”",
    ],
    [
      "a changed role",
      entry("team.role_changed", { target: "mem_1", before: { role: "VIEWER" }, after: { role: "ADMIN" } }),
      "You changed the role of ann@example.com from Viewer to Admin",
    ],
    [
      "an invitation",
      entry("team.invitation_created", { after: { email: "bob@example.com", role: "MEMBER" } }),
      "You invited bob@example.com as Member",
    ],
    [
      "a rotated key",
      entry("api_key.rotated", { target: "key_1", before: { display: "sk_a" }, after: { display: "sk_b" } }),
      "You rotated the API key “Shop server”",
    ],
    ["a rotated key that no longer exists", entry("api_key.rotated", { target: "key_2" }), "You rotated an API key"],
    [
      "a disabled wallet",
      entry("wallet.updated", { target: "wal_1", before: { ...USDT, isEnabled: true }, after: { isEnabled: false } }),
      "You disabled a wallet for USDT on ETH",
    ],
    [
      "changed settings",
      entry("settings.updated", {
        target: "mer_1",
        before: { underpaidTolerancePercent: 1 },
        after: { underpaidTolerancePercent: 3 },
      }),
      "You changed the settings: Accepted underpayment (%) from 1 to 3",
    ],
  ])("about %s is shown as a sentence", (_, of, expected) => {
    expect(sentenceOf(of, KNOWN)).toBe(expected);
  });

  test("about any action is shown as a sentence whose subject is the actor", () => {
    for (const action of Object.keys(ACTIONS).filter(isKnownAction)) {
      const sentence = sentenceOf(entry(action, { target: "x" }), KNOWN);
      expect(sentence, action).toMatch(/^You [a-z]/);
      expect(sentence, action).not.toMatch(/undefined|null| {2}/);
    }
  });
});

it("names are shown without characters that reverse the text after them or break the line", () => {
  const known = { ...KNOWN, actor: "API key “\u202eA”", nameOf: () => "Order\u2067\n9001\u202e" };
  expect(sentenceOf(entry("invoice.cancelled"), known)).toBe("API key “A” cancelled “Order 9001”");
  const renamed = entry("merchant.updated", { before: { name: "\u202e" }, after: { name: "\u200fHarbour\u202e" } });
  expect(sentenceOf(renamed, KNOWN)).toBe("You renamed the merchant to “Harbour”");
});
