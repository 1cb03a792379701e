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

describe("where a payer stands", () => {
  it.each<[string, Given, Stage]>([
    ["nobody takes money", { active: [] }, "unavailable"],
    ["a way can be picked", { active: [], available: [BTC_BTC] }, "choose"],
    ["a way is picked", {}, "pay"],
    ["a way is picked, another wanted", { available: [BTC_BTC], isChoosing: true }, "choose"],
    ["another is wanted, and there is none", { isChoosing: true }, "pay"],
    ["the last moment", { nowMs: EXPIRES }, "pay"],
    ["the moment after it", { nowMs: EXPIRES + 1 }, "checking"],
    ["some has come", { invoice: partial }, "partial"],
    ["some has come, another way wanted", { invoice: partial, available: [BTC_BTC], isChoosing: true }, "partial"],
    ["some has come, and the time is over", { invoice: partial, nowMs: EXPIRES + 1 }, "checking"],
    ["the address was altered", { active: [broken] }, "unavailable"],
    ["the address was altered, another can be picked", { active: [broken], available: [BTC_BTC] }, "choose"],
    ["all is there", { status: "PENDING_CONFIRMATION" }, "seen"],
    ["all is there, after the time", { status: "PENDING_CONFIRMATION", nowMs: EXPIRES + 1 }, "seen"],
    ["paid", { status: "PAID" }, "paid"],
    ["overpaid", { status: "OVERPAID" }, "overpaid"],
    ["underpaid", { status: "UNDERPAID", nowMs: EXPIRES + 1 }, "underpaid"],
    ["expired", { status: "EXPIRED", nowMs: EXPIRES + 1 }, "expired"],
    ["cancelled", { status: "CANCELLED" }, "cancelled"],
    ["cancelled before a way was picked", { status: "CANCELLED", active: [] }, "cancelled"],
  ])("%s", (_, given, stage) => {
    expect(viewOf(given).stage).toBe(stage);
  });

  it("is for the status alone once it is no longer awaited, whatever is asked for", () => {
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

describe("the way to pay that is shown", () => {
  const active = [USDT_TRX, USDT_ETH, BTC_BTC];
  const paidBy = (pair: object, status: "DETECTED" | "CONFIRMED" | "REORGED" = "DETECTED") => [{ ...pair, status }];

  it.each<[string, Given, string | undefined]>([
    ["the one that was asked for", { active, asked: "BTC_BTC" }, "BTC_BTC"],
    ["the newest where none was", { active }, "USDT_TRX"],
    ["the newest where the one asked for is not picked", { active: [USDT_ETH], asked: "BTC_BTC" }, "USDT_ETH"],
    ["the one that money came by", { active, payments: paidBy(BTC_BTC) }, "BTC_BTC"],
    ["not one whose money was taken back", { active, payments: paidBy(BTC_BTC, "REORGED") }, "USDT_TRX"],
    [
      "the one asked for though money came by another",
      { active, payments: paidBy(BTC_BTC), asked: "USDT_ETH" },
      "USDT_ETH",
    ],
    [
      "the next where the newest was altered",
      { active: [{ ...USDT_TRX, changes: { mac: null } }, USDT_ETH] },
      "USDT_ETH",
    ],
    ["none while another is chosen", { active, isChoosing: true }, undefined],
    ["none where its address was altered", { active: [broken], asked: "USDT_ETH" }, undefined],
  ])("is %s", (_, given, key) => {
    expect(viewOf(given).method?.key).toBe(key);
  });

  it("has all that a payer needs, exact", () => {
    expect(viewOf().method).toEqual({
      ...{ key: "USDT_ETH", network: "ETH", networkName: "Ethereum", standard: "ERC-20", isTest: false },
      ...{ code: "USDT", coin: "Tether USD", address: ADDRESS, isShared: true, amount: "10", rate: "1" },
      uri: `ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=${ADDRESS}&uint256=10000000`,
      ...{ deadlineMs: EXPIRES, atDeadline: "expire", requiredConfirmations: 3, minutes: 1 },
      transfer: expect.objectContaining({ chainId: "0x1", value: "0x0" }),
    });
  });

  it("asks for what is still due, and for nothing where nothing is", () => {
    const rest = viewOf({ invoice: partial }).method;
    expect([rest?.amount, rest?.transfer?.data.slice(-8)]).toEqual(["6", (6_000_000).toString(16).padStart(8, "0")]);
    const own = { ...USDT_ETH, changes: { remainderUnits: 5_990_000n } };
    expect(viewOf({ invoice: partial, active: [own] }).method?.amount).toBe("5.99");
    const done = viewOf({ status: "PAID", invoice: { receivedMicros: 10_000_000n } }).method;
    expect([done?.amount, done?.transfer]).toEqual(["0", null]);
  });

  it("asks for any amount where the invoice does: no amount, and no wallet that would send one", () => {
    const any = { ...USDT_ETH, changes: { amountUnits: null } };
    const { method, total, missing } = viewOf({ invoice: { amountMicros: 0n }, active: [any] });
    expect([method?.amount, method?.transfer, total.micros, missing.micros]).toEqual([null, null, 0n, 0n]);
  });

  it("says when its amount is over, and whether then the amount or the invoice is", () => {
    const short = { rateLockSeconds: 900 };
    const at = (given: Given) => [viewOf(given).method?.deadlineMs, viewOf(given).method?.atDeadline];
    expect(at({ invoice: short })).toEqual([NOW + 900_000, "requote"]);
    expect(at({ invoice: { rateLockSeconds: 7_200 } })).toEqual([EXPIRES, "expire"]);
    // The rest of a partial payment is quoted anew as well.
    expect(at({ invoice: { ...short, ...partial } })).toEqual([NOW + 900_000, "requote"]);
  });

  it("shows no amount whose time is over", () => {
    expect(viewOf({ invoice: { rateLockSeconds: 900 }, nowMs: NOW + 900_001 }).method).toBeNull();
  });

  it("of a chain that is no EVM asks no injected wallet", () => {
    expect(viewOf({ active: [USDT_TRX] }).method).toMatchObject({ address: addressOn("TRX"), transfer: null });
    expect(viewOf({ active: [BTC_BTC] }).method).toMatchObject({ standard: null, networkName: "Bitcoin", minutes: 30 });
  });
});

describe("the choice", () => {
  it("is grouped by coin, each with its networks in plain words, picked ones too", () => {
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

  it("is none where there is one way, some has come, or the time is over", () => {
    expect(viewOf().canChoose).toBe(false);
    expect(viewOf({ available: [BTC_BTC], invoice: partial }).canChoose).toBe(false);
    expect(viewOf({ available: [BTC_BTC], nowMs: EXPIRES + 1 })).toMatchObject({ canChoose: false, choices: [] });
  });

  it("is skipped where nothing is picked and one is left, and only then", () => {
    const sole = (given: Given) => soleWay(viewFacts(given));
    expect(sole({ active: [], available: [BTC_BTC] })).toMatchObject(BTC_BTC);
    expect(sole({ active: [], available: [BTC_BTC, USDT_ETH] })).toBeUndefined();
    expect(sole({ active: [] })).toBeUndefined();
    expect(sole({ available: [BTC_BTC] })).toBeUndefined();
    // An altered one is picked all the same: nobody is led past it.
    expect(sole({ active: [broken], available: [BTC_BTC] })).toBeUndefined();
    expect(sole({ active: [], available: [BTC_BTC], nowMs: EXPIRES + 1 })).toBeUndefined();
    expect(sole({ active: [], available: [BTC_BTC], status: "CANCELLED" })).toBeUndefined();
  });
});

describe("payments", () => {
  it("are those of this invoice that were seen, with confirmations as of now, and without who sent them", () => {
    const [payment, ...more] = viewOf({ payments: [{}], tipHeight: 101 }).payments;
    expect(more).toEqual([]);
    expect(payment).toEqual({
      ...{ txHash: HASH, amount: "4", code: "USDT", networkName: "Ethereum", state: "unconfirmed" },
      ...{ confirmations: 2, requiredConfirmations: 3, isLate: false, receivedAtMs: NOW },
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

describe("texts of the merchant", () => {
  const product: Product = {
    ...{ id: makeId("prd", "0".repeat(26)), merchantId: MERCHANT_ID, name: "Mug", description: null, priceMicros: 1n },
    ...{ currency: "USD", image: "a".repeat(64), isActive: true, askForName: false, askForAddress: false },
    ...{ askForPhoneNumber: false, createdAtMs: NOW, updatedAtMs: NOW, deletedAtMs: null },
  };

  it("lose their control and direction characters, and are otherwise as they were written", () => {
    const brand = JSON.stringify({ name: "Caf\u202eé \u0007<b>" });
    const view = viewOf({ invoice: { name: " \u2066Order\n1001\u2069 ", description: "\u200e" }, settings: { brand } });
    expect([view.title, view.description, view.shop.name]).toEqual(["Order 1001", null, "Café <b>"]);
  });

  it("never leave a page without a title or a shop without a name", () => {
    const unseen = fc.string({ unit: fc.constantFrom("\u202e", "\u0000", " ", "\n", "\u2069", "\ufeff") });
    fc.assert(
      fc.property(unseen, (text) => {
        const { title, shop } = viewOf({ invoice: { name: text }, merchantName: text });
        expect([title, shop.name]).toEqual([makeId("inv", "0".repeat(26)), MERCHANT_ID]);
      }),
      { numRuns: RUNS / 10 },
    );
  });

  it("stand with images of our own origin, whatever name it is open under", () => {
    const logo = "b".repeat(64);
    const view = viewOf({ product, settings: { brand: JSON.stringify({ logo }) } });
    expect(view.imageUrl).toBe(`/images/${MERCHANT_ID}/${product.image}`);
    expect(view.shop.logoUrl).toBe(`/images/${MERCHANT_ID}/${logo}`);
    expect(viewOf().imageUrl).toBeNull();
  });
});

describe("what can follow", () => {
  it("is the way back to the shop, once it is paid and the shop has said where", () => {
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

  it("is a claim on each network that the invoice was to be paid on, once", () => {
    const { claimNetworks } = viewOf({ active: [USDT_ETH, { cryptocurrency: "USDC", network: "ETH" }, BTC_BTC] });
    expect(claimNetworks).toEqual([
      { network: "ETH", networkName: "Ethereum" },
      { network: "BTC", networkName: "Bitcoin" },
    ]);
    expect(viewOf({ active: [], available: [BTC_BTC] }).claimNetworks).toEqual([]);
  });

  it.each(INVOICE_STATUSES)("that is %s is told of changes exactly where it asks for them", (status) => {
    expect(isPageOver(status)).toBe(viewOf({ status }).pollSeconds === 0);
  });

  it("is asked for again as often as news can come, and never where none can", () => {
    const seconds = (given: Given) => viewOf(given).pollSeconds;
    expect([seconds({ status: "PAID" }), seconds({ status: "OVERPAID" }), seconds({ status: "CANCELLED" })]).toEqual([
      0, 0, 0,
    ]);
    expect([seconds({ status: "EXPIRED" }), seconds({ active: [] })]).toEqual([30, 30]);
    for (const given of [{}, { status: "PENDING_CONFIRMATION" }, { nowMs: EXPIRES + 1 }] as const) {
      expect(seconds(given)).toBeGreaterThanOrEqual(3);
      expect(seconds(given)).toBeLessThanOrEqual(15);
    }
  });

  it("says that coins have no value only of what is shown: the way, or every way there is", () => {
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

  it("says until when money is looked for, and whether late money counts", () => {
    const until = { monitorUntilMs: EXPIRES + 10 };
    expect(viewOf({ status: "EXPIRED", invoice: until, nowMs: EXPIRES + 10 }).isMonitored).toBe(true);
    expect(viewOf({ status: "EXPIRED", invoice: until, nowMs: EXPIRES + 11 }).isMonitored).toBe(false);
    expect(viewOf({ invoice: { latePaymentPolicy: "ACCEPT" } }).acceptsLate).toBe(true);
  });

  it("names what is missing, never less than nothing", () => {
    expect(viewOf({ invoice: partial }).missing).toEqual({ micros: 6_000_000n, currency: "USD" });
    expect(viewOf({ status: "OVERPAID", invoice: { receivedMicros: 12_000_000n } }).missing.micros).toBe(0n);
  });
});
