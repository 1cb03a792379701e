// Shared by the tests of wallets: fresh keys, wallets and invoices.
import { HDKey } from "@scure/bip32";
import { p2wpkh } from "@scure/btc-signer";
import { sql } from "drizzle-orm";
import { expect } from "vitest";
import { decodeBase58check, encodeBase58check } from "../../../src/chains/encodings/address-text.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { type Answer, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

export const PATH = "m/84'/0'/0'";
const ZPUB_VERSION = 0x04b24746;
const ZPRV_VERSION = 0x04b2430c;

export function freshKey(path = PATH) {
  const account = HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32))).derive(path);
  const under = (text: string, version: number) => {
    const payload = Uint8Array.from(decodeBase58check(text) ?? []);
    new DataView(payload.buffer).setUint32(0, version);
    return encodeBase58check(payload);
  };
  const external = account.deriveChild(0);
  return {
    zpub: under(account.publicExtendedKey, ZPUB_VERSION),
    zprv: under(account.privateExtendedKey, ZPRV_VERSION),
    address: (index: number) => p2wpkh(external.deriveChild(index).publicKey ?? new Uint8Array()).address ?? "",
  };
}

type Key = ReturnType<typeof freshKey>;

export const BTC = { cryptocurrency: "BTC", network: "BTC" };
export const xpubBody = (key: Key) => ({ walletType: "XPUB_WALLET", ...BTC, xpub: key.zpub, derivationPath: PATH });

export const directBody = (cryptocurrency = "USDT", network = "ETH", address = `0x${randomHex(20)}`) => ({
  walletType: "DIRECT_WALLET",
  cryptocurrency,
  network,
  address,
});

export const invoice = (pair?: object) => ({
  name: "Order",
  rawAmount: 10,
  ...(pair === undefined ? {} : { paymentMethods: [pair] }),
});

export function expectStatus(answer: Answer, status: number, code?: string): Answer["body"] {
  expect([answer.status, answer.body?.code], answer.text).toEqual([status, code]);
  return answer.body;
}

export async function registered(shop: TestMerchant, body: object) {
  return expectStatus(await shop.post("/wallets", body), 201);
}

export async function created(shop: TestMerchant, pair?: object) {
  return expectStatus(await shop.post("/invoices", invoice(pair)), 201);
}

export async function rowOf(walletId: string) {
  const [row] = await testDb.select().from(wallets).where(sql`${wallets.id} = ${walletId}`);
  if (row === undefined) throw new Error(`no wallet ${walletId}`);
  return row;
}
