import { describe, expect, it } from "vitest";
import { type MacKeys, signRow } from "../../../../src/commerce/wallet-records/row-mac.ts";
import { type Wallet, walletMacSubject } from "../../../../src/commerce/wallet-records/wallet.ts";
import { walletBodyOf } from "../../../../src/commerce/wallet-records/wallet-body.ts";
import { isAltered } from "../../../../src/commerce/wallets/freeze-wallet.ts";
import { DIRECT_WALLET } from "./direct-wallet.ts";

const OLD = { id: "old", secret: new Uint8Array(32).fill(1) };
const NEW = { id: "new", secret: new Uint8Array(32).fill(2) };
const KEYS: MacKeys = [NEW, OLD];
const CONTEXT = { macKeys: KEYS, watchedNetworks: new Set(["BTC"]), nowMs: 10_000 };

function walletOf(changes: Partial<Wallet> = {}, keys: MacKeys = KEYS): Wallet {
  const wallet = { ...DIRECT_WALLET, updatedAtMs: 1_500, ...changes };
  return { ...wallet, ...signRow(keys, walletMacSubject(wallet)) };
}

describe("the body of a wallet", () => {
  it("has exactly the fields of decisions 3", () => {
    expect(walletBodyOf(walletOf(), CONTEXT)).toStrictEqual({
      id: "wal_01M7Y116S5004EM2R6G33SCWPC",
      merchantId: "mer_01M7Y116S5004EM2R6G33SCWPC",
      walletType: "DIRECT_WALLET",
      cryptocurrency: "BTC",
      network: "BTC",
      address: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
      xpub: null,
      derivationPath: null,
      requiredConfirmations: 3,
      isEnabled: true,
      lastUsedIndex: null,
      nextIndex: null,
      gap: null,
      scheme: null,
      warnings: [],
      usableFrom: null,
      createdAt: "1970-01-01T00:00:00.000Z",
      updatedAt: "1970-01-01T00:00:01.500Z",
    });
  });

  it.each([
    ["fewer confirmations than recommended", { requiredConfirmations: 2 }, ["LOW_CONFIRMATIONS"]],
    ["a network without a chain source", { network: "LTC", requiredConfirmations: 6 }, ["NETWORK_NOT_WATCHED"]],
    [
      "a private network without a chain source",
      { network: "LTC_REGTEST", requiredConfirmations: 1 },
      ["NETWORK_NOT_WATCHED"],
    ],
    ["both", { network: "LTC" }, ["LOW_CONFIRMATIONS", "NETWORK_NOT_WATCHED"]],
    ["a wallet that was frozen", { frozenAtMs: 1 }, ["INTEGRITY_CHECK_FAILED"]],
    ["a change that is not in effect yet", { usableFromMs: 10_001 }, ["CHANGE_PENDING"]],
    ["nothing, once the change is in effect", { usableFromMs: 10_000 }, []],
  ])("warns of %s", (_, changes, warnings) => {
    expect(walletBodyOf(walletOf(changes), CONTEXT).warnings).toEqual(warnings);
  });

  it("shows when the wallet comes into use, if that is in the future", () => {
    const usableFrom = (usableFromMs: number) => walletBodyOf(walletOf({ usableFromMs }), CONTEXT).usableFrom;
    expect([9_999, 10_000, 10_001].map(usableFrom)).toEqual([null, null, "1970-01-01T00:00:10.001Z"]);
  });

  it.each<[string, Partial<Wallet>]>([
    ["another address", { address: "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g" }],
    ["a key in addition to the address", { address: null, xpub: "xpub" }],
    ["another merchant", { merchantId: "mer_01M7Y116S5004EM2R6G33SCWPD" }],
    ["another id", { id: "wal_01M7Y116S5004EM2R6G33SCWPD" }],
    ["another network", { network: "BTC_TESTNET" }],
    ["another coin", { cryptocurrency: "LTC" }],
    ["no HMAC", { mac: "" }],
    ["the HMAC under the other key's name", { macKeyId: "old" }],
  ])("hides the address and key of a row with %s, and the row counts as altered", (_, changes) => {
    const altered = { ...walletOf(), ...changes };
    expect(walletBodyOf(altered, CONTEXT)).toMatchObject({ address: null, xpub: null });
    expect(walletBodyOf(altered, CONTEXT).warnings).toContain("INTEGRITY_CHECK_FAILED");
    expect(isAltered(KEYS, altered)).toBe(true);
  });

  it("shows a wallet whose HMAC was made with an older key that is still configured", () => {
    const wallet = walletOf({}, [OLD]);
    expect(wallet.macKeyId).toBe("old");
    expect(walletBodyOf(wallet, CONTEXT).address).toBe(wallet.address);
    expect(isAltered(KEYS, wallet)).toBe(false);
  });

  it("hides a wallet whose HMAC key is no longer configured, without reporting it as altered", () => {
    const wallet = walletOf({}, [OLD]);
    expect(walletBodyOf(wallet, { ...CONTEXT, macKeys: [NEW] }).address).toBeNull();
    expect(isAltered([NEW], wallet)).toBe(false);
  });
});
