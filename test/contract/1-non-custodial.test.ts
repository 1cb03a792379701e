// Interface 1: the service never controls a private key. Anything that looks like one must be refused and appear nowhere: not in the answer, a log or
// a table (decisions 3). Every secret is new in this run, so finding one means a leak.
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  apiOf,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  service,
  shop,
  unique,
} from "./client.ts";
import { base58check, directWallet, evmAddress, extendedKey, type KeyChoice, wif, xpubWallet } from "./key-material.ts";
import type { Wallet } from "./shapes.ts";

beforeAll(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const WORDS =
  `abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid
  acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance`.split(
    /\s+/,
  );
const phrase = (count: number) => Array.from(randomBytes(count), (byte) => WORDS[byte % WORDS.length]).join(" ");
const xprv = (choice: KeyChoice) => extendedKey(choice).xprv;
const litecoinPrivate = (version: number) => {
  const payload = Uint8Array.from(base58check.decode(xprv({})));
  new DataView(payload.buffer).setUint32(0, version);
  return base58check.encode(payload);
};

const SECRETS: readonly (readonly [string, string])[] = [
  ["an xprv", xprv({ scheme: "BIP44" })],
  ["a yprv", xprv({ scheme: "BIP49" })],
  ["a zprv", xprv({ scheme: "BIP84" })],
  ["a tprv", xprv({ scheme: "BIP44", network: "BTC_TESTNET" })],
  ["a uprv", xprv({ scheme: "BIP49", network: "BTC_TESTNET" })],
  ["a vprv", xprv({ scheme: "BIP84", network: "BTC_TESTNET" })],
  ["an Ltpv", litecoinPrivate(0x019d9cfe)],
  ["an Mtpv", litecoinPrivate(0x01b26792)],
  ["an xprv cut short", xprv({ scheme: "BIP44" }).slice(0, 60)],
  ["private bytes under a public prefix", publicPrefixOf(xprv({}))],
  ["a compressed WIF", wif()],
  ["an uncompressed WIF", wif(0x80, false)],
  ["a testnet WIF", wif(0xef)],
  ["a Litecoin WIF", wif(0xb0)],
  ["64 hexadecimal digits", randomBytes(32).toString("hex")],
  ["64 hexadecimal digits after 0x", `0x${randomBytes(32).toString("hex")}`],
  ["64 upper-case hexadecimal digits", randomBytes(32).toString("hex").toUpperCase()],
  ["twelve words", phrase(12)],
  ["fifteen words", phrase(15)],
  ["twenty-four words", phrase(24)],
  ["a descriptor with a private key", `wpkh(${xprv({ scheme: "BIP44" })}/0/*)`],
];

function publicPrefixOf(secret: string): string {
  const payload = Uint8Array.from(base58check.decode(secret));
  new DataView(payload.buffer).setUint32(0, 0x0488b21e);
  return base58check.encode(payload);
}

const FIELDS = ["address", "xpub", "derivationPath", "cryptocurrency", "network", "walletType"];
const planted = new Set<string>();

describe("a secret sent to the API", () => {
  const cases = SECRETS.flatMap(([kind, secret]) => FIELDS.map((field) => ({ kind, field, secret })));

  test.each(cases)("is refused in a new wallet and not echoed: $kind as $field", async ({ field, secret }) => {
    planted.add(secret);
    const bodies = [
      { ...xpubWallet(extendedKey()), [field]: secret },
      { ...directWallet("ETH", "ETH", evmAddress()), [field]: secret },
    ];
    for (const body of bodies) {
      const answer = await shop.post("/wallets", body, { "idempotency-key": unique() });
      expectRefusal(answer, 400, "PRIVATE_KEY_REFUSED");
      expectNoTrace(secret, [answer.text, ...answer.headers.values()].join("\n"));
    }
  });

  test.each(SECRETS.slice(0, 20))("is also refused if surrounded by white space: %s", async (_, secret) => {
    planted.add(secret);
    const body = { ...xpubWallet(extendedKey()), xpub: ` ${secret}\n` };
    expectRefusal(await shop.post("/wallets", body), 400, "PRIVATE_KEY_REFUSED");
  });

  test("is not echoed when the field is unknown, the JSON is broken or the content type is wrong", async () => {
    const secret = xprv({});
    planted.add(secret);
    const answers = [
      await shop.post("/wallets", { ...directWallet("ETH", "ETH", evmAddress()), secret }),
      await shop.post("/wallets", { ...directWallet("ETH", "ETH", evmAddress()), [secret]: "x" }),
      await shop.postRaw("/wallets", `{"xpub":"${secret}"`),
      await shop.postRaw("/wallets", `{"xpub":"${secret}"}`, { "content-type": "text/plain" }),
      await shop.patch("/wallets/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV", { xpub: secret }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expectNoTrace(secret, answer.text);
    }
  });

  test("is not echoed when it is in the path or the query", async () => {
    // The logs are not searched for this secret, because the development server prints the path of every request before the service sees it.
    const secret = xprv({});
    for (const path of [`/wallets/${secret}`, `/invoices?cursor=${secret}`, `/nowhere/${secret}`]) {
      const answer = await shop.get(path);
      expectRefusal(answer, answer.status);
      expectNoTrace(secret, answer.text);
    }
  });

  test("is refused in an invoice too if it is certainly a key", async () => {
    for (const [kind, secret] of SECRETS.filter(([name]) => /^an? (?:[xyz]prv|compressed WIF)$/.test(name))) {
      planted.add(secret);
      const answer = await shop.post("/invoices", { name: "Order", rawAmount: 1, description: secret });
      expectRefusal(answer, 400, "PRIVATE_KEY_REFUSED");
      expectNoTrace(secret, `${answer.text} ${kind}`);
    }
  });

  test("is not wrongly detected in an invoice's hexadecimal external id or in an ordinary sentence", async () => {
    const externalId = randomBytes(32).toString("hex");
    const description = "please leave the parcel with the neighbour at the green door thanks";
    expect(await createInvoice(shop, { externalId, description })).toMatchObject({ externalId, description });
  });

  test("does not create a wallet", async () => {
    expect(expectOk(await shop.get<Wallet[]>("/wallets"), 200)).toEqual([]);
  });

  test("appears in no log and no table", async () => {
    const marker = evmAddress().toUpperCase().replace("0X", "0x");
    const { id } = await registerWallet(shop, directWallet("ETH", "ETH", marker));
    const files = filesBelow(service.home);
    // The search must find what is really stored; otherwise it would prove nothing.
    expect(files.some((file) => file.bytes.includes(id))).toBe(true);
    expect(planted.size).toBeGreaterThan(SECRETS.length - 1);
    for (const secret of planted) {
      for (const file of files)
        expect(file.bytes.includes(secret), `${secret.slice(0, 6)}... in ${file.path}`).toBe(false);
    }
  });

  test("does not prevent the matching extended public key from being accepted", async () => {
    await registerWallet(shop, xpubWallet(extendedKey()));
  });
});

describe("the service's own keys", () => {
  test("are stored as digests: no table and no log contains a key that was used", async () => {
    const secrets = [service.secretKey, service.publicKey, service.other.secretKey, ...Object.values(service.keys)];
    for (const key of secrets) await apiOf(service.merchantId, key).get("/invoices");
    const files = filesBelow(service.home).filter((file) => !file.path.endsWith(".json"));
    expect(files.length).toBeGreaterThan(0);
    for (const secret of secrets) {
      for (const file of files) expect(file.bytes.includes(secret), `a key in ${file.path}`).toBe(false);
    }
  });
});

/** Expects neither the secret nor a part of it that is long enough to help a thief. */
function expectNoTrace(secret: string, text: string): void {
  for (let start = 0; start + 20 <= secret.length; start += 10) {
    expect(text.toLowerCase()).not.toContain(secret.slice(start, start + 20).toLowerCase());
  }
}

function filesBelow(folder: string): { path: string; bytes: Buffer }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .flatMap((path) => {
      try {
        return [{ path, bytes: readFileSync(path) }];
      } catch (error) {
        // An unused object closes its database, and SQLite's extra files then disappear.
        if (existsSync(path)) throw error;
        return [];
      }
    });
}
