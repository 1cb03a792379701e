import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Choices, CONFIRMATIONS, EVENTS, wantedOfStore } from "../../../../scripts/move/from-btcpay.ts";
import type { BtcpayExport, BtcpayMethod, BtcpayStore, BtcpayWebhook } from "../../../../scripts/move/greenfield.ts";
import { updateSettingsBody } from "../../../../src/accounts/merchants/contract.ts";
import { registerWalletBody } from "../../../../src/commerce/wallets/contract.ts";
import { createWebhookBody } from "../../../../src/notifications/webhooks/contract.ts";
import { type BtcpayNetwork, btcpayAccount } from "../../../support/btcpay-accounts.ts";

const STORE: BtcpayStore = {
  id: "S1",
  name: "Coffee",
  defaultCurrency: "USD",
  invoiceExpirationSeconds: 900,
  speedPolicy: "LowMediumSpeed",
  paymentTolerance: 0,
};
const NONE: Choices = { keys: new Map(), unused: new Set() };
const UNUSED: Choices = { keys: new Map(), unused: new Set(["BTC"]) };

function methodOf(on: BtcpayNetwork = "BTC", changes: Partial<BtcpayMethod> = {}): BtcpayMethod {
  const { scheme, path, addresses } = btcpayAccount(on, "segwit", 0, 3);
  const code = on.replace("_TESTNET", "");
  return {
    id: `${code}-CHAIN`,
    code,
    isEnabled: true,
    scheme,
    accountKeyPath: path,
    previewed: addresses,
    hasTransactions: undefined,
    ...changes,
  };
}

function exportOf(changes: Partial<BtcpayExport> = {}): BtcpayExport {
  return { store: STORE, methods: [methodOf()], webhooks: [], hasInvoices: false, ...changes };
}

function wanted(of: BtcpayExport, choices = NONE, all: readonly BtcpayExport[] = [of]) {
  return wantedOfStore(all, of, choices);
}

const webhook = (changes: Partial<BtcpayWebhook>): BtcpayWebhook => ({
  id: "W1",
  url: "https://shop.example/hook",
  isEnabled: true,
  everything: false,
  events: ["InvoiceSettled"],
  ...changes,
});

describe("an account key from BTCPay Server", () => {
  it("does not move unless the operator confirms that no address was shown", () => {
    const { wallets, left } = wanted(exportOf());
    expect([wallets, left[0]]).toEqual([[], expect.stringMatching(/BTC-CHAIN: .*two customers.*--key BTC=/)]);
  });

  it("moves disabled if no store with this key has an invoice", () => {
    const { wallets, notes } = wanted(exportOf(), UNUSED);
    expect(wallets).toMatchObject([
      { body: { network: "BTC", derivationPath: "m/84'/0'/0'", requiredConfirmations: 2, isEnabled: false } },
    ]);
    expect(notes[0]).toMatch(/registered disabled/);
  });

  it.each([
    ["has invoices", true, /has invoices/],
    ["may have invoices", undefined, /canviewinvoices/],
  ])("does not move if another store with this key %s, whatever the operator confirms", (_, hasInvoices, reason) => {
    const of = exportOf();
    const sister = exportOf({ store: { ...STORE, id: "S2" }, hasInvoices });
    const { wallets, left } = wanted(of, UNUSED, [of, sister]);
    expect([wallets, left[0]]).toEqual([[], expect.stringMatching(reason)]);
  });

  it("does not move if its wallet has a transaction, such as a payment to an address on the Receive page", () => {
    const of = exportOf({ methods: [methodOf("BTC", { hasTransactions: true })] });
    const { wallets, left } = wanted(of, UNUSED);
    expect([wallets, left[0]]).toEqual([[], expect.stringMatching(/has transactions/)]);
    expect(wanted(exportOf({ methods: [methodOf("BTC", { hasTransactions: false })] }), UNUSED).wallets).toHaveLength(
      1,
    );
  });

  it("does not prevent the move of another store's key", () => {
    const of = exportOf();
    const other = { ...methodOf(), ...btcpayAccount("BTC", "p2sh", 5, 3) };
    const busy = exportOf({ methods: [{ ...other, previewed: other.addresses }], hasInvoices: true });
    expect(wanted(of, UNUSED, [of, busy]).wallets).toHaveLength(1);
  });
});

describe("the key of a new account", () => {
  const fresh = btcpayAccount("BTC", "segwit", 1, 3);
  const withKey = (key: string): Choices => ({ keys: new Map([["BTC", key]]), unused: new Set() });
  // BTCPay writes the key as an xpub, which Edgetill takes for BIP44, so the test uses a BIP44 account.
  const legacy = btcpayAccount("BTC", "legacy", 1, 3);
  const xpubOf = ({ scheme }: { readonly scheme: string }) => scheme.replace(/-.*/, "");

  it("replaces the old key, and is enabled if the old key was", () => {
    for (const isEnabled of [true, false]) {
      const { wallets, notes } = wanted(
        exportOf({ methods: [methodOf("BTC", { isEnabled })] }),
        withKey(xpubOf(legacy)),
      );
      expect(wallets).toMatchObject([
        { addresses: legacy.addresses, body: { isEnabled, derivationPath: "m/44'/0'/1'" } },
      ]);
      expect(notes[0]).toContain(legacy.addresses[0]);
    }
  });

  it("also replaces a key that cannot move", () => {
    const method = methodOf("BTC", { scheme: `2-of-${fresh.scheme}-${fresh.scheme}` });
    expect(wanted(exportOf({ methods: [method] }), withKey(xpubOf(legacy))).wallets).toHaveLength(1);
  });

  it("is refused if BTCPay Server uses it, or if it is not a key", () => {
    const { scheme, path, addresses } = btcpayAccount("BTC", "legacy", 0, 3);
    const method = methodOf("BTC", { scheme, accountKeyPath: path, previewed: addresses });
    const same = wanted(exportOf({ methods: [method] }), withKey(xpubOf({ scheme })));
    expect([same.wallets, same.left[0]]).toEqual([[], expect.stringContaining("BTCPay Server uses")]);
    const broken = wanted(exportOf(), withKey("zpub1"));
    expect([broken.wallets, broken.left[0]]).toEqual([[], expect.stringMatching(/--key BTC is refused/)]);
  });
});

describe("what has no counterpart is listed", () => {
  it.each([
    ["Lightning", { id: "BTC-LN", code: undefined }, /BTC-LN: .*on chain only/],
    ["a different coin", { id: "DOGE-CHAIN", code: "DOGE" }, /DOGE-CHAIN: .*BTC and LTC only/],
    ["a key that cannot be read", { scheme: undefined }, /canmodifystoresettings/],
  ])("%s", (_, changes, reason) => {
    const { wallets, left } = wanted(exportOf({ methods: [methodOf("BTC", changes)] }), UNUSED);
    expect([wallets, left[0]]).toEqual([[], expect.stringMatching(reason)]);
  });

  it.each([
    ["webhooks that may not be read", undefined, /canmodifywebhooks/],
    ["a disabled webhook", [webhook({ isEnabled: false })], /it is disabled/],
    ["a webhook for payouts only", [webhook({ events: ["PayoutCreated"] })], /no event like PayoutCreated/],
  ])("%s", (_, webhooks, reason) => {
    const { webhooks: bodies, left } = wanted(exportOf({ methods: [], webhooks }));
    expect([bodies, left[0]]).toEqual([[], expect.stringMatching(reason)]);
  });
});

describe("webhooks", () => {
  it("start switched off, with Edgetill's names for those events that have one", () => {
    const { webhooks, left } = wanted(
      exportOf({ webhooks: [webhook({ events: ["InvoiceSettled", "PayoutCreated"] })] }),
    );
    expect(webhooks).toMatchObject([{ events: ["invoice.overpaid", "invoice.paid"], isActive: false }]);
    expect(left.join()).toContain("PayoutCreated");
  });

  it("that subscribe to everything get all invoice and payment events", () => {
    expect(wanted(exportOf({ webhooks: [webhook({ everything: true })] })).webhooks).toMatchObject([
      { events: ["invoice.*", "payment.*"] },
    ]);
  });

  it("are converted to request bodies that the API accepts, whatever their events, with or without a plugin", () => {
    const names = fc.subarray([...Object.keys(EVENTS), "PayoutCreated", "constructor"], { minLength: 1 });
    const secrets = fc.option(fc.constantFrom(new Map(), new Map([["W1", "2xMoved8Secret5OfThePlugin"]])), {
      nil: undefined,
    });
    fc.assert(
      fc.property(names, fc.boolean(), secrets, (events, everything, plugin) => {
        const choices = { ...NONE, plugin };
        for (const body of wanted(exportOf({ webhooks: [webhook({ events, everything })] }), choices).webhooks)
          expect(createWebhookBody().safeParse(body).success, JSON.stringify(body)).toBe(true);
      }),
    );
  });

  it("for a plugin keep BTCPay Server's format; they are active if their secret is given, and otherwise start switched off with a new secret", () => {
    const webhooks = [webhook({}), webhook({ id: "W2", events: ["InvoiceExpired", "InvoicePaidAfterExpiration"] })];
    const {
      webhooks: bodies,
      settings,
      left,
      notes,
    } = wanted(exportOf({ webhooks }), {
      ...NONE,
      plugin: new Map([["W1", "2xMoved8Secret5OfThePlugin"]]),
    });
    expect(bodies).toMatchObject([
      { format: "GREENFIELD", isActive: true, secret: "2xMoved8Secret5OfThePlugin" },
      { format: "GREENFIELD", isActive: false, events: ["invoice.expired", "invoice.underpaid"] },
    ]);
    expect(bodies[1]).not.toHaveProperty("secret");
    expect(settings.formerStoreId).toBe(STORE.id);
    expect(left.join()).toContain("no InvoicePaidAfterExpiration for plugins");
    expect(notes.join()).toContain("this host and a new key");
  });
});

describe("a store's settings", () => {
  it("are converted to their counterparts, with a note where they differ", () => {
    const store = { ...STORE, defaultCurrency: "EUR", paymentTolerance: 12.345, speedPolicy: "HighSpeed" };
    const { settings, notes } = wanted(exportOf({ store }), UNUSED);
    expect(settings).toEqual({ invoiceLifetimeSeconds: 900, underpaidTolerancePercent: 10, brandName: "Coffee" });
    expect(notes.join("\n")).toMatch(/one confirmation.*12\.345 % becomes 10 %.*underpaidToleranceMax.*"EUR"/s);
  });

  it("never tolerate a larger underpayment than before", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 10, noNaN: true }), (paymentTolerance) => {
        const { settings } = wanted(exportOf({ store: { ...STORE, paymentTolerance } }));
        const percent = settings.underpaidTolerancePercent ?? Number.NaN;
        expect(percent).toBeLessThanOrEqual(paymentTolerance + 1e-6);
        expect(percent).toBeGreaterThan(paymentTolerance - 0.01 - 1e-6);
        expect(updateSettingsBody().safeParse({ underpaidTolerancePercent: percent }).success).toBe(true);
      }),
    );
  });

  it("become settings and wallets that the API accepts, for any store", () => {
    const store = fc.record({
      id: fc.constant("S1"),
      name: fc.string(),
      defaultCurrency: fc.constantFrom(undefined, "USD", "EUR"),
      invoiceExpirationSeconds: fc.option(fc.integer({ min: 0, max: 1e9 }), { nil: undefined }),
      speedPolicy: fc.constantFrom(undefined, ...Object.keys(CONFIRMATIONS), "toString"),
      paymentTolerance: fc.option(fc.double({ min: -1, max: 200, noNaN: true }), { nil: undefined }),
    });
    fc.assert(
      fc.property(store, (of) => {
        const { settings, wallets } = wanted(exportOf({ store: of }), UNUSED);
        const { brandName, ...rest } = settings;
        const body = {
          maxActiveInvoices: 1,
          ...rest,
          ...(brandName === undefined ? {} : { brand: { name: brandName } }),
        };
        expect(updateSettingsBody().safeParse(body).success, JSON.stringify(settings)).toBe(true);
        expect(registerWalletBody().safeParse(wallets[0]?.body).success).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
