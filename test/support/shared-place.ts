// Merchants who share one address or extended key, and a chain that pays them, to test what they can take from one another.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { networkNamed } from "../../src/chains/registry/networks.ts";
import { invoiceDependencies } from "../../src/commerce/invoices/dependencies.ts";
import { applyTransfers, type Findings } from "../../src/detection/matching/apply-transfers.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { methodAmounts } from "../../src/platform/db/schema/method-amounts.ts";
import { payments } from "../../src/platform/db/schema/payments.ts";
import { randomHex } from "./wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant, testDb } from "./worker-merchant.ts";

export interface Pair {
  readonly cryptocurrency: string;
  readonly network: string;
}

export async function expectStatus(answer: Promise<Answer>, status: number): Promise<Answer["body"]> {
  const { status: actual, body, text } = await answer;
  expect(actual, text).toBe(status);
  return body;
}

/** A merchant with only this wallet. */
export async function holderOf(wallet: object): Promise<TestMerchant> {
  const shop = await freshMerchant();
  await expectStatus(shop.post("/wallets", wallet), 201);
  return shop;
}

export function holdersOf(count: number, wallet: object): Promise<readonly TestMerchant[]> {
  return Promise.all(Array.from({ length: count }, () => holderOf(wallet)));
}

/** Creates an invoice; returns its id and its first method. */
export async function ordered(shop: TestMerchant, pair: Pair, rawAmount: number, more: object = {}) {
  const body = { name: "Order", rawAmount, paymentMethods: [pair], ...more };
  const invoice = await expectStatus(shop.post("/invoices", body), 201);
  return { invoiceId: invoice.id, ...invoice.paymentMethods[0] };
}

export type Ordered = Awaited<ReturnType<typeof ordered>>;

/** Creates invoices one after another until three have got no payment method, or `most` have got one: the most that one merchant can take. */
export async function takeAll(shop: TestMerchant, pair: Pair, rawAmount: number, most: number): Promise<Ordered[]> {
  const taken: Ordered[] = [];
  for (let refused = 0; refused < 3 && taken.length < most; ) {
    const method = await ordered(shop, pair, rawAmount);
    if (method.status === "ACTIVE") taken.push(method);
    else refused++;
  }
  return taken;
}

export const unitsOf = (amount: string, decimals: number): bigint => {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(decimals, "0"));
};

/** Reports what a watcher found on a network, once the clock has reached the blocks' times. */
async function look({ network: name }: Pair, of: Pick<Findings, "seen" | "transfers">): Promise<void> {
  const network = networkNamed(name);
  if (network === undefined) throw new Error("no such network");
  const nowMs = Math.max(Date.now(), ...of.transfers.map(({ block }) => block?.timeMs ?? 0));
  const deps = invoiceDependencies(env, { db: testDb, nowMs, sleep });
  const heights = { tipHeight: 100, finalizedHeight: null };
  expect((await applyTransfers(deps, { network, heights, ...of })).ok).toBe(true);
}

const rowsOf = (txHash: string) => testDb.select().from(payments).where(eq(payments.txHash, txHash));

/** Reports a confirmed transfer; returns its payment rows. */
export async function paid(pair: Pair, toAddress: string, amountUnits: bigint, timeMs = Date.now()) {
  const txHash = randomHex(32);
  const block = { height: 100, hash: randomHex(32), timeMs };
  const what = { cryptocurrency: pair.cryptocurrency, txHash, outputIndex: "0", fromAddress: null };
  const transfer = { ...what, toAddress, amountUnits, block, spends: [], raw: "{}" };
  await look(pair, { seen: [], transfers: [transfer] });
  return rowsOf(txHash);
}

/** Reports that the transaction is no longer in a block. */
export async function vanish(pair: Pair, txHash: string): Promise<void> {
  const seen = (await rowsOf(txHash)).map((payment) => ({ payment, observation: { kind: "unknown" } as const }));
  await look(pair, { seen, transfers: [] });
}

/** Pays an invoice of this merchant exactly as asked; returns the transaction. */
export async function prove(shop: TestMerchant, pair: Pair, of: { readonly usd: number; readonly decimals: number }) {
  const { address, amount, invoiceId } = await ordered(shop, pair, of.usd);
  // The payment comes a minute later, because a payment at the moment of the request proves nothing.
  const [payment] = await paid(pair, address, unitsOf(amount, of.decimals), Date.now() + 61_000);
  expect(payment).toMatchObject({ invoiceId, status: "CONFIRMED" });
  return payment?.txHash ?? "";
}

export const amountsAt = (address: string) =>
  testDb.select().from(methodAmounts).where(eq(methodAmounts.address, address));
