import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Choices } from "../../../../scripts/move/from-btcpay.ts";
import { wantedOfMerchant } from "../../../../scripts/move/from-interface.ts";
import type { OtherMerchant, OtherProduct, OtherWallet } from "../../../../scripts/move/interface-source.ts";
import { createProductBody } from "../../../../src/commerce/products/contract.ts";
import { btcpayAccount } from "../../../support/btcpay-accounts.ts";
import accountKeys from "../../../vectors/account-keys.json" with { type: "json" };

const NONE: Choices = { keys: new Map(), unused: new Set() };
const UNUSED: Choices = { keys: new Map(), unused: new Set(["BTC"]) };
const [, , ZPUB] = accountKeys.accounts;

const XPUB: OtherWallet = {
  walletType: "XPUB_WALLET",
  cryptocurrency: "BTC",
  network: "BTC",
  xpub: ZPUB?.xpub,
  derivationPath: "m/84h/0h/0h",
  requiredConfirmations: 3,
  isEnabled: true,
  lastUsedIndex: 0,
  nextIndex: 0,
  previewed: ZPUB?.addresses ?? [],
};
const DIRECT: OtherWallet = {
  walletType: "DIRECT_WALLET",
  cryptocurrency: "USDT",
  network: "Polygon",
  address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  previewed: [],
};

function merchant(changes: Partial<OtherMerchant>): OtherMerchant {
  return { merchantId: "mer_1", wallets: [], webhooks: [], products: [], customers: [], unread: [], ...changes };
}
const wanted = (changes: Partial<OtherMerchant>, choices = NONE) => wantedOfMerchant(merchant(changes), choices);
const walletsOf = (wallet: Partial<OtherWallet>, choices = NONE) =>
  wanted({ wallets: [{ ...XPUB, ...wallet }] }, choices);

describe("an extended key on another server", () => {
  it("moves disabled if that server has not given out any of its addresses", () => {
    const { wallets, notes } = walletsOf({});
    expect(wallets).toMatchObject([
      { body: { network: "BTC", derivationPath: "m/84'/0'/0'", requiredConfirmations: 3, isEnabled: false } },
    ]);
    expect(notes[0]).toMatch(/registered disabled/);
  });

  it.each([
    ["has given out an address", { nextIndex: 1 }, UNUSED, /has given addresses/],
    ["has given out several addresses", { nextIndex: null, lastUsedIndex: 4 }, UNUSED, /has given addresses/],
    ["does not say whether it gave out an address", { nextIndex: null }, NONE, /may have given.*--unused BTC/],
    ["derives different addresses", { previewed: ["1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA"] }, NONE, /other addresses/],
    ["has the key at a different path", { derivationPath: "m/44'/0'/0'" }, NONE, /its path starts with/],
    ["does not show the key", { xpub: null }, NONE, /not an extended public key/],
  ])("does not move if the server %s", (_, changes, choices, reason) => {
    const { wallets, left } = walletsOf(changes, choices);
    expect([wallets, left[0]]).toEqual([[], expect.stringMatching(reason)]);
  });

  it("moves if the server does not say whether it gave out an address, and the operator confirms that it did not", () => {
    expect(walletsOf({ nextIndex: null }, UNUSED).wallets).toHaveLength(1);
  });

  it("is replaced by the key of a new account, which must be different", () => {
    const fresh = btcpayAccount("BTC", "legacy", 1, 3);
    const key = fresh.scheme.replace(/-.*/, "");
    const replaced = walletsOf({ nextIndex: 9 }, { ...NONE, keys: new Map([["BTC", key]]) });
    expect(replaced.wallets).toMatchObject([{ addresses: fresh.addresses, body: { isEnabled: true } }]);
    const same = walletsOf({ nextIndex: 9 }, { ...NONE, keys: new Map([["BTC", XPUB.xpub ?? ""]]) });
    expect([same.wallets, same.left[0]]).toEqual([[], expect.stringMatching(/the one in use/)]);
  });
});

describe("a single address", () => {
  it("moves disabled, because both servers would match payments to it by amount", () => {
    const { wallets, notes } = wanted({ wallets: [DIRECT] });
    expect(wallets).toMatchObject([
      { body: { cryptocurrency: "USDT", network: "POL", requiredConfirmations: 1, isEnabled: false } },
    ]);
    expect(notes[0]).toMatch(/one payment may count at both/);
  });

  it.each([
    ["for a pair that Edgetill does not support", { cryptocurrency: "DOGE" }, /does not have this pair/],
    ["on a network that Edgetill does not support", { network: "SOLANA" }, /does not have this pair/],
    ["that the server does not show", { address: null }, /does not show its address/],
  ])("%s does not move", (_, changes, reason) => {
    const { wallets, left } = wanted({ wallets: [{ ...DIRECT, ...changes }] });
    expect([wallets, left[0]]).toEqual([[], expect.stringMatching(reason)]);
  });
});

describe("the rest of a merchant", () => {
  it("moves as far as Edgetill supports it, and everything else is listed", () => {
    const { webhooks, products, customers, left } = wanted({
      webhooks: [
        { url: "https://a.example/", events: ["invoice.paid", "invoice.sneezed"] },
        { url: "https://b.example/", events: ["invoice.paid"], isActive: false },
        { url: "https://c.example/", events: ["nothing"] },
      ],
      products: [
        { name: "Tea", price: "4.500000", image: "https://old.example/tea.png" },
        { name: "Gone", price: "1", deletedAt: "2026-01-01T00:00:00.000Z" },
        { name: "Odd", price: "1", currency: "XXX" },
        { name: "Odder", price: "much" },
        { name: "Oddest", price: "" },
      ],
      customers: [{ email: "a@example.com", name: "A", address: "" }, { email: null }, { email: "", name: "" }],
      unread: ["customers"],
    });
    expect(webhooks).toMatchObject([{ url: "https://a.example/", events: ["invoice.paid"], isActive: false }]);
    expect(products).toMatchObject([{ name: "Tea", price: 4.5, currency: "USD" }]);
    expect(customers).toMatchObject([{ email: "a@example.com", name: "A", address: null }]);
    const listed = left.join("\n");
    for (const text of [
      "sneezed",
      "b.example",
      "c.example",
      "Odd:",
      "Odder:",
      "Oddest:",
      "pictures of 1",
      "customers:",
      "open invoices",
    ])
      expect(listed).toContain(text);
  });

  it("includes products in a form that the API accepts, with any flags", () => {
    const flag = fc.constantFrom(true, false, null, undefined);
    const product = fc.record({
      name: fc.string({ minLength: 1 }).filter((name) => name.trim() !== ""),
      description: fc.constantFrom(null, undefined, "Good"),
      price: fc.oneof(fc.nat(1_000), fc.constantFrom("0", "19.500000", 0.1 + 0.2, "0.12345678")),
      currency: fc.constantFrom(null, undefined, "eur", "BTC"),
      isActive: flag,
      askForName: flag,
      askForAddress: flag,
      askForPhoneNumber: flag,
    }) satisfies fc.Arbitrary<OtherProduct>;
    fc.assert(
      fc.property(product, (of) => {
        const [body] = wanted({ products: [of] }).products;
        expect(createProductBody().safeParse(body).success, JSON.stringify(body)).toBe(true);
        expect(String(body?.price)).toMatch(/^\d+(\.\d{1,6})?$/);
      }),
      { numRuns: 200 },
    );
  });
});
