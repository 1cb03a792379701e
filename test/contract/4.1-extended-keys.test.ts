// Interface 2.1, 4.1 and decisions 3: prefix, depth, child number, checksum, purpose, coin type and account of an extended key must agree.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { expectOk, expectRefusal, registerWallet, removeWallets, shop } from "./client.ts";
import { base58check, extendedKey, type UtxoNetwork, withBytes, xpubWallet } from "./key-material.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const EITHER = ["INVALID_XPUB", "DERIVATION_PATH_MISMATCH"];
const setVersion = (version: number) => (payload: Uint8Array) => new DataView(payload.buffer).setUint32(0, version);

async function register(network: UtxoNetwork, xpub: string, derivationPath: string) {
  return shop.post("/wallets", { ...xpubWallet(extendedKey(), network), xpub, derivationPath });
}

describe("derivationPath", () => {
  test.each(["m/84'/0'/0'", "m/84h/0h/0h", "m/84h/0'/0h"])("%s is accepted for a Bitcoin zpub", async (path) => {
    const wallet = await registerWallet(shop, { ...xpubWallet(extendedKey()), derivationPath: path });
    expect(wallet.scheme).toBe("BIP84");
  });

  test("may include the receiving chain of the account, as sent by clients of older servers, which changes no address", async () => {
    const body = xpubWallet(extendedKey());
    const wallet = await registerWallet(shop, { ...body, derivationPath: `${body.derivationPath}/0` });
    expect(wallet.derivationPath).toBe(body.derivationPath);
    expectOk(await shop.delete(`/wallets/${wallet.id}`), 200);
    expect((await registerWallet(shop, body)).firstAddress).toBe(wallet.firstAddress);
  });

  test.each([
    ["a BIP44 path", "m/44'/0'/0'"],
    ["a BIP49 path", "m/49'/0'/0'"],
    ["Litecoin's coin type", "m/84'/2'/0'"],
    ["the test networks' coin type", "m/84'/1'/0'"],
    ["an account other than the key's", "m/84'/0'/1'"],
  ])("%s is refused for a zpub of the first Bitcoin account", async (_, path) => {
    expectRefusal(await register("BTC", extendedKey().xpub, path), 400, "DERIVATION_PATH_MISMATCH");
  });

  test.each([
    "m/84/0/0",
    "m/84'/0'/0",
    "84'/0'/0'",
    "m/84'/0'",
    "m/84'/0'/0'/1",
    "m/84'/0'/0'/0'",
    "m/84'/0'/0'/0/0",
    "m/84'/0'/2147483648'",
    "m/84'/0'/-1'",
    "m/84'/0'/x'",
    "m/84''/0'/0'",
    "m",
    "",
  ])("%j is refused, because it is not the path of an account", async (path) => {
    expectRefusal(await register("BTC", extendedKey().xpub, path), 400);
  });
});

describe("the extended key", () => {
  test.each([
    ["an xpub under a BIP84 path", extendedKey({ scheme: "BIP44" }).xpub, "m/84'/0'/0'"],
    ["a ypub under a BIP44 path", extendedKey({ scheme: "BIP49" }).xpub, "m/44'/0'/0'"],
  ])("%s is refused", async (_, xpub, path) => {
    expectRefusal(await register("BTC", xpub, path), 400, "DERIVATION_PATH_MISMATCH");
  });

  const { xpub } = extendedKey();
  const mistyped = xpub.slice(0, -1) + (xpub.endsWith("1") ? "2" : "1");
  test.each([
    ["a mistyped character", mistyped],
    ["a key cut short", xpub.slice(0, -5)],
    ["one character more", `${xpub}1`],
    ["a multisig Zpub", withBytes(xpub, setVersion(0x02aa7ed3))],
    ["a multisig Ypub", withBytes(xpub, setVersion(0x0295b43f))],
    ["unknown version bytes", withBytes(xpub, setVersion(0x01020304))],
    ["a point that is not on the curve", withBytes(xpub, (payload) => payload.fill(0xff, 46))],
    ["a point with a wrong first byte", withBytes(xpub, (payload) => payload.fill(0x05, 45, 46))],
    ["an address", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
    ["other text", "zpub"],
    ["a payload of 77 bytes", base58check.encode(base58check.decode(xpub).slice(0, 77))],
  ])("%s is refused", async (_, wrong) => {
    expectRefusal(await register("BTC", wrong, "m/84'/0'/0'"), 400, "INVALID_XPUB");
  });

  test.each([
    ["the depth of a master key", (payload: Uint8Array) => payload.fill(0, 4, 5)],
    ["the depth of a coin", (payload: Uint8Array) => payload.fill(2, 4, 5)],
    ["the depth of a chain below the account", (payload: Uint8Array) => payload.fill(4, 4, 5)],
    ["a child number that is not hardened", (payload: Uint8Array) => payload.fill(0, 9, 13)],
    ["the child number of another account", (payload: Uint8Array) => payload.fill(1, 12, 13)],
  ])("%s is refused: only account keys are accepted", async (_, change) => {
    expectRefusal(await register("BTC", withBytes(extendedKey().xpub, change), "m/84'/0'/0'"), 400, EITHER);
  });
});

describe("the network", () => {
  test.each([
    ["a vpub on Bitcoin", "BTC", "BTC_TESTNET"],
    ["a zpub on Bitcoin's test network", "BTC_TESTNET", "BTC"],
    ["a vpub on Litecoin", "LTC", "LTC_TESTNET"],
    ["a zpub on Litecoin's test network", "LTC_TESTNET", "LTC"],
  ] as const)("%s is refused", async (_, network, other) => {
    const key = extendedKey({ network: other });
    expectRefusal(await register(network, key.xpub, key.derivationPath), 400, EITHER);
    const path = extendedKey({ network }).derivationPath;
    expectRefusal(await register(network, key.xpub, path), 400, EITHER);
  });

  test("a Bitcoin account is refused for Litecoin, because their paths differ", async () => {
    const key = extendedKey();
    expectRefusal(await register("LTC", key.xpub, key.derivationPath), 400, "DERIVATION_PATH_MISMATCH");
  });

  test("Litecoin's own key prefixes (Ltub, Mtub) are accepted for Litecoin and give its addresses", async () => {
    const legacy = extendedKey({ scheme: "BIP44", network: "LTC" });
    const ltub = { ...xpubWallet(legacy, "LTC"), xpub: withBytes(legacy.xpub, setVersion(0x019da462)) };
    expect(await registerWallet(shop, ltub)).toMatchObject({ scheme: "BIP44", firstAddress: legacy.address(0) });
    await removeWallets(shop);
    const nested = extendedKey({ scheme: "BIP49", network: "LTC" });
    const mtub = { ...xpubWallet(nested, "LTC"), xpub: withBytes(nested.xpub, setVersion(0x01b26ef6)) };
    expect(await registerWallet(shop, mtub)).toMatchObject({ scheme: "BIP49", firstAddress: nested.address(0) });
  });

  test("Litecoin's own key prefix is refused for Bitcoin", async () => {
    const key = extendedKey({ scheme: "BIP44" });
    const ltub = withBytes(key.xpub, setVersion(0x019da462));
    expectRefusal(await register("BTC", ltub, key.derivationPath), 400, EITHER);
  });
});
