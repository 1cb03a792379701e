import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPageOver } from "../../../../src/checkout/pay/page-over.ts";
import { checkoutView, type Stage, soleWay } from "../../../../src/checkout/pay/view.ts";
import type { Product } from "../../../../src/commerce/products/product.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { INVOICE_STATUSES, type InvoiceStatus } from "../../../../src/platform/column-values.ts";
import {
  ADDRESS,
  addressOn,
  BTC_BTC,
  EXPIRES,
  type Given,
  HASH,
  MERCHANT_ID,
  NOW,
  USDT_ETH,
  USDT_TRX,
  viewFacts,
} from "../../../support/checkout-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const viewOf = (given: Given = {}) => checkoutView(viewFacts(given));
const broken = { ...USDT_ETH, changes: { mac: "0".repeat(64) } };
const partial = { receivedMicros: 4_000_000n };

describe("the stage of a checkout", () => {
  it.each<[string, Given, Stage]>([
    ["no payment method is available", { active: [] }, "unavailable"],
    ["a method can be chosen", { active: [], available: [BTC_BTC] }, "choose"],
    ["a method is chosen", {}, "pay"],
    ["a method is chosen, and the payer wants another one", { available: [BTC_BTC], isChoosing: true }, "choose"],
    ["the payer wants another method, and there is none", { isChoosing: true }, "pay"],
    ["it is exactly expiresAt", { nowMs: EXPIRES }, "pay"],
    ["it is a millisecond after expiresAt", { nowMs: EXPIRES + 1 }, "checking"],
    ["partly paid", { invoice: partial }, "partial"],
    [
      "partly paid, and the payer wants another method",
      { invoice: partial, available: [BTC_BTC], isChoosing: true },
      "partial",
    ],
    ["partly paid, past expiresAt", { invoice: partial, nowMs: EXPIRES + 1 }, "checking"],
    ["the address was tampered with", { active: [broken] }, "unavailable"],
    [
      "the address was tampered with, and another method can be chosen",
      { active: [broken], available: [BTC_BTC] },
      "choose",
    ],
    ["fully received", { status: "PENDING_CONFIRMATION" }, "seen"],
    ["fully received, past expiresAt", { status: "PENDING_CONFIRMATION", nowMs: EXPIRES + 1 }, "seen"],
    ["paid", { status: "PAID" }, "paid"],
    ["overpaid", { status: "OVERPAID" }, "overpaid"],
    ["underpaid", { status: "UNDERPAID", nowMs: EXPIRES + 1 }, "underpaid"],
    ["expired", { status: "EXPIRED", nowMs: EXPIRES + 1 }, "expired"],
    ["cancelled", { status: "CANCELLED" }, "cancelled"],
    ["cancelled before a method was chosen", { status: "CANCELLED", active: [] }, "cancelled"],
  ])("is correct when %s", (_, given, stage) => {
    expect(viewOf(given).stage).toBe(stage);
  });

  it("depends only on the status when no payment is expected, and offers no choice of methods in that case", () => {
    const ends = INVOICE_STATUSES.filter((status) => status !== "AWAITING_PAYMENT");
    const given = fc.record({
      status: fc.constantFrom(...ends),
      isChoosing: fc.boolean(),
      asked: fc.constantFrom("USDT_ETH", "BTC_BTC", "", "x"),
      nowMs: fc.integer({ min: NOW, max: EXPIRES + 1_000 }),
      active: fc.subarray([USDT_ETH, USDT_TRX, BTC_BTC]),
    });
    const stages = new Map<InvoiceStatus, Set<Stage>>();
    fc.assert(
      fc.property(given, (each) => {
        const view = viewOf(each);
        expect([view.choices, view.canChoose]).toEqual([[], false]);
        const seen = stages.get(each.status) ?? new Set();
        stages.set(each.status, seen.add(view.stage));
      }),
      { numRuns: RUNS / 4 },
    );
    for (const [, seen] of stages) expect(seen.size).toBe(1);
  });
});

describe("the payment method that is shown", () => {
  const active = [USDT_TRX, USDT_ETH, BTC_BTC];
  const paidBy = (pair: object, status: "DETECTED" | "CONFIRMED" | "REORGED" = "DETECTED") => [{ ...pair, status }];

  it.each<[string, Given, string | undefined]>([
    ["the requested one", { active, asked: "BTC_BTC" }, "BTC_BTC"],
    ["the newest if none was requested", { active }, "USDT_TRX"],
    ["the newest if the requested one was not chosen", { active: [USDT_ETH], asked: "BTC_BTC" }, "USDT_ETH"],
    ["the one that received a payment", { active, payments: paidBy(BTC_BTC) }, "BTC_BTC"],
    ["not one whose payment was reorganized away", { active, payments: paidBy(BTC_BTC, "REORGED") }, "USDT_TRX"],
    [
      "the requested one, even if another received a payment",
      { active, payments: paidBy(BTC_BTC), asked: "USDT_ETH" },
      "USDT_ETH",
    ],
    [
      "the next if the newest was tampered with",
      { active: [{ ...USDT_TRX, changes: { mac: null } }, USDT_ETH] },
      "USDT_ETH",
    ],
    ["none while the payer chooses another", { active, isChoosing: true }, undefined],
    ["none if its address was tampered with", { active: [broken], asked: "USDT_ETH" }, undefined],
  ])("is %s", (_, given, key) => {
    expect(viewOf(given).method?.key).toBe(key);
  });

  it("has exactly the fields that a payer needs", () => {
    expect(viewOf().method).toEqual({
      key: "USDT_ETH",
      network: "ETH",
      networkName: "Ethereum",
      standard: "ERC-20",
      isTest: false,
      code: "USDT",
      coin: "Tether USD",
      address: ADDRESS,
      isShared: true,
      amount: "10",
      rate: "1",
      uri: `ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=${ADDRESS}&uint256=10000000`,
      deadlineMs: EXPIRES,
      atDeadline: "expire",
      requiredConfirmations: 3,
      minutes: 1,
      transfer: expect.objectContaining({ chainId: "0x1", value: "0x0" }),
    });
  });

  it("asks for the amount still due, and for nothing when nothing is due", () => {
    const rest = viewOf({ invoice: partial }).method;
    expect([rest?.amount, rest?.transfer?.data.slice(-8)]).toEqual(["6", (6_000_000).toString(16).padStart(8, "0")]);
    const own = { ...USDT_ETH, changes: { remainderUnits: 5_990_000n } };
    expect(viewOf({ invoice: partial, active: [own] }).method?.amount).toBe("5.99");
    const done = viewOf({ status: "PAID", invoice: { receivedMicros: 10_000_000n } }).method;
    expect([done?.amount, done?.transfer]).toEqual(["0", null]);
  });

  it("has no amount and no wallet transfer when the invoice accepts any amount", () => {
    const any = { ...USDT_ETH, changes: { amountUnits: null } };
    const { method, total, missing } = viewOf({ invoice: { amountMicros: 0n }, active: [any] });
    expect([method?.amount, method?.transfer, total.micros, missing.micros]).toEqual([null, null, 0n, 0n]);
  });

  it("states the deadline of its amount, and whether the amount is requoted or the invoice expires at the deadline", () => {
    const short = { rateLockSeconds: 900 };
    const at = (given: Given) => [viewOf(given).method?.deadlineMs, viewOf(given).method?.atDeadline];
    expect(at({ invoice: short })).toEqual([NOW + 900_000, "requote"]);
    expect(at({ invoice: { rateLockSeconds: 7_200 } })).toEqual([EXPIRES, "expire"]);
    // The remainder after a partial payment is requoted as well.
    expect(at({ invoice: { ...short, ...partial } })).toEqual([NOW + 900_000, "requote"]);
  });

  it("is hidden after its rate lock has ended", () => {
    expect(viewOf({ invoice: { rateLockSeconds: 900 }, nowMs: NOW + 900_001 }).method).toBeNull();
  });

  it("has no injected-wallet transfer on a network that is not EVM", () => {
    expect(viewOf({ active: [USDT_TRX] }).method).toMatchObject({ address: addressOn("TRX"), transfer: null });
    expect(viewOf({ active: [BTC_BTC] }).method).toMatchObject({ standard: null, networkName: "Bitcoin", minutes: 30 });
  });
});

describe("the choice of a payment method", () => {
  it("groups methods by coin, with readable network names, including those already chosen", () => {
    const { choices, canChoose } = viewOf({ active: [USDT_TRX], available: [BTC_BTC, USDT_ETH] });
    expect(canChoose).toBe(true);
    expect(choices.map(({ code, name, ways }) => [code, name, ways.map(({ key }) => key)])).toEqual([
      ["BTC", "Bitcoin", ["BTC_BTC"]],
      ["USDT", "Tether USD", ["USDT_ETH", "USDT_TRX"]],
    ]);
    const [, usdt] = choices;
    expect(usdt?.ways.map(({ networkName, standard }) => [networkName, standard])).toEqual([
      ["Ethereum", "ERC-20"],
      ["TRON", "TRC-20"],
    ]);
  });

  it("is not offered if there is only one method, after a partial payment, or once time is up", () => {
    expect(viewOf().canChoose).toBe(false);
    expect(viewOf({ available: [BTC_BTC], invoice: partial }).canChoose).toBe(false);
    expect(viewOf({ available: [BTC_BTC], nowMs: EXPIRES + 1 })).toMatchObject({ canChoose: false, choices: [] });
  });

  it("is skipped only when no method is chosen and exactly one is available", () => {
    const sole = (given: Given) => soleWay(viewFacts(given));
    expect(sole({ active: [], available: [BTC_BTC] })).toMatchObject(BTC_BTC);
    expect(sole({ active: [], available: [BTC_BTC, USDT_ETH] })).toBeUndefined();
    expect(sole({ active: [] })).toBeUndefined();
    expect(sole({ available: [BTC_BTC] })).toBeUndefined();
    // A method whose row was altered stays chosen: the payer is not redirected to a different one.
    expect(sole({ active: [broken], available: [BTC_BTC] })).toBeUndefined();
    expect(sole({ active: [], available: [BTC_BTC], nowMs: EXPIRES + 1 })).toBeUndefined();
    expect(sole({ active: [], available: [BTC_BTC], status: "CANCELLED" })).toBeUndefined();
  });
});

describe("payments", () => {
  it("are shown with their current confirmations, and without the sender", () => {
    const [payment, ...more] = viewOf({ payments: [{}], tipHeight: 101 }).payments;
    expect(more).toEqual([]);
    expect(payment).toEqual({
      txHash: HASH,
      amount: "4",
      code: "USDT",
      networkName: "Ethereum",
      state: "unconfirmed",
      confirmations: 2,
      requiredConfirmations: 3,
      isLate: false,
      receivedAtMs: NOW,
    });
  });

  it.each([
    ["DETECTED", ["unconfirmed"]],
    ["CONFIRMED", ["confirmed"]],
    ["REORGED", ["gone"]],
    ["DROPPED", []],
    ["IGNORED", []],
    ["UNMATCHED", []],
  ] as const)("%s is shown as %j", (status, states) => {
    expect(viewOf({ payments: [{ status }] }).payments.map(({ state }) => state)).toEqual(states);
  });
});

describe("the merchant's texts", () => {
  const product: Product = {
    id: makeId("prd", "0".repeat(26)),
    merchantId: MERCHANT_ID,
    name: "Mug",
    description: null,
    priceMicros: 1n,
    currency: "USD",
    image: "a".repeat(64),
    isActive: true,
    askForName: false,
    askForAddress: false,
    askForPhoneNumber: false,
    createdAtMs: NOW,
    updatedAtMs: NOW,
    deletedAtMs: null,
  };

  it("lose their control and direction characters, and are otherwise unchanged", () => {
    const brand = JSON.stringify({ name: "Caf\u202eé \u0007<b>" });
    const view = viewOf({ invoice: { name: " \u2066Order\n1001\u2069 ", description: "\u200e" }, settings: { brand } });
    expect([view.title, view.description, view.shop.name]).toEqual(["Order 1001", null, "Café <b>"]);
  });

  it("that are blank are replaced by the ids of invoice and merchant", () => {
    const unseen = fc.string({ unit: fc.constantFrom("\u202e", "\u0000", " ", "\n", "\u2069", "\ufeff") });
    fc.assert(
      fc.property(unseen, (text) => {
        const { title, shop } = viewOf({ invoice: { name: text }, merchantName: text });
        expect([title, shop.name]).toEqual([makeId("inv", "0".repeat(26)), MERCHANT_ID]);
      }),
      { numRuns: RUNS / 10 },
    );
  });

  it("are shown with images from our own origin", () => {
    const logo = "b".repeat(64);
    const view = viewOf({ product, settings: { brand: JSON.stringify({ logo }) } });
    expect(view.imageUrl).toBe(`/images/${MERCHANT_ID}/${product.image}`);
    expect(view.shop.logoUrl).toBe(`/images/${MERCHANT_ID}/${logo}`);
    expect(viewOf().imageUrl).toBeNull();
  });
});

describe("the view", () => {
  it("offers a link back to the shop once the invoice is paid, if the shop has set an address", () => {
    const redirectUrl = "https://shop.example/thanks";
    for (const status of INVOICE_STATUSES) {
      const isPaid = status === "PAID" || status === "OVERPAID";
      const view = viewOf({ status, invoice: { redirectUrl }, paidAtMs: NOW + 5 });
      expect([view.canReturn, view.paidAtMs]).toEqual([isPaid, isPaid ? NOW + 5 : null]);
      expect(viewOf({ status }).canReturn).toBe(false);
      expect(JSON.stringify(view, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
        "thanks",
      );
    }
  });

  it("offers a claim on each network of the chosen methods, once per network", () => {
    const { claimNetworks } = viewOf({ active: [USDT_ETH, { cryptocurrency: "USDC", network: "ETH" }, BTC_BTC] });
    expect(claimNetworks).toEqual([
      { network: "ETH", networkName: "Ethereum" },
      { network: "BTC", networkName: "Bitcoin" },
    ]);
    expect(viewOf({ active: [], available: [BTC_BTC] }).claimNetworks).toEqual([]);
  });

  it.each(INVOICE_STATUSES)("ends live updates for %s if and only if the page does not poll", (status) => {
    const { pollSeconds, isLive } = viewOf({ status });
    expect([pollSeconds === 0, !isLive]).toEqual([isPageOver(status), isPageOver(status)]);
  });

  it("polls most often while a payment is expected, and does not poll when nothing can change", () => {
    const seconds = (given: Given) => viewOf(given).pollSeconds;
    expect([seconds({ status: "PAID" }), seconds({ status: "OVERPAID" }), seconds({ status: "CANCELLED" })]).toEqual([
      0, 0, 0,
    ]);
    expect([seconds({ status: "EXPIRED" }), seconds({ active: [] })]).toEqual([30, 30]);
    // Paid twice: the page sees the second payment being confirmed.
    const twice = { status: "PAID", payments: [{ status: "CONFIRMED" }, { status: "DETECTED" }] } as const;
    expect([seconds(twice), viewOf(twice).isLive]).toEqual([seconds({ status: "PENDING_CONFIRMATION" }), false]);
    for (const given of [{}, { status: "PENDING_CONFIRMATION" }, { nowMs: EXPIRES + 1 }] as const) {
      expect(seconds(given)).toBeGreaterThanOrEqual(3);
      expect(seconds(given)).toBeLessThanOrEqual(15);
    }
  });

  it("warns of test coins only for the method shown, or when every method is on a test network", () => {
    const sepolia = { cryptocurrency: "USDC", network: "ETH_SEPOLIA" };
    const nile = { cryptocurrency: "TRX", network: "TRX_NILE" };
    const isTest = (given: Given) => viewOf(given).isTest;
    expect([isTest({ available: [sepolia] }), isTest({ active: [sepolia], available: [USDT_ETH] })]).toEqual([
      false,
      true,
    ]);
    expect([isTest({ active: [], available: [sepolia, USDT_ETH] }), isTest({ active: [] })]).toEqual([false, false]);
    expect(isTest({ active: [], available: [sepolia, nile] })).toBe(true);
  });

  it("says whether payments are still monitored, and whether late payments are accepted", () => {
    const until = { monitorUntilMs: EXPIRES + 10 };
    expect(viewOf({ status: "EXPIRED", invoice: until, nowMs: EXPIRES + 10 }).isMonitored).toBe(true);
    expect(viewOf({ status: "EXPIRED", invoice: until, nowMs: EXPIRES + 11 }).isMonitored).toBe(false);
    expect(viewOf({ status: "AWAITING_PAYMENT", invoice: until, nowMs: EXPIRES + 11 }).isMonitored).toBe(true);
    expect(viewOf({ status: "PENDING_CONFIRMATION", invoice: until, nowMs: EXPIRES + 11 }).isMonitored).toBe(true);
    expect(viewOf({ invoice: { latePaymentPolicy: "ACCEPT" } }).acceptsLate).toBe(true);
  });

  it("shows the missing amount, which is never below 0", () => {
    expect(viewOf({ invoice: partial }).missing).toEqual({ micros: 6_000_000n, currency: "USD" });
    expect(viewOf({ status: "OVERPAID", invoice: { receivedMicros: 12_000_000n } }).missing.micros).toBe(0n);
  });
});
