// Interface 2.1, decisions 2 and 3: what a wallet is, which pairs exist, and how extended keys become addresses.
import { pbkdf2Sync } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  atOnce,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  stranger,
} from "./client.ts";
import {
  evmAddress,
  extendedKey,
  freshDirectWallet,
  type Scheme,
  type UtxoNetwork,
  xpubWallet,
} from "./key-material.ts";
import { expectWalletShape, idOf, type Wallet } from "./shapes.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

/** The account keys of the mnemonic "abandon ... about" and their first address: BIP84 "Test vectors", BIP49 "Test vectors". */
const BIP84_VECTOR = {
  xpub: "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
  derivationPath: "m/84'/0'/0'",
};
const BIP84_ADDRESSES = ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"];
const BIP49_VECTOR = {
  xpub: "upub5EFU65HtV5TeiSHmZZm7FUffBGy8UKeqp7vw43jYbvZPpoVsgU93oac7Wk3u6moKegAEWtGNF8DehrnHtv21XXEMYRUocHqguyjknFHYfgY",
  derivationPath: "m/49'/1'/0'",
  address: "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2",
};

describe("in responses about wallets,", () => {
  test("a direct wallet has its address, and null in the fields that only extended keys have", async () => {
    const wallet = await registerWallet(shop, freshDirectWallet("ETH", "ETH"));
    expectWalletShape(wallet);
    expect(wallet).toMatchObject({ merchantId: shop.merchantId, walletType: "DIRECT_WALLET", isEnabled: true });
  });

  test("an extended key wallet has its key, path and scheme, and counters that start at zero", async () => {
    const key = extendedKey();
    const wallet = await registerWallet(shop, xpubWallet(key));
    expectWalletShape(wallet);
    expect(wallet).toMatchObject({ xpub: key.xpub, scheme: "BIP84", lastUsedIndex: 0, nextIndex: 0, gap: 0 });
  });

  test("requiredConfirmations is 1 unless the registration says otherwise", async () => {
    expect((await registerWallet(shop, freshDirectWallet("ETH", "ETH"))).requiredConfirmations).toBe(1);
    const patient = { ...freshDirectWallet("BNB", "BNB"), requiredConfirmations: 12 };
    expect((await registerWallet(shop, patient)).requiredConfirmations).toBe(12);
  });

  test("a wallet that requires fewer confirmations than recommended for its network carries a warning", async () => {
    const hasty = await registerWallet(shop, xpubWallet(extendedKey()));
    await removeWallets(shop);
    const patient = await registerWallet(shop, { ...xpubWallet(extendedKey()), requiredConfirmations: 3 });
    const only = hasty.warnings.filter((warning) => !patient.warnings.includes(warning));
    expect(only).toHaveLength(1);
  });

  test("the list is a plain array of the merchant's own wallets, and each wallet can be read by its id", async () => {
    const direct = await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const { firstAddress, ...xpub } = await registerWallet(shop, xpubWallet(extendedKey()));
    expect(firstAddress).toBeDefined();
    const list = expectOk(await shop.get<Wallet[]>("/wallets"), 200);
    expect(Array.isArray(list)).toBe(true);
    expect([...list].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      [direct, xpub].sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect(expectOk(await shop.get<Wallet>(`/wallets/${direct.id}`), 200)).toEqual(direct);
    expect(expectOk(await shop.get<Wallet>(`/wallets/${xpub.id}`), 200)).toEqual(xpub);
    expect(expectOk(await stranger.get<Wallet[]>("/wallets"), 200).map((wallet) => wallet.id)).not.toContain(direct.id);
  });
});

describe("with one wallet for each pair of coin and network,", () => {
  test("one coin may have a wallet on each of two networks, but a second wallet for the same pair is refused", async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    await registerWallet(shop, freshDirectWallet("USDT", "TRX"));
    expectRefusal(await shop.post("/wallets", freshDirectWallet("USDT", "ETH")), 409, "WALLET_EXISTS");
  });

  test("every spelling of a network means the same pair", async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "TRX"));
    expectRefusal(await shop.post("/wallets", freshDirectWallet("USDT", "TRON")), 409, "WALLET_EXISTS");
  });

  test("a direct wallet and an extended key cannot both be registered for a pair", async () => {
    await registerWallet(shop, freshDirectWallet("BTC", "BTC"));
    expectRefusal(await shop.post("/wallets", xpubWallet(extendedKey())), 409, "WALLET_EXISTS");
  });

  test("exactly one of twenty simultaneous registrations of a pair succeeds", async () => {
    const answers = await atOnce(20, () => shop.post<Wallet>("/wallets", freshDirectWallet("USDC", "POL")));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    for (const answer of answers.filter((each) => each.status !== 201)) expectRefusal(answer, 409, "WALLET_EXISTS");
    expect(expectOk(await shop.get<Wallet[]>("/wallets"), 200)).toHaveLength(1);
  });

  test("two merchants may register the same pair and even the same address", async () => {
    await removeWallets(stranger);
    const body = freshDirectWallet("USDC", "ETH");
    const mine = await registerWallet(shop, body);
    const theirs = await registerWallet(stranger, body);
    expect(theirs.address).toBe(mine.address);
    await removeWallets(stranger);
  });
});

describe("networks and coins", () => {
  const NATIVE = ["BTC", "LTC", "ETH", "POL", "BNB", "CRO", "TRX"];
  const TEST_NETWORKS = [
    ["BTC", "BTC_TESTNET"],
    ["LTC", "LTC_TESTNET"],
    ["ETH", "ETH_SEPOLIA"],
    ["POL", "POL_AMOY"],
    ["BNB", "BNB_TESTNET"],
    ["CRO", "CRO_TESTNET"],
    ["TRX", "TRX_NILE"],
  ] as const;
  const ROLLUPS = ["BASE", "ARBITRUM", "OPTIMISM"].flatMap((name) =>
    [name, `${name}_SEPOLIA`].flatMap((network) => [["ETH", network] as const, ["USDC", network] as const]),
  );
  const TOKENS = ["ETH", "POL", "BNB", "TRX"].flatMap((network) => [["USDT", network] as const]);
  const own = NATIVE.map((name) => [name, name] as const);
  const pairs = [...own, ...TEST_NETWORKS, ...ROLLUPS, ...TOKENS, ["USDC", "CRO"] as const];

  test.each(pairs)("%s on %s accepts a direct wallet", async (cryptocurrency, network) => {
    const wallet = await registerWallet(shop, freshDirectWallet(cryptocurrency, network));
    expect(wallet).toMatchObject({ cryptocurrency, network });
  });

  test.each([
    ["BTC", "Bitcoin", "BTC", "bc"],
    ["LTC", "LITECOIN", "LTC", "ltc"],
    ["ETH", "ethereum", "ETH", ""],
    ["POL", "Polygon", "POL", ""],
    ["POL", "MATIC", "POL", ""],
    ["BNB", "BSC", "BNB", ""],
    ["CRO", "Cronos", "CRO", ""],
    ["TRX", "tron", "TRX", ""],
    ["BNB", "bsc_testnet", "BNB_TESTNET", ""],
    ["POL", "POLYGON_AMOY", "POL_AMOY", ""],
    ["CRO", "CRONOS_TESTNET", "CRO_TESTNET", ""],
    ["TRX", "TRON_NILE", "TRX_NILE", ""],
    ["ETH", "eth", "ETH", ""],
    ["ETH", "arbitrum_one", "ARBITRUM", ""],
    ["ETH", "op_sepolia", "OPTIMISM_SEPOLIA", ""],
  ])("%s on %s is returned as the network %s", async (cryptocurrency, alias, network) => {
    const body = { ...freshDirectWallet(cryptocurrency, network), network: alias };
    expect((await registerWallet(shop, body)).network).toBe(network);
  });

  test.each([
    ["USDT", "BTC"],
    ["BTC", "ETH"],
    ["ETH", "TRX"],
    ["SHIB", "BNB"],
    ["USDT", "BASE"],
    ["BASE", "BASE"],
    ["UNI", "POL"],
    ["DOGE", "DOGE"],
    ["LTC", "BTC"],
    ["BTC", "BTC_TESTNET4"],
  ])("%s on %s is refused as an unsupported pair", async (cryptocurrency, network) => {
    const answer = await shop.post("/wallets", {
      walletType: "DIRECT_WALLET",
      cryptocurrency,
      network,
      address: evmAddress(),
    });
    expectRefusal(answer, 400, "UNSUPPORTED_PAIR");
  });

  const ACCOUNT_NETWORKS = [
    ["ETH", "ETH"],
    ["POL", "POL"],
    ["BNB", "BNB"],
    ["CRO", "CRO"],
    ["TRX", "TRX"],
    ["ETH", "ETH_SEPOLIA"],
    ["ETH", "BASE"],
  ] as const;
  test.each(ACCOUNT_NETWORKS)("%s on %s does not accept an extended key", async (cryptocurrency, network) => {
    const body = { ...xpubWallet(extendedKey()), cryptocurrency, network };
    expectRefusal(await shop.post("/wallets", body), 400, "XPUB_NOT_SUPPORTED");
  });
});

describe("in the derivation of addresses,", () => {
  const schemes: Scheme[] = ["BIP44", "BIP49", "BIP84"];
  const networks: UtxoNetwork[] = ["BTC", "LTC", "BTC_TESTNET", "LTC_TESTNET"];
  const cases = networks.flatMap((network) => schemes.map((scheme) => ({ scheme, network })));

  test.each(cases)("a $scheme key on $network derives the addresses of that scheme", async ({ scheme, network }) => {
    const key = extendedKey({ scheme, network });
    const wallet = await registerWallet(shop, xpubWallet(key, network));
    expect(wallet).toMatchObject({ scheme, network, firstAddress: key.address(0) });
    expect(await preview(wallet, "?from=0&count=100")).toEqual(
      Array.from({ length: 100 }, (_, index) => ({ index, address: key.address(index) })),
    );
  });

  test("the BIP84 test vector gives the addresses printed in the BIP", async () => {
    const body = { ...BIP84_VECTOR, walletType: "XPUB_WALLET", cryptocurrency: "BTC", network: "BTC" };
    const wallet = await registerWallet(shop, body);
    expect(wallet).toMatchObject({ scheme: "BIP84", firstAddress: BIP84_ADDRESSES[0] });
    expect((await preview(wallet, "?from=0&count=2")).map((each) => each.address)).toEqual(BIP84_ADDRESSES);
  });

  test("the BIP49 test vector gives the address printed in the BIP", async () => {
    const { address, ...key } = BIP49_VECTOR;
    const body = { ...key, walletType: "XPUB_WALLET", cryptocurrency: "BTC", network: "BTC_TESTNET" };
    expect((await registerWallet(shop, body)).firstAddress).toBe(address);
  });

  test("the reference derivation of these tests reproduces the BIP vectors too", () => {
    const words = `${"abandon ".repeat(11)}about`;
    const seed = pbkdf2Sync(words, "mnemonic", 2_048, 64, "sha512");
    const native = extendedKey({ seed });
    expect({ xpub: native.xpub, derivationPath: native.derivationPath }).toEqual(BIP84_VECTOR);
    expect([0, 1].map(native.address)).toEqual(BIP84_ADDRESSES);
    const nested = extendedKey({ seed, scheme: "BIP49", network: "BTC_TESTNET" });
    expect({ xpub: nested.xpub, derivationPath: nested.derivationPath, address: nested.address(0) }).toEqual(
      BIP49_VECTOR,
    );
  });

  test("a key of a later account derives that account's addresses", async () => {
    const key = extendedKey({ account: 7 });
    expect((await registerWallet(shop, xpubWallet(key))).firstAddress).toBe(key.address(0));
  });
});

describe("for an extended key,", () => {
  test("lastUsedIndex is 0 before and after the first invoice and then rises by one; nextIndex is the next index to be used", async () => {
    const key = extendedKey();
    const { id } = await registerWallet(shop, xpubWallet(key));
    for (const index of [0, 1, 2]) {
      const invoice = await createInvoice(shop);
      expect(invoice.paymentMethods[0]?.address).toBe(key.address(index));
      const wallet = expectOk(await shop.get<Wallet>(`/wallets/${id}`), 200);
      expect(wallet).toMatchObject({ lastUsedIndex: index, nextIndex: index + 1, gap: index + 1 });
    }
  });

  test("a preview does not use up an index", async () => {
    const key = extendedKey();
    const wallet = await registerWallet(shop, xpubWallet(key));
    await preview(wallet, "?from=0&count=100");
    expect((await createInvoice(shop)).paymentMethods[0]?.address).toBe(key.address(0));
  });
});

describe("the address preview", () => {
  test("returns twenty addresses from index 0 by default, and any range the query asks for", async () => {
    const key = extendedKey();
    const wallet = await registerWallet(shop, xpubWallet(key));
    expect(await preview(wallet, "")).toHaveLength(20);
    expect(await preview(wallet, "?from=1000&count=1")).toEqual([{ index: 1000, address: key.address(1000) }]);
  });

  test.each(["count=0", "count=101", "count=x", "from=-1", "from=1.5"])("refuses %s", async (query) => {
    const { id } = await registerWallet(shop, xpubWallet(extendedKey()));
    expectRefusal(await shop.get(`/wallets/${id}/addresses?${query}`), 400);
  });

  test("is refused for a direct wallet, which has only one address", async () => {
    const { id } = await registerWallet(shop, freshDirectWallet("ETH", "ETH"));
    const answer = await shop.get(`/wallets/${id}/addresses`);
    expect([400, 404, 409, 422]).toContain(answer.status);
    expectRefusal(answer, answer.status);
  });
});

/** The pairs of index and address in a preview, wherever they are in the body. */
async function preview(wallet: Wallet, query: string): Promise<{ index: number; address: string }[]> {
  expect(wallet.id).toMatch(idOf("wal"));
  const answer = await shop.get(`/wallets/${wallet.id}/addresses${query}`);
  expect(answer.status, answer.text).toBe(200);
  const found: { index: number; address: string }[] = [];
  JSON.parse(answer.text, (_, value) => {
    if (typeof value?.index === "number") found.push({ index: value.index, address: value.address });
    return value;
  });
  return found;
}
