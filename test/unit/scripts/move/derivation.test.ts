import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accountOfBtcpay, accountOfKey } from "../../../../scripts/move/derivation.ts";
import { decodeBase58check, encodeBase58check } from "../../../../src/chains/encodings/address-text.ts";
import { type BtcpayKind, type BtcpayNetwork, btcpayAccount } from "../../../support/btcpay-accounts.ts";
import accountKeys from "../../../vectors/account-keys.json" with { type: "json" };

const KINDS: readonly BtcpayKind[] = ["segwit", "p2sh", "legacy"];
const COINS: readonly BtcpayNetwork[] = ["BTC", "LTC", "BTC_TESTNET"];
const codeOf = (on: BtcpayNetwork) => on.replace("_TESTNET", "");

function keyOf(on: BtcpayNetwork, kind: BtcpayKind, account = 0) {
  const { scheme, path, addresses } = btcpayAccount(on, kind, account, 3);
  return { code: codeOf(on), scheme, accountKeyPath: `73c5da0a/${path}`, previewed: addresses };
}

describe("a BTCPay Server account", () => {
  it("from the published seed has the published key, and the published addresses in each form", () => {
    for (const published of accountKeys.accounts.filter(({ network }) => network === "BTC")) {
      const kind =
        KINDS.find((each) => `m/${btcpayAccount("BTC", each).path}` === published.derivationPath) ?? "segwit";
      const read = accountOfBtcpay(keyOf("BTC", kind));
      expect(read).toMatchObject({
        ok: true,
        value: { xpub: published.xpub, derivationPath: published.derivationPath },
      });
      expect(read.ok && read.value.addresses).toEqual(expect.arrayContaining(published.addresses));
    }
  });

  it("keeps its addresses, its path and its network, for any coin, kind and number", () => {
    const account = fc.record({ on: fc.constantFrom(...COINS), kind: fc.constantFrom(...KINDS), number: fc.nat(50) });
    fc.assert(
      fc.property(account, ({ on, kind, number }) => {
        const { path, addresses } = btcpayAccount(on, kind, number, 3);
        const read = accountOfBtcpay(keyOf(on, kind, number));
        expect(read).toMatchObject({
          ok: true,
          value: { derivationPath: `m/${path}`, addresses, network: { name: on } },
        });
      }),
      { numRuns: 100 },
    );
  });

  it("has the same key hash in every notation of its key", () => {
    const read = accountOfBtcpay(keyOf("BTC", "segwit"));
    const zpub = accountKeys.accounts[2]?.xpub ?? "";
    const given = accountOfKey("BTC", zpub, undefined);
    expect(read.ok && given.ok && read.value.keyHash === given.value.keyHash).toBe(true);
  });

  it("for Litecoin is the same account if its key is written with Litecoin's own prefix", () => {
    const key = keyOf("LTC", "p2sh");
    const payload = Uint8Array.from(decodeBase58check(key.scheme.replace(/-.*/, "")) ?? []);
    payload.set([0x01, 0x9d, 0xa4, 0x62]);
    const respelled = { ...key, scheme: `${encodeBase58check(payload)}-[p2sh]` };
    expect(respelled.scheme).toMatch(/^Ltub/);
    expect(accountOfBtcpay(respelled)).toEqual(accountOfBtcpay(key));
  });

  it("is assigned to the test network that its addresses belong to", () => {
    const key = keyOf("BTC_TESTNET", "segwit");
    const regtest = key.previewed.map(() => "bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx");
    expect(accountOfBtcpay(key)).toMatchObject({ ok: true, value: { network: { name: "BTC_TESTNET" } } });
    expect(accountOfBtcpay({ ...key, previewed: regtest })).toMatchObject({ ok: false });
  });
});

describe("a key is refused, with the reason,", () => {
  const key = keyOf("BTC", "segwit");
  const xpub = key.scheme;
  const reseal = (change: (payload: Uint8Array) => void) => {
    const payload = Uint8Array.from(decodeBase58check(xpub) ?? []);
    change(payload);
    return encodeBase58check(payload);
  };

  it.each([
    ["for being multisig", { scheme: `2-of-${xpub}-${xpub}` }, /several signatures/],
    ["for being multisig, wrapped in P2SH", { scheme: `2-of-${xpub}-${xpub}-[p2sh]` }, /several signatures/],
    ["with Taproot", { scheme: `${xpub}-[taproot]` }, /kind \[taproot\]/],
    ["in a descriptor", { scheme: `wpkh(${xpub}/0/*)` }, /descriptor/],
    ["because it is private", { scheme: accountKeys.accounts[2]?.xprv ?? "" }, /private key/],
    ["because it is private, as xprv", { scheme: accountKeys.accounts[0]?.xprv ?? "" }, /private key/],
    ["with a wrong character", { scheme: `${xpub.slice(0, -1)}${xpub.endsWith("2") ? "3" : "2"}` }, /neither/],
    ["because it is a master key", { scheme: reseal((payload) => payload.set([0], 4)) }, /depth is 0/],
    [
      "because BTCPay Server shows different addresses",
      { previewed: btcpayAccount("BTC", "p2sh").addresses },
      /other addresses/,
    ],
    [
      "because only the third address differs",
      { previewed: [...key.previewed.slice(0, 2), "bc1q"] },
      /other addresses/,
    ],
    ["without addresses to compare", { previewed: [] }, /nothing can be compared/],
    ["because its path has a different purpose", { accountKeyPath: "73c5da0a/44'/0'/0'" }, /m\/44'\/0'\/0'/],
    ["because its path has a different account", { accountKeyPath: "84h/0h/7h" }, /m\/84'\/0'\/7'/],
    ["for a coin without extended keys", { code: "DOGE" }, /no network of DOGE/],
  ])("%s", (_, change, reason) => {
    const read = accountOfBtcpay({ ...key, ...change });
    expect(read).toEqual({ ok: false, error: expect.stringMatching(reason) });
    expect(JSON.stringify(read)).not.toContain(xpub.slice(0, 20));
  });

  it.each([undefined, "", "m/84'/0'/0'", "84'/0'/0'", "84h/0H/0h", "73c5da0a/84'/0'/0'"])(
    "but not because of the notation of its path, %j",
    (accountKeyPath) => expect(accountOfBtcpay({ ...key, accountKeyPath })).toMatchObject({ ok: true }),
  );

  it("any other text is refused without throwing", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.string().map((text) => `${xpub}${text}`),
    );
    fc.assert(
      fc.property(texts, (scheme) => {
        fc.pre(scheme !== xpub);
        expect(accountOfBtcpay({ ...key, scheme }).ok).toBe(false);
        expect(accountOfKey("BTC", scheme, undefined)).toBeDefined();
      }),
      { numRuns: 200 },
    );
  });
});
