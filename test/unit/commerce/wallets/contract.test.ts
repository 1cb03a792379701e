import { describe, expect, it } from "vitest";
import { addressesQuery, registerWalletBody, updateWalletBody } from "../../../../src/commerce/wallets/contract.ts";

const DIRECT = { walletType: "DIRECT_WALLET", cryptocurrency: "btc", network: "Bitcoin", address: "bc1q" };
const XPUB = {
  walletType: "XPUB_WALLET",
  cryptocurrency: "BTC",
  network: "BTC",
  xpub: "zpub",
  derivationPath: "m/84'/0'/0'",
};
const without = (body: object, field: string) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));

describe("the registration of a wallet", () => {
  it.each([DIRECT, XPUB])("of the type $walletType defaults to one confirmation and to an enabled wallet", (body) => {
    expect(registerWalletBody().parse(body)).toEqual({ ...body, requiredConfirmations: 1, isEnabled: true });
    const given = { ...body, requiredConfirmations: 1_000, isEnabled: false };
    expect(registerWalletBody().parse(given)).toEqual(given);
  });

  it.each([
    ...Object.keys(DIRECT).map((field) => without(DIRECT, field)),
    ...Object.keys(XPUB).map((field) => without(XPUB, field)),
    { ...DIRECT, xpub: "zpub", derivationPath: "m/84'/0'/0'" },
    { ...DIRECT, derivationPath: "m/84'/0'/0'" },
    { ...XPUB, address: "bc1q" },
    { ...XPUB, walletType: "HOT_WALLET" },
    { ...DIRECT, scheme: "BIP84" },
    { ...DIRECT, nextIndex: 0 },
    { ...DIRECT, address: "" },
    { ...DIRECT, address: "x".repeat(1_001) },
    { ...DIRECT, address: null },
    ...[0, -1, 1_001, 1.5, "3", null].map((requiredConfirmations) => ({ ...DIRECT, requiredConfirmations })),
    ...["yes", 1, null].map((isEnabled) => ({ ...XPUB, isEnabled })),
    null,
    [],
    undefined,
  ])("cannot be %j", (body) => {
    expect(registerWalletBody().safeParse(body).success).toBe(false);
  });
});

describe("a change to a wallet", () => {
  it.each([{ isEnabled: false }, { requiredConfirmations: 1 }, { isEnabled: true, requiredConfirmations: 1_000 }])(
    "can be %j",
    (body) => {
      expect(updateWalletBody().parse(body)).toEqual(body);
    },
  );

  it.each([
    {},
    undefined,
    { isEnabled: undefined },
    { isEnabled: null },
    { requiredConfirmations: 0 },
    { isEnabled: true, address: "bc1q" },
    { isEnabled: true, xpub: "zpub" },
    { isEnabled: true, derivationPath: "m/84'/0'/0'" },
    { isEnabled: true, lastUsedIndex: 3 },
  ])("cannot be %j", (body) => {
    expect(updateWalletBody().safeParse(body).success).toBe(false);
  });
});

describe("a range of addresses", () => {
  it("defaults to the first twenty", () => {
    expect(addressesQuery().parse({})).toEqual({ from: 0, count: 20 });
    expect(addressesQuery().parse({ from: "2147483647", count: "100" })).toEqual({ from: 2_147_483_647, count: 100 });
  });

  it.each([
    { from: "-1" },
    { from: "2147483648" },
    { from: "1.5" },
    { from: "1e3" },
    { from: "" },
    { count: "0" },
    { count: "101" },
    { count: "x" },
    { count: "" },
  ])("cannot be %j", (query) => {
    expect(addressesQuery().safeParse(query).success).toBe(false);
  });
});
