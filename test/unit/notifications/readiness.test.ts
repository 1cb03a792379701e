// Whether a merchant can be paid now. This must agree with the creation of an invoice, and with what `/healthz` says about a network.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import type { NetworkCursor } from "../../../src/commerce/cursors/cursor.ts";
import { quoteMethod, walletRefusal, walletsToActivate } from "../../../src/commerce/payment-methods/payment-method.ts";
import { serverRoomRefusal } from "../../../src/commerce/public-holds/check-room.ts";
import { type MacKeys, signRow } from "../../../src/commerce/wallet-records/row-mac.ts";
import { type Wallet, walletMacSubject } from "../../../src/commerce/wallet-records/wallet.ts";
import { MINUTE_MS } from "../../../src/lib/time.ts";
import { SEEN_LATE } from "../../../src/notifications/readiness/finding.ts";
import { type ReadinessOf, readinessOf } from "../../../src/notifications/readiness/readiness.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { RUNS } from "../../support/property-runs.ts";
import { DIRECT_WALLET } from "../commerce/wallets/direct-wallet.ts";

const NOW = 1_800_000_000_000;
const KEYS: MacKeys = [{ id: "k", secret: new Uint8Array(32).fill(1) }];
const BTC = { network: "BTC", cryptocurrency: "BTC" };
const ago = (minutes: number) => NOW - minutes * MINUTE_MS;

function walletOf(changes: Partial<Wallet> = {}): Wallet {
  return { ...DIRECT_WALLET, ...signRow(KEYS, walletMacSubject(DIRECT_WALLET)), ...changes };
}

const READ: NetworkCursor = {
  network: "BTC",
  isResting: false,
  sinceMs: NOW,
  height: 7,
  hash: "h7",
  checkpoints: "[]",
  passedMs: NOW,
  lastMovedAtMs: NOW,
  tipHeight: 9,
  finalizedHeight: null,
  tipTimeMs: NOW,
  tickedAtMs: NOW,
  degradedSinceMs: null,
  lastOutage: null,
  progress: "{}",
  pausedAtMs: null,
};
const MERCHANT = {
  activeInvoices: 0,
  maxActiveInvoices: 100,
  publicInvoices: 0,
  maxPublicInvoices: 10,
  suspendedAtMs: null,
};

function factsOf(changes: Partial<ReadinessOf> = {}): ReadinessOf {
  return {
    merchant: MERCHANT,
    wallets: [walletOf()],
    cursors: [READ],
    macKeys: KEYS,
    isWatched: (network) => network === "BTC",
    hasSource: (network) => network === "BTC",
    pollSeconds: null,
    currency: "USD",
    table: fixedRateTable(NOW),
    unpriced: undefined,
    full: undefined,
    isRestoring: false,
    nowMs: NOW,
    ...changes,
  };
}

function coin(of: ReadinessOf, pair = BTC) {
  const found = readinessOf(of).coins.find(
    ({ network, cryptocurrency }) => network === pair.network && cryptocurrency === pair.cryptocurrency,
  );
  if (found === undefined) throw new Error("the coin is not listed");
  return found;
}
const codes = (findings: readonly { readonly code: string }[]) => findings.map(({ code }) => code);
const ofCursor = (changes: Partial<NetworkCursor>) => coin(factsOf({ cursors: [{ ...READ, ...changes }] }));

test("a coin can be paid if it has an open wallet, a rate, and a network that is read", () => {
  const { canBePaid, reasons, warnings } = readinessOf(factsOf());
  expect({ canBePaid, reasons, warnings }).toEqual({ canBePaid: true, reasons: [], warnings: [] });
  expect(coin(factsOf())).toEqual({
    ...BTC,
    isTest: false,
    walletId: DIRECT_WALLET.id,
    canBePaid: true,
    reasons: [],
    warnings: [],
    reading: { isBeingRead: true, height: 7, tipHeight: 9, secondsBehind: 0 },
  });
});

describe("payments in a coin are not possible", () => {
  it.each<readonly [string, Partial<ReadinessOf>, readonly string[]]>([
    ["without a wallet", { wallets: [] }, ["NO_WALLET"]],
    ["with a disabled wallet", { wallets: [walletOf({ isEnabled: false })] }, ["WALLET_DISABLED"]],
    [
      "before the wallet's delay is over",
      { wallets: [walletOf({ usableFromMs: NOW + 1 })] },
      ["WALLET_CHANGE_PENDING"],
    ],
    ["with a frozen wallet", { wallets: [walletOf({ frozenAtMs: 5 })] }, ["WALLET_FROZEN"]],
    ["with an altered wallet", { wallets: [walletOf({ address: "x" })] }, ["WALLET_FROZEN"]],
    ["without a source", { isWatched: () => false, hasSource: () => false }, ["NO_SOURCE"]],
    ["while the network is paused", { cursors: [{ ...READ, pausedAtMs: ago(1) }] }, ["PAUSED"]],
    ["without a rate", { table: { assets: {}, fiat: {} } }, ["NO_RATE"]],
    ["in a currency without a rate", { currency: "XPF", table: { ...fixedRateTable(NOW), fiat: {} } }, ["NO_RATE"]],
    [
      "for several reasons, each of which is reported",
      { wallets: [walletOf({ isEnabled: false, frozenAtMs: 5 })], hasSource: () => false, isWatched: () => false },
      ["WALLET_DISABLED", "WALLET_FROZEN", "NO_SOURCE"],
    ],
  ])("%s", (_, changes, reasons) => {
    const found = coin(factsOf(changes));
    expect({ canBePaid: found.canBePaid, reasons: codes(found.reasons) }).toEqual({ canBePaid: false, reasons });
  });

  it.each<readonly [string, Partial<ReadinessOf>, readonly string[]]>([
    ["while the merchant is suspended", { merchant: { ...MERCHANT, suspendedAtMs: 7 } }, ["MERCHANT_SUSPENDED"]],
    ["during a restore", { isRestoring: true }, ["RESTORING"]],
    ["at the invoice limit", { full: { code: "TOO_MANY_ACTIVE_INVOICES", limit: 100 } }, ["LIMIT"]],
    [
      "in a currency that no sources agree on",
      { unpriced: { code: "CURRENCY_NOT_PRICED", currency: "USD", isDisputed: true } },
      ["CURRENCY_NOT_PRICED"],
    ],
  ])("%s, and neither are payments in any other coin", (_, changes, reasons) => {
    const found = readinessOf(factsOf(changes));
    expect(codes(found.reasons)).toEqual(reasons);
    expect(found.canBePaid).toBe(false);
    expect(coin(factsOf(changes))).toMatchObject({ canBePaid: false, reasons: [] });
  });
});

describe("a network's source", () => {
  const refusing = (...untilMs: readonly number[]) => ({
    progress: JSON.stringify({
      sources: untilMs.map((openUntilMs) => ({
        kind: "esplora",
        failures: 3,
        openUntilMs,
        lastOutage: "BANNED",
      })),
    }),
  });

  it.each<readonly [string, Partial<NetworkCursor>, readonly string[], readonly string[]]>([
    ["that fails is a warning at first", { degradedSinceMs: ago(5) + 1, lastOutage: "TIMEOUT" }, [], ["SOURCE_SILENT"]],
    ["that fails for 5 min is a reason", { degradedSinceMs: ago(5), lastOutage: "TIMEOUT" }, ["SOURCE_SILENT"], []],
    ["that has stopped is lagging", { degradedSinceMs: ago(5), lastOutage: "BEHIND" }, ["SOURCE_LAGS"], []],
    ["that is read with a delay is lagging", { passedMs: ago(9) }, ["SOURCE_LAGS"], []],
    ["whose watcher does not run is lagging", { tickedAtMs: ago(6), lastMovedAtMs: ago(6) }, ["SOURCE_LAGS"], []],
    [
      "that refuses further requests is reported as refusing",
      { degradedSinceMs: ago(5), lastOutage: "RATE_LIMITED", ...refusing(NOW + 9, NOW + 5) },
      ["SOURCE_REFUSES"],
      [],
    ],
    [
      "is not reported as refusing once one of its sources can be asked again",
      { degradedSinceMs: ago(5), lastOutage: "RATE_LIMITED", ...refusing(NOW + 9, NOW) },
      ["SOURCE_SILENT"],
      [],
    ],
    ["is not judged while nothing is awaited", { isResting: true, degradedSinceMs: ago(99), passedMs: 0 }, [], []],
  ])("%s", (_, changes, reasons, warnings) => {
    const found = ofCursor(changes);
    expect([codes(found.reasons), codes(found.warnings)]).toEqual([reasons, warnings]);
    expect(found.canBePaid).toBe(reasons.length === 0);
  });

  it("that fails is reported with the time of its first failure, and with its lag or the time until which it refuses requests", () => {
    const lagging = ofCursor({ passedMs: ago(9), degradedSinceMs: ago(8), lastOutage: "BEHIND" });
    expect(lagging.reasons[0]).toMatchObject({
      since: new Date(ago(8)).toISOString(),
      secondsBehind: 540,
      blocksBehind: 2,
    });
    const refused = ofCursor({ degradedSinceMs: ago(8), ...refusing(NOW + 9, NOW + 5) });
    expect(refused.reasons[0]).toMatchObject({ until: new Date(NOW + 5).toISOString(), secondsBehind: null });
  });

  it("that is missing is only a warning in development, where invoices are still created", () => {
    const found = coin(factsOf({ hasSource: () => false, isWatched: () => true }));
    expect([found.canBePaid, codes(found.warnings)]).toEqual([true, ["NO_SOURCE"]]);
  });
});

describe("a network that was never read", () => {
  it.each<readonly [string, readonly NetworkCursor[]]>([
    ["has no row", []],
    ["rests", [{ ...READ, height: null, isResting: true }]],
    ["has just begun to be watched", [{ ...READ, height: null }]],
  ])("causes a warning, but does not prevent payments, if it %s", (_, cursors) => {
    const found = coin(factsOf({ cursors }));
    expect([found.canBePaid, found.reading, codes(found.warnings)]).toEqual([true, null, ["NOT_YET_READ"]]);
  });

  it("causes no NOT_YET_READ warning while its source fails or is missing; a missing source causes a NO_SOURCE warning instead", () => {
    const failing = { ...READ, height: null, degradedSinceMs: ago(9), lastOutage: "TIMEOUT" };
    expect(coin(factsOf({ cursors: [failing] })).warnings).toEqual([]);
    expect(codes(coin(factsOf({ cursors: [], hasSource: () => false })).warnings)).toEqual(["NO_SOURCE"]);
  });
});

it("a test coin alone does not make a merchant ready for payments, and each coin is marked as test or real", () => {
  const test = walletOf({ id: "wal_01M7Y116S5004EM2R6G33SCWPD", network: "BTC_TESTNET", cryptocurrency: "BTC" });
  const signed = { ...test, ...signRow(KEYS, walletMacSubject(test)) };
  const of = (changes: Partial<Wallet>) =>
    factsOf({ wallets: [walletOf(changes), signed], hasSource: () => true, isWatched: () => true });
  const testCoin = coin(of({}), { network: test.network, cryptocurrency: "BTC" });
  expect(testCoin).toMatchObject({ isTest: true, canBePaid: true });
  expect(readinessOf(of({})).canBePaid).toBe(true);
  expect(readinessOf(of({ frozenAtMs: 5 })).canBePaid).toBe(false);
});

it("there is a warning when a limit is nearly reached, and when the limit for browsers is reached", () => {
  const warned = (changes: Partial<typeof MERCHANT>) =>
    readinessOf(factsOf({ merchant: { ...MERCHANT, ...changes } })).warnings.map(({ detail }) => detail);
  expect(warned({ activeInvoices: 89, publicInvoices: 8 })).toEqual([]);
  expect(warned({ activeInvoices: 90 })).toEqual([expect.stringContaining("90 invoices created by your server")]);
  expect(warned({ publicInvoices: 10 })).toEqual([expect.stringContaining("10 invoices started by customers")]);
  expect(readinessOf(factsOf({ merchant: { ...MERCHANT, publicInvoices: 10 } })).canBePaid).toBe(true);
});

describe("the coins", () => {
  it("with a wallet are listed first, and those on test networks only if there is a source or a wallet", () => {
    const of = (changes: Partial<ReadinessOf>) => readinessOf(factsOf(changes)).coins;
    const ltc = walletOf({ id: "wal_01M7Y116S5004EM2R6G33SCWPD", network: "LTC", cryptocurrency: "LTC" });
    expect(of({ wallets: [ltc] })[0]).toMatchObject({ network: "LTC", walletId: ltc.id });
    const named = (changes: Partial<ReadinessOf>) => new Set(of(changes).map(({ network }) => network));
    expect(named({})).toContain("ETH");
    expect([...named({})].filter((name) => networkNamed(name)?.isTest)).toEqual([]);
    expect(named({ hasSource: (name) => name === "ETH_SEPOLIA" })).toContain("ETH_SEPOLIA");
  });
});

// Random states of everything that affects the creation of an invoice, for one coin.
const maybe = <T>(value: T) => fc.option(fc.constant(value), { nil: null });
const states = fc.record({
  hasWallet: fc.boolean(),
  isEnabled: fc.boolean(),
  usableFromMs: fc.constantFrom(0, NOW, NOW + 1),
  frozenAtMs: maybe(1),
  isAltered: fc.boolean(),
  hasSource: fc.boolean(),
  isDevelopment: fc.boolean(),
  pausedAtMs: maybe(ago(1)),
  isResting: fc.boolean(),
  degradedSinceMs: fc.option(fc.constantFrom(ago(1), ago(30)), { nil: null }),
  hasRate: fc.boolean(),
  activeInvoices: fc.constantFrom(0, 95, 100, 101),
  suspendedAtMs: maybe(1),
});

it("a coin can be paid if and only if creating an invoice activates it, unless its source reports payments late", () => {
  fc.assert(
    fc.property(states, (state) => {
      const { isEnabled, usableFromMs, frozenAtMs, pausedAtMs, isResting, degradedSinceMs } = state;
      const wallet = walletOf({
        isEnabled,
        usableFromMs,
        frozenAtMs,
        ...(state.isAltered ? { address: "other" } : {}),
      });
      const rates = fixedRateTable(NOW);
      const merchant = { ...MERCHANT, activeInvoices: state.activeInvoices, suspendedAtMs: state.suspendedAtMs };
      const of = factsOf({
        merchant,
        full: serverRoomRefusal(merchant, "API"),
        wallets: state.hasWallet ? [wallet] : [],
        cursors: [{ ...READ, pausedAtMs, isResting, degradedSinceMs }],
        hasSource: () => state.hasSource,
        isWatched: () => state.hasSource || state.isDevelopment,
        table: state.hasRate ? rates : { ...rates, assets: {} },
      });
      const { canBePaid, reasons } = coin(of);
      const isCreated = createdWith(of);
      const late = codes(reasons).filter((code) => SEEN_LATE.some((each) => each === code));
      expect(isCreated).toBe(canBePaid || (late.length > 0 && late.length === reasons.length && isShopOpen(of)));
      if (canBePaid) expect(late).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

function isShopOpen({ merchant, full }: ReadinessOf): boolean {
  return merchant.suspendedAtMs === null && full === undefined;
}

/** Decides like `planInvoice` and `activate`, apart from what only a Durable Object knows. */
function createdWith(of: ReadinessOf): boolean {
  const isPaused = of.cursors.some(({ pausedAtMs }) => pausedAtMs !== null);
  const wallets = of.wallets.map((wallet) => ({ ...wallet, isPaused }));
  const context = { ...of, amountMicros: 1_000_000n };
  const chosen = walletsToActivate(wallets, [BTC], context);
  if (!isShopOpen(of) || !chosen.ok) return false;
  const [wallet] = chosen.value;
  if (wallet === undefined || walletRefusal(wallet, context) !== undefined) return false;
  return quoteMethod({ invoice: { amountMicros: 1_000_000n, currency: "USD" }, wallet, ...of }).ok;
}
