// The targets of the create benchmarks: the product, the floor (the minimum work of a create) and the peer (Fastify and PostgreSQL). All receive the
// same body.
import { randomBytes } from "node:crypto";
import { PROOF_USD_MICROS } from "../../src/commerce/ranks/rank.ts";
import type { Context } from "../context.ts";
import { ZPUB } from "../floor/derive.ts";
import { FLOOR_KEYS } from "../floor/server.ts";
import { type Target, target } from "../interleave.ts";
import { COUNTER } from "../load/job.ts";
import { type Merchant, type Product, registerWallet } from "../product.ts";
import type { Reachable } from "../serve.ts";

/**
 * The body of every create, for both the floor and the product. Each has a new customer, because one of the three statements in the floor's batch
 * inserts a customer.
 */
const CREATE_BODY = {
  name: "Order 1001",
  rawAmount: 25.5,
  currency: "USD",
  customerEmail: `customer-${COUNTER}@example.com`,
  customerName: "Ada Lovelace",
  description: "Two notebooks and a pen",
  redirectUrl: "https://shop.example.com/thanks",
};
/** Prices for creates that reserve an amount. There are many, because at most 10,001 different amounts can be reserved for one price. */
const PRICES = Array.from({ length: 50 }, (_, i) => 20 + i);

/** With two wallets, none is chosen automatically, so a create activates no payment method (decisions 4). */
const TWO_WALLETS = [
  {
    walletType: "DIRECT_WALLET",
    cryptocurrency: "ETH",
    network: "ETH",
    address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  },
  {
    walletType: "DIRECT_WALLET",
    cryptocurrency: "TRX",
    network: "TRX",
    address: "TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW",
  },
];
const XPUB_WALLET = {
  walletType: "XPUB_WALLET",
  cryptocurrency: "BTC",
  network: "BTC",
  xpub: ZPUB,
  derivationPath: "m/84'/0'/0'",
};
export const BTC_ADDRESS = '"address":"(bc1q[0-9a-z]{38})"';
/** Extracts the reserved amount, which must differ in every answer: no two open invoices may ask for the same amount at an address. */
const RESERVED_AMOUNT = '"status":"ACTIVE","reason":null,"address":"0x[0-9a-fA-F]{40}","amount":"([0-9.]+)"';

/** A merchant whose creates activate no payment method. */
export async function merchantWithTwoWallets(product: Product): Promise<Merchant> {
  const merchant = await product.newMerchant();
  for (const wallet of TWO_WALLETS) await registerWallet(product, merchant, wallet);
  return merchant;
}

/** A target that creates invoices for this many merchants in turn. */
export async function manyMerchantsTarget(label: string, product: Product, count: number): Promise<Target> {
  const targets: Target[] = [];
  // Merchants are created one after another: with 64 at once, an assertion in the proxy to the database failed on a busy machine.
  for (let n = 0; n < count; n++) targets.push(createTarget(label, product, await merchantWithTwoWallets(product)));
  return inTurn(targets);
}

/**
 * A merchant for which every create activates an address of its extended key. Use only one per server, because other merchants with the same key
 * could use only a few of its addresses.
 */
export async function merchantWithXpub(product: Product): Promise<Merchant> {
  const merchant = await product.newMerchant();
  await registerWallet(product, merchant, XPUB_WALLET);
  return merchant;
}

export const freshDirectWallet = () => ({
  walletType: "DIRECT_WALLET",
  cryptocurrency: "USDT",
  network: "ETH",
  address: `0x${randomBytes(20).toString("hex")}`,
});

/** A merchant for which every create reserves an amount. Its address counts as proven, as if it had received enough confirmed payments. */
export async function merchantWithProof(
  product: Product,
  wallet: ReturnType<typeof freshDirectWallet>,
): Promise<Merchant> {
  const merchant = await product.newMerchant();
  await registerWallet(product, merchant, wallet);
  // Copies the address from the stored wallet, because proofs are looked up by its exact spelling.
  await product.database
    .prepare(
      "INSERT INTO address_proofs (network, target, merchant_id, confirmed_usd_micros) SELECT network, address, merchant_id, ? FROM wallets WHERE merchant_id = ?",
    )
    .bind(Number(PROOF_USD_MICROS), merchant.merchantId)
    .run();
  return merchant;
}

export function createTarget(label: string, product: Product, merchant: Merchant): Target {
  const path = merchant.path("/invoices");
  return target(label, product.served, { method: "POST", path, headers: merchant.headers, body: CREATE_BODY });
}

/** Creates invoices at many prices, each with its own amount. */
export function directTarget(label: string, product: Product, merchant: Merchant): Target {
  const path = merchant.path("/invoices");
  const shape = { method: "POST", path, headers: merchant.headers } as const;
  const targets = PRICES.map((rawAmount) =>
    target(label, product.served, { ...shape, body: { ...CREATE_BODY, rawAmount } }),
  );
  return { ...inTurn(targets), pattern: RESERVED_AMOUNT };
}

/** A target for the floor's route with this label, for one merchant or for several in turn. */
export async function floorTarget(context: Context, label: string, merchants = 1): Promise<Target> {
  const floor = await context.floor();
  const shape = { method: "POST", path: `/${label.toLowerCase()}`, body: CREATE_BODY } as const;
  const keys = FLOOR_KEYS.slice(0, merchants);
  return inTurn(keys.map((key) => target(label, floor, { ...shape, headers: { "x-api-key": key } })));
}

/** A route of the peer, called with the floor's first key. */
export function peerTarget(label: string, peer: Reachable, path: string): Target {
  const headers = { "x-api-key": FLOOR_KEYS[0] ?? "" };
  return target(label, peer, { method: "POST", path, headers, body: CREATE_BODY });
}

/** Combines targets of one server into one that sends their requests in turn. */
function inTurn(targets: readonly Target[]): Target {
  const [first] = targets;
  if (first === undefined) throw new Error("no targets");
  return { ...first, templates: targets.flatMap(({ templates }) => templates) };
}
