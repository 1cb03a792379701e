import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase58check, encodeBase58check } from "../../../../src/chains/encodings/address-text.ts";
import type { NetworkName } from "../../../../src/chains/registry/networks.ts";
import { parseExtendedKey } from "../../../../src/commerce/wallets/extended-key.ts";
import { BASE58, mutationOf } from "../../../support/mutations.ts";
import { network } from "../../../support/named-network.ts";
import { RUNS } from "../../../support/property-runs.ts";
import accountKeys from "../../../vectors/account-keys.json" with { type: "json" };
import bip32 from "../../../vectors/bip32.json" with { type: "json" };

const [XPUB = "", YPUB = "", ZPUB = "", UPUB = ""] = accountKeys.accounts.map(({ xpub }) => xpub);
const ZPRV = accountKeys.accounts[2]?.xprv ?? "";
const PATH = "m/84'/0'/0'";

const parse = (name: NetworkName, xpub: string, derivationPath: string) =>
  parseExtendedKey({ network: network(name), xpub, derivationPath });

function refusal(name: NetworkName, xpub: string, path: string): string {
  const parsed = parse(name, xpub, path);
  if (parsed.ok) return "accepted";
  expect(parsed.error.reason).not.toContain(xpub === "" ? "\0" : xpub.trim());
  return `${parsed.error.code}: ${parsed.error.reason}`;
}

function changed(xpub: string, change: (payload: Uint8Array, view: DataView) => void): string {
  const payload = Uint8Array.from(decodeBase58check(xpub) ?? []);
  change(payload, new DataView(payload.buffer));
  return encodeBase58check(payload);
}
const withVersion = (xpub: string, version: number) => changed(xpub, (_, view) => view.setUint32(0, version));

describe("the account keys of SLIP-132, BIP49 and BIP84", () => {
  test.each(accountKeys.accounts)(
    "are accepted: $derivationPath on $network",
    ({ network: name, derivationPath, xpub }) => {
      const parsed = parse(name as NetworkName, ` ${xpub}\n`, derivationPath);
      const purpose = derivationPath.slice(2, 4);
      expect(parsed).toMatchObject({ ok: true, value: { xpub, scheme: `BIP${purpose}`, account: 0, derivationPath } });
    },
  );

  test.each(accountKeys.accounts)(
    "are refused in their private form: $derivationPath",
    ({ network: name, derivationPath, xprv }) => {
      expect(refusal(name as NetworkName, xprv, derivationPath)).toMatch(/^PRIVATE_KEY_REFUSED/);
    },
  );
});

describe("the keys in BIP32's vectors", () => {
  test.each(bip32.pairs)("at %s are refused as account keys for Bitcoin", (_, xpub = "", xprv = "") => {
    expect(refusal("BTC", xpub, "m/44'/0'/0'")).toMatch(/^(INVALID_XPUB: .*(depth|hardened)|DERIVATION_PATH_MISMATCH)/);
    expect(refusal("BTC", xprv, "m/44'/0'/0'")).toMatch(/^PRIVATE_KEY_REFUSED/);
  });

  test.each(bip32.invalid)("that are invalid are refused: %s (%s)", (key = "") => {
    expect(refusal("BTC", key, "m/44'/0'/0'")).toMatch(/^(INVALID_XPUB|PRIVATE_KEY_REFUSED)/);
  });

  test("at depth 3 with a hardened child number are accepted as that account", () => {
    const [, xpub = ""] = bip32.pairs[3] ?? [];
    expect(parse("BTC", xpub, "m/44'/0'/2'")).toMatchObject({
      ok: true,
      value: { account: 2, parentFingerprint: "bef5a2f9" },
    });
  });
});

describe("the derivation path", () => {
  test.each(["m/84'/0'/0'", "m/84h/0h/0h", "m/84h/0'/0h", " m/84'/0'/0' "])(
    "%s is accepted and stored with apostrophes",
    (path) => {
      expect(parse("BTC", ZPUB, path)).toMatchObject({ ok: true, value: { derivationPath: PATH } });
    },
  );

  // Addresses come from the account's receiving chain, even if the path does not name it.
  test.each(["m/84'/0'/0'/0", "m/84h/0h/0h/0", " m/84'/0'/0'/0 "])(
    "%j includes the receiving chain, and gives the same key and addresses",
    (path) => {
      const plain = parse("BTC", ZPUB, PATH);
      expect(plain.ok).toBe(true);
      expect(parse("BTC", ZPUB, path)).toEqual(plain);
    },
  );

  test("that includes the receiving chain must also match the key's scheme, coin and account", () => {
    expect(refusal("BTC", ZPUB, "m/44'/0'/0'/0")).toMatch(/a zpub is a BIP84 key/);
    expect(refusal("BTC", ZPUB, "m/84'/2'/0'/0")).toMatch(/coin type/);
    expect(refusal("BTC", ZPUB, "m/84'/0'/1'/0")).toMatch(/the key belongs to account 0'/);
  });

  test.each([
    ["m/44'/0'/0'", /a zpub is a BIP84 key/],
    ["m/49'/0'/0'", /a zpub is a BIP84 key/],
    ["m/84'/2'/0'", /coin type of Bitcoin is 0', not 2'/],
    ["m/84'/1'/0'", /coin type/],
    ["m/84'/0'/1'", /the key belongs to account 0', but the path to account 1'/],
    ["m/84'/0'/2147483648'", /account/],
  ])("%s is refused for a zpub of Bitcoin's first account", (path, reason) => {
    expect(refusal("BTC", ZPUB, path)).toMatch(/^DERIVATION_PATH_MISMATCH/);
    expect(refusal("BTC", ZPUB, path)).toMatch(reason);
  });

  test.each([
    "m/84/0/0",
    "m/84'/0'/0",
    "84'/0'/0'",
    "M/84'/0'/0'",
    "m/84'/0'",
    "m/84'/0'/0'/1",
    "m/84'/0'/0'/0'",
    "m/84'/0'/0'/00",
    "m/84'/0'/0'/",
    "m/84'/0'/0'/0/*",
    "m/84'/0'/0'/0/0",
    "m/084'/0'/0'",
    "m/84'/0'/-1'",
    "m/84'/0'/x'",
    "m/84''/0'/0'",
    "m/84\u2019/0\u2019/0\u2019",
    "m/84'/0'/99999999999'",
    "m",
    "",
  ])("%j is refused as the path of an account", (path) => {
    expect(refusal("BTC", ZPUB, path)).toMatch(
      /^DERIVATION_PATH_MISMATCH: not the path of an account: expected three hardened levels/,
    );
  });
});

describe("a faulty key", () => {
  const tpub = withVersion(UPUB, 0x043587cf);
  test.each([
    ["BTC", UPUB, "m/49'/0'/0'", /a upub is a key of a test network/],
    ["BTC", tpub, "m/44'/0'/0'", /a tpub is a key of a test network/],
    ["BTC_TESTNET", ZPUB, "m/84'/1'/0'", /a zpub is a key of a main network/],
    ["BTC_REGTEST", XPUB, "m/44'/1'/0'", /a xpub is a key of a main network/],
    ["LTC", withVersion(ZPUB, 0x045f1cf6), "m/84'/2'/0'", /a vpub is a key of a test network/],
    ["BTC", withVersion(XPUB, 0x019da462), "m/44'/0'/0'", /a Ltub is a key of Litecoin/],
    ["BTC_TESTNET", withVersion(tpub, 0x0436f6e1), "m/44'/1'/0'", /a ttub is a key of Litecoin/],
    ["BTC", withVersion(ZPUB, 0x02aa7ed3), PATH, /a Zpub belongs to a multi-signature wallet/],
    ["BTC", withVersion(ZPUB, 0x0295b43f), PATH, /a Ypub belongs to a multi-signature wallet/],
    ["BTC_TESTNET", withVersion(ZPUB, 0x024289ef), PATH, /a Upub belongs to a multi-signature wallet/],
    ["BTC_TESTNET", withVersion(ZPUB, 0x02575483), PATH, /a Vpub belongs to a multi-signature wallet/],
    ["BTC", withVersion(ZPUB, 0x01020304), PATH, /prefix is unknown/],
    ["BTC", `${ZPUB.slice(0, -1)}t`, PATH, /checksum does not match/],
    ["BTC", ZPUB.slice(0, -5), PATH, /checksum does not match/],
    [
      "BTC",
      encodeBase58check((decodeBase58check(ZPUB) ?? new Uint8Array()).subarray(0, 77)),
      PATH,
      /expected 78 bytes, got 77/,
    ],
    ["BTC", changed(ZPUB, (payload) => payload.fill(0xff, 46)), PATH, /not on the curve/],
    ["BTC", changed(ZPUB, (payload) => payload.fill(0x05, 45, 46)), PATH, /not on the curve/],
    ["BTC", changed(ZPUB, (payload) => payload.fill(0, 4, 5)), PATH, /depth is 0/],
    ["BTC", changed(ZPUB, (payload) => payload.fill(2, 4, 5)), PATH, /depth is 2/],
    ["BTC", changed(ZPUB, (payload) => payload.fill(4, 4, 5)), PATH, /depth is 4/],
    // The key of the receiving chain itself. Its children are the addresses, so addresses derived as usual would be its grandchildren.
    ["BTC", changed(ZPUB, (payload) => payload.fill(4, 4, 5)), `${PATH}/0`, /depth is 4/],
    ["BTC", changed(ZPUB, (_, view) => view.setUint32(9, 0)), PATH, /not hardened/],
    ["BTC", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", PATH, /not an extended public key/],
    ["BTC", "zpub", PATH, /not an extended public key/],
    ["BTC", "", PATH, /not an extended public key/],
    ["BTC", "z".repeat(60_000), PATH, /not an extended public key/],
  ] as const)("is refused with the name of the fault: on %s, %s at %s", (name, key, path, reason) => {
    expect(refusal(name, key, path)).toMatch(/^INVALID_XPUB/);
    expect(refusal(name, key, path)).toMatch(reason);
  });

  test.each([
    ["private bytes under a public prefix", withVersion(ZPRV, 0x04b24746), PATH],
    ["a secret as the path", ZPUB, ZPRV],
    ["an xprv cut short", ZPRV.slice(0, 20), PATH],
  ])("is refused as a private key: %s", (_, key, path) => {
    expect(refusal("BTC", key, path)).toMatch(/^PRIVATE_KEY_REFUSED/);
  });

  test("is refused when any one character was changed", () => {
    const keys = fc.constantFrom(XPUB, YPUB, ZPUB).chain((key) => mutationOf(key, BASE58));
    fc.assert(
      fc.property(keys, fc.constantFrom("44", "49", "84"), (key, purpose) => {
        expect(parse("BTC", key, `m/${purpose}'/0'/0'`).ok).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("Litecoin's own key prefixes", () => {
  test.each([
    ["LTC", 0x019da462, "Ltub", "m/44'/2'/0'", "BIP44"],
    ["LTC", 0x01b26ef6, "Mtub", "m/49'/2'/0'", "BIP49"],
    ["LTC_TESTNET", 0x0436f6e1, "ttub", "m/44'/1'/0'", "BIP44"],
    ["LTC_REGTEST", 0x0436f6e1, "ttub", "m/44'/1'/0'", "BIP44"],
  ] as const)("are accepted on %s: version %i begins with %s", (name, version, prefix, path, scheme) => {
    const key = withVersion(ZPUB, version);
    expect(key.slice(0, 4)).toBe(prefix);
    expect(parse(name, key, path)).toMatchObject({ ok: true, value: { scheme } });
  });
});

describe("the key hash that names an address allocator", () => {
  const nameOf = (name: NetworkName, key: string, path: string) => {
    const parsed = parse(name, key, path);
    if (!parsed.ok) throw new Error(parsed.error.reason);
    return parsed.value.keyHash;
  };

  test("does not depend on spelling, spaces or the parent fingerprint", () => {
    const ltub = withVersion(XPUB, 0x019da462);
    expect(nameOf("LTC", ltub, "m/44h/2h/0h")).toBe(nameOf("LTC", ` ${XPUB} `, "m/44'/2'/0'"));
    const orphan = changed(ZPUB, (payload) => payload.fill(1, 5, 9));
    expect(nameOf("BTC", orphan, PATH)).toBe(nameOf("BTC", ZPUB, PATH));
    expect(nameOf("BTC", ZPUB, PATH)).toMatch(/^[0-9a-f]{64}$/);
  });

  test("differs by network, scheme, chain code and key", () => {
    const other = changed(ZPUB, (payload) => payload.fill(9, 13, 14));
    const negated = changed(ZPUB, (payload) => payload.fill((payload[45] ?? 0) ^ 1, 45, 46));
    const names = [
      nameOf("BTC", ZPUB, PATH),
      nameOf("LTC", ZPUB, "m/84'/2'/0'"),
      nameOf("BTC", withVersion(ZPUB, 0x0488b21e), "m/44'/0'/0'"),
      nameOf("BTC", other, PATH),
      nameOf("BTC", negated, PATH),
      nameOf("BTC_TESTNET", withVersion(ZPUB, 0x045f1cf6), "m/84'/1'/0'"),
      nameOf("BTC_REGTEST", withVersion(ZPUB, 0x045f1cf6), "m/84'/1'/0'"),
    ];
    expect(new Set(names).size).toBe(names.length);
  });
});
