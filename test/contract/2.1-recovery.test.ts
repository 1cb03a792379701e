// Decisions 3 "Gap and recovery": what a merchant needs to find every payment with their own wallet software, without this service.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createInvoice, registerWallet, removeWallets, shop } from "./client.ts";
import {
  base58check,
  extendedKey,
  freshDirectWallet,
  type Scheme,
  type UtxoNetwork,
  xpubWallet,
} from "./key-material.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const FORMS: readonly { scheme: Scheme; network: UtxoNetwork; form: RegExp }[] = [
  { scheme: "BIP44", network: "BTC", form: /^pkh\((.+)\)$/ },
  { scheme: "BIP49", network: "LTC", form: /^sh\(wpkh\((.+)\)\)$/ },
  { scheme: "BIP84", network: "BTC", form: /^wpkh\((.+)\)$/ },
  { scheme: "BIP84", network: "BTC_TESTNET", form: /^wpkh\((.+)\)$/ },
];

describe("the recovery export", () => {
  test.each(FORMS)("for a $scheme wallet on $network contains a descriptor for wallet software", async (each) => {
    const key = extendedKey(each);
    const wallet = await registerWallet(shop, xpubWallet(key, each.network));
    const answer = await shop.get(`/wallets/${wallet.id}/recovery`);
    expect(answer.status).toBe(200);
    const found = answer.text.match(/(?:wpkh|pkh|sh)\([^"#]*\)#[a-z0-9]{8}/)?.[0].replaceAll("\\/", "/") ?? "";
    const [descriptor = "", checksum] = found.split("#");
    expect(checksum).toBe(descriptorChecksum(descriptor));
    const inner = each.form.exec(descriptor)?.[1] ?? "";
    // Descriptors know only xpub and tpub: the same key under the plain version bytes, then /0/* for the receiving addresses.
    const plain = /^(?:\[[^\]]*\])?([xt]pub[1-9A-HJ-NP-Za-km-z]+)\/0\/\*$/.exec(inner)?.[1] ?? "";
    expect(plain.startsWith(each.network.endsWith("TESTNET") ? "tpub" : "xpub")).toBe(true);
    expect(base58check.decode(plain).slice(4)).toEqual(base58check.decode(key.xpub).slice(4));
  });

  test("has the next index, a gap limit that covers it, and every address with its invoice", async () => {
    const key = extendedKey();
    const wallet = await registerWallet(shop, xpubWallet(key));
    const invoices = [await createInvoice(shop), await createInvoice(shop), await createInvoice(shop)];
    const answer = await shop.get<Record<string, unknown>>(`/wallets/${wallet.id}/recovery`);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(answer.body).toMatchObject({ nextIndex: 3 });
    const gapLimit = Object.entries(answer.body).find(([name]) => /gap/i.test(name))?.[1];
    expect(gapLimit).toBeGreaterThanOrEqual(3);
    invoices.forEach((invoice, index) => {
      expect(rowWith(answer.body, invoice.id)).toMatchObject({ index, address: key.address(index) });
    });
  });

  test("is a table of indexes, addresses and invoices if requested as CSV", async () => {
    const key = extendedKey();
    const wallet = await registerWallet(shop, xpubWallet(key));
    const invoices = [await createInvoice(shop), await createInvoice(shop)];
    const answer = await shop.get(`/wallets/${wallet.id}/recovery?format=csv`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^text\/csv\b/);
    const lines = answer.text.split(/\r?\n/);
    invoices.forEach((invoice, index) => {
      const line = lines.find((each) => each.includes(invoice.id)) ?? "";
      expect(line.split(",").map((cell) => cell.replaceAll('"', ""))).toEqual(
        expect.arrayContaining([String(index), key.address(index), invoice.id]),
      );
    });
  });

  test("is refused for a direct wallet, and is a 404 for an unknown one", async () => {
    const { id } = await registerWallet(shop, freshDirectWallet("ETH", "ETH"));
    expect((await shop.get(`/wallets/${id}/recovery`)).status).toBeGreaterThanOrEqual(400);
    expect((await shop.get("/wallets/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV/recovery")).status).toBe(404);
  });
});

function rowWith(value: unknown, invoiceId: string): unknown {
  let row: unknown;
  JSON.parse(JSON.stringify(value), (_, each) => {
    if (each?.invoiceId === invoiceId) row = each;
    return each;
  });
  return row;
}

/** BIP380 "Checksum": a BCH code over the descriptor's characters, eight characters of the bech32 alphabet. */
function descriptorChecksum(descriptor: string): string {
  const INPUT = "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ ";
  const OUTPUT = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
  const GENERATOR = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];
  const step = (state: bigint, symbol: number) => {
    const top = state >> 35n;
    const next = ((state & 0x7ffffffffn) << 5n) ^ BigInt(symbol);
    return GENERATOR.reduce((sum, each, bit) => (((top >> BigInt(bit)) & 1n) === 1n ? sum ^ each : sum), next);
  };
  const positions = [...descriptor].map((character) => INPUT.indexOf(character));
  const symbols: number[] = [];
  for (let start = 0; start < positions.length; start += 3) {
    const group = positions.slice(start, start + 3);
    const classes = group.reduce((sum, position) => sum * 3 + (position >> 5), 0);
    symbols.push(...group.map((position) => position & 31), classes);
  }
  const state = [...symbols, 0, 0, 0, 0, 0, 0, 0, 0].reduce(step, 1n) ^ 1n;
  return Array.from({ length: 8 }, (_, index) => OUTPUT[Number((state >> BigInt(5 * (7 - index))) & 31n)]).join("");
}
