import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { updateSettingsBody } from "../../../../src/accounts/merchants/contract.ts";
import {
  changedColumns,
  frameOrigin,
  type SettingsColumns,
  settingsFacts,
  settingsOf,
} from "../../../../src/accounts/merchants/settings.ts";
import { settingsBodyOf } from "../../../../src/accounts/merchants/settings-body.ts";
import { RUNS } from "../../../support/property-runs.ts";

const DEFAULTS: SettingsColumns = {
  invoiceLifetimeSeconds: 3_600,
  rateLockSeconds: 3_600,
  underpaidToleranceBasisPoints: 100,
  underpaidToleranceMaxMicros: 5_000_000n,
  overpaidToleranceBasisPoints: 500,
  monitorSeconds: 86_400,
  latePaymentPolicy: "REVIEW",
  lateGraceSeconds: 0,
  quorumAboveMicros: null,
  maxActiveInvoices: 10_000,
  maxPublicInvoices: 1_000,
  mailReceiptsToCustomers: true,
  mailReceiptsToMerchant: false,
  brand: null,
  frameAncestors: null,
  formerStoreId: null,
};
const NO_DELAY = { walletChangeDelayHours: 0, walletChangeDelayNextHours: null, walletChangeDelayNextFromMs: null };
const LOGO = "ab".repeat(32);
const BRAND = { name: "Corner shop", color: "#1A2b3c", supportUrl: "https://shop.example/help", logo: LOGO };

const schema = updateSettingsBody();
const parsed = (body: unknown) => {
  const result = schema.safeParse(body);
  if (!result.success) throw new Error(result.error.message);
  return result.data;
};
const applied = (columns: SettingsColumns, body: unknown) => changedColumns(settingsOf(columns), parsed(body));
const shown = (columns: SettingsColumns) =>
  settingsBodyOf(
    { ...columns, ...NO_DELAY, id: "mer_1", updatedAtMs: 0 },
    { publicUrl: "https://pay.example", hasSecondSources: false, nowMs: 0 },
  );

describe("a merchant's settings", () => {
  it("start with the defaults of decisions 4, and show money as text", () => {
    expect(shown(DEFAULTS)).toEqual({
      invoiceLifetimeSeconds: 3_600,
      rateLockSeconds: 3_600,
      underpaidTolerancePercent: 1,
      underpaidToleranceMax: "5.000000",
      overpaidTolerancePercent: 5,
      monitorSeconds: 86_400,
      latePaymentPolicy: "REVIEW",
      lateGraceSeconds: 0,
      quorumAboveAmount: null,
      walletChangeDelayHours: 0,
      pendingWalletChangeDelay: null,
      maxActiveInvoices: 10_000,
      maxPublicInvoices: 1_000,
      mailReceiptsToCustomers: true,
      mailReceiptsToMerchant: false,
      brand: { name: null, color: null, supportUrl: null, logo: null, logoUrl: null },
      frameAncestors: [],
      formerStoreId: null,
      warnings: [],
      updatedAt: "1970-01-01T00:00:00.000Z",
    });
  });

  const bounds: readonly [string, readonly unknown[], readonly unknown[]][] = [
    ["invoiceLifetimeSeconds", [60, 2_592_000], [59, 2_592_001, 60.5, "60", null]],
    ["rateLockSeconds", [1, 86_400], [0, 86_401, 1.5, null]],
    ["underpaidTolerancePercent", [0, 0.01, 9.99, 10], [-0.01, 10.01, 1.005, 1e-7, "1", null]],
    ["overpaidTolerancePercent", [0, 0.25, 99.99, 100], [-1, 100.01, 0.001, null]],
    [
      "underpaidToleranceMax",
      [0, "0", 5, 0.000001, "0.000001", 1_000_000, "1000000.000000"],
      [-1, "-1", 1_000_000.1, "1000000.000001", 1e-7, "0.0000001", 0.1 + 0.2, "1e3", "", " 5", "5.", ".5", null],
    ],
    ["quorumAboveAmount", [null, 0, "1000.5"], [-1, "1e3", true]],
    ["monitorSeconds", [0, 604_800], [-1, 604_801]],
    ["latePaymentPolicy", ["REVIEW", "ACCEPT"], ["review", "REFUSE", null]],
    ["lateGraceSeconds", [0, 1, 86_400], [-1, 86_401, 0.5, "60", null]],
    ["walletChangeDelayHours", [0, 168], [-1, 169, 0.5]],
    ["maxActiveInvoices", [1, 1_000_000], [0, 1_000_001]],
    ["maxPublicInvoices", [0, 1_000_000], [-1, 1_000_001]],
    ["mailReceiptsToCustomers", [true, false], [null, 1, "true"]],
    ["mailReceiptsToMerchant", [true, false], [null, 0, "no"]],
    ["brand", [null, {}, BRAND, { name: null }], ["x", [], { colour: "#ffffff" }]],
    [
      "frameAncestors",
      [[], ["https://shop.example"], Array.from({ length: 20 }, (_, n) => `https://s${n}.example`)],
      [null, "https://shop.example", Array.from({ length: 21 }, (_, n) => `https://s${n}.example`), ["*"]],
    ],
  ];
  it.each(bounds)("accept only valid values for %s", (name, good, bad) => {
    const takes = (value: unknown) => schema.safeParse({ [name]: value }).success;
    expect(good.map((value) => [value, takes(value)])).toEqual(good.map((value) => [value, true]));
    expect(bad.map((value) => [value, takes(value)])).toEqual(bad.map((value) => [value, false]));
  });

  it.each([
    ["color", ["#000000", "#FFffFF"], ["red", "#fff", "#gggggg", "#0000000", "000000", "#000000;x:y"]],
    [
      "supportUrl",
      ["https://shop.example", "HTTPS://shop.example/a?b=c"],
      ["http://shop.example", "javascript:alert(1)", "https://a:b@shop.example", "https:shop", "https://shop. x", ""],
    ],
    ["logo", [LOGO], ["", "../x", "A".repeat(64), `${LOGO}0`]],
    ["name", ["é".repeat(100)], ["", "é".repeat(101)]],
  ])("accept only valid values for the brand's %s", (name, good, bad) => {
    const takes = (value: unknown) => schema.safeParse({ brand: { [name]: value } }).success;
    expect([...good, null].filter((value) => !takes(value))).toEqual([]);
    expect(bad.filter(takes)).toEqual([]);
  });

  it("refuse a change that contains no setting, or an unknown one", () => {
    expect(schema.safeParse({}).success).toBe(false);
    expect(schema.safeParse({ rateLock: 60 }).success).toBe(false);
  });

  it("keep every value that a change does not contain, including those in the brand", () => {
    const branded = applied(DEFAULTS, { brand: BRAND });
    expect(settingsOf(branded).brand).toEqual(BRAND);
    expect(shown(branded).brand.logoUrl).toBe(`https://pay.example/images/mer_1/${LOGO}`);
    expect(settingsOf(applied(branded, { brand: { color: null, name: "Shop" } })).brand).toEqual({
      ...BRAND,
      name: "Shop",
      color: null,
    });
    expect(applied(branded, { rateLockSeconds: 60 })).toEqual({ ...branded, rateLockSeconds: 60 });
  });

  it("drop the brand when it or each of its members is null, and the frame origins when their list is empty", () => {
    const full = applied(DEFAULTS, { brand: BRAND, frameAncestors: ["https://shop.example"] });
    expect(applied(full, { brand: null, frameAncestors: [] })).toEqual(DEFAULTS);
    const nulls = { name: null, color: null, supportUrl: null, logo: null };
    expect(applied(full, { brand: nulls, frameAncestors: [] })).toEqual(DEFAULTS);
  });

  it("warn while a quorum amount is set and some network has no second source", () => {
    const columns = applied(DEFAULTS, { quorumAboveAmount: "1000" });
    expect(shown(columns)).toMatchObject({ quorumAboveAmount: "1000.000000", warnings: ["QUORUM_IGNORED"] });
    const everywhere = { publicUrl: "https://pay.example", hasSecondSources: true, nowMs: 0 };
    expect(settingsBodyOf({ ...columns, ...NO_DELAY, id: "mer_1", updatedAtMs: 0 }, everywhere).warnings).toEqual([]);
    expect(shown(applied(columns, { quorumAboveAmount: null })).warnings).toEqual([]);
  });

  it("store and show every amount and percentage without rounding", () => {
    const micros = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
    const points = fc.integer({ min: 0, max: 1_000 });
    fc.assert(
      fc.property(micros, points, fc.boolean(), (amount, percent, isText) => {
        const text = `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, "0")}`;
        const body = {
          underpaidToleranceMax: isText ? text : Number(text),
          underpaidTolerancePercent: percent / 100,
        };
        const columns = applied(DEFAULTS, body);
        expect(columns.underpaidToleranceMaxMicros).toBe(amount);
        expect(columns.underpaidToleranceBasisPoints).toBe(percent);
        expect(shown(columns)).toMatchObject({ underpaidToleranceMax: text, underpaidTolerancePercent: percent / 100 });
        expect(settingsFacts(settingsOf(columns)).underpaidToleranceMax).toBe(text);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("an origin that may frame the checkout", () => {
  it.each([
    ["https://shop.example", "https://shop.example"],
    ["https://Shop.Example/", "https://shop.example"],
    ["https://shop.example:443", "https://shop.example"],
    ["https://shop.example:8443", "https://shop.example:8443"],
    ["https://a-b.c1.example", "https://a-b.c1.example"],
  ])("%s is stored as %s", (text, origin) => {
    expect(frameOrigin(text)).toBe(origin);
  });

  it.each([
    "http://shop.example",
    "https://",
    "https://*.shop.example",
    "*",
    "'self'",
    "https://shop.example/path",
    "https://shop.example?x",
    "https://user@shop.example",
    "https://shop.example;script-src *",
    "https://shop.example;",
    "https://a,b",
    "https://shop.example https://evil.example",
    "https://shop.example\n",
    "https://shop.example:99999",
    "https://é.example",
    "https://[::1]",
    "data:",
    "",
  ])("%j is refused", (text) => {
    expect(frameOrigin(text)).toBeUndefined();
  });

  it("is never a text that a content security policy would read as more than one source", () => {
    const near = fc.stringMatching(/^https:\/\/[ -~]{1,20}$/);
    fc.assert(
      fc.property(fc.oneof(near, fc.string(), fc.webUrl()), (text) => {
        const origin = frameOrigin(text);
        if (origin !== undefined) expect(origin).toMatch(/^https:\/\/[a-z0-9.-]+(:\d+)?$/);
      }),
      { numRuns: RUNS },
    );
  });
});
