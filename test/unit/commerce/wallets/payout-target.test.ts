import { describe, expect, it } from "vitest";
import { type NewWallet, payoutTarget } from "../../../../src/commerce/wallets/payout-target.ts";
import vectors from "../../../vectors/account-keys.json" with { type: "json" };

const SETTINGS = { requiredConfirmations: 1, isEnabled: true };
const direct = (cryptocurrency: string, network: string, address: string): NewWallet => ({
  walletType: "DIRECT_WALLET",
  cryptocurrency,
  network,
  address,
  ...SETTINGS,
});
const BECH32 = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
const REGTEST = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";
const NONE = () => false;

const zpub = vectors.accounts.find((each) => each.derivationPath === "m/84'/0'/0'");
if (zpub === undefined) throw new Error("the vectors hold no zpub");
const extended = (changes: Partial<Extract<NewWallet, { walletType: "XPUB_WALLET" }>> = {}): NewWallet => ({
  walletType: "XPUB_WALLET",
  cryptocurrency: "BTC",
  network: "BTC",
  xpub: zpub.xpub,
  derivationPath: zpub.derivationPath,
  ...SETTINGS,
  ...changes,
});

describe("the payout target of a new wallet", () => {
  it.each([
    ["btc", "bitcoin", BECH32.toUpperCase(), "BTC", "BTC", BECH32],
    [
      "USDT",
      "ethereum",
      "0x52908400098527886e0f7030069857d2e4169ee7",
      "USDT",
      "ETH",
      "0x52908400098527886E0F7030069857D2E4169EE7",
    ],
  ])("for %s on %s has the address in canonical spelling", (code, name, text, cryptocurrency, network, address) => {
    const target = payoutTarget(direct(code, name, text), NONE);
    expect(target).toMatchObject({
      ok: true,
      value: { cryptocurrency, network: { name: network }, address, key: null },
    });
  });

  it("is the key of an account when an extended key is given", () => {
    const target = payoutTarget(extended({ derivationPath: "m/84h/0h/0h" }), NONE);
    expect(target).toMatchObject({
      ok: true,
      value: { address: null, key: { scheme: "BIP84", derivationPath: "m/84'/0'/0'" } },
    });
  });

  it.each([
    ["UNSUPPORTED_PAIR", direct("USDT", "BTC", BECH32)],
    ["UNSUPPORTED_PAIR", direct("SHIB", "POL", BECH32)],
    ["UNSUPPORTED_PAIR", direct("BTC", "constructor", BECH32)],
    ["UNSUPPORTED_PAIR", direct("BTC", "BTC_REGTEST", REGTEST)],
    ["UNSUPPORTED_PAIR", extended({ network: "LTC" })],
    ["INVALID_ADDRESS", direct("BTC", "BTC", REGTEST)],
    ["INVALID_ADDRESS", direct("BTC", "BTC_TESTNET", BECH32)],
    ["XPUB_NOT_SUPPORTED", extended({ cryptocurrency: "ETH", network: "ETH" })],
    ["XPUB_NOT_SUPPORTED", extended({ cryptocurrency: "USDT", network: "TRX" })],
    ["INVALID_XPUB", extended({ xpub: zpub.xpub.slice(0, -1) })],
    ["INVALID_XPUB", extended({ network: "BTC_TESTNET" })],
    ["DERIVATION_PATH_MISMATCH", extended({ derivationPath: "m/44'/0'/0'" })],
    ["PRIVATE_KEY_REFUSED", extended({ xpub: zpub.xprv })],
  ])("is refused as %s", (code, wanted) => {
    const target = payoutTarget(wanted, NONE);
    expect(target).toMatchObject({ ok: false, error: { code } });
    const printed = JSON.stringify(target);
    for (const text of [zpub.xpub, zpub.xprv, BECH32, REGTEST]) expect(printed).not.toContain(text);
  });

  it("may be on a private chain only if the deployment serves that chain", () => {
    const wanted = direct("BTC", "btc_regtest", REGTEST);
    expect(payoutTarget(wanted, (name) => name === "BTC_REGTEST").ok).toBe(true);
    expect(payoutTarget(wanted, (name) => name === "LTC_REGTEST").ok).toBe(false);
  });
});
