// Shared by the tests of transfers: shops, transfers to them, and the stored rows.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import type { BlockRef, Transfer } from "../../../src/chains/sources/transfer.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { applyTransfers, type SeenPayment } from "../../../src/detection/matching/apply-transfers.ts";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const USDT = { cryptocurrency: "USDT", network: "ETH" };

/** A merchant with a direct USDT wallet, at a new address unless one is given. */
export async function shopAt(address = `0x${randomHex(20)}`, requiredConfirmations = 1) {
  const merchant = await freshMerchant();
  const wallet = await merchant.post("/wallets", {
    walletType: "DIRECT_WALLET",
    ...USDT,
    address,
    requiredConfirmations,
  });
  expect(wallet.status).toBe(201);
  return { merchant, address: String(wallet.body.address), walletId: String(wallet.body.id) };
}

export async function invoiceOf(merchant: TestMerchant, rawAmount: number, more: object = {}) {
  const made = await merchant.post("/invoices", { name: "Order", rawAmount, paymentMethods: [USDT], ...more });
  expect(made.status).toBe(201);
  return {
    id: String(made.body.id),
    units: unitsOf(made.body.paymentMethods[0].amount),
    expiresAt: made.body.expiresAt,
  };
}

export const unitsOf = (amount: string) => BigInt(Math.round(Number(amount) * 1e6));

export const blockAt = (height: number, timeMs = Date.now(), fork = ""): BlockRef => ({
  height,
  hash: `h${height}${fork}`,
  timeMs,
});

export function transferTo(toAddress: string, amountUnits: bigint, changes: Partial<Transfer> = {}): Transfer {
  return {
    cryptocurrency: "USDT",
    txHash: `0x${randomHex(32)}`,
    outputIndex: "0",
    fromAddress: `0x${randomHex(20)}`,
    toAddress,
    amountUnits,
    block: blockAt(100),
    spends: [],
    raw: '{"log":1}',
    ...changes,
  };
}

interface LookOptions {
  readonly tip?: number;
  readonly network?: string;
  readonly seen?: readonly SeenPayment[];
  readonly nowMs?: number;
  readonly hasSecond?: boolean;
  readonly isHearsay?: boolean;
  readonly askedBy?: MerchantId;
  readonly budget?: { readonly isSpent: boolean };
  readonly db?: typeof testDb;
}

export async function look(
  transfers: readonly Transfer[],
  { tip = 100, network = "ETH", seen = [], nowMs = Date.now(), db = testDb, ...more }: LookOptions = {},
) {
  const of = networkNamed(network);
  if (of === undefined) throw new Error(network);
  const deps = invoiceDependencies(env, { db, nowMs, sleep });
  const heights = { tipHeight: tip, finalizedHeight: null };
  return applyTransfers(deps, { network: of, heights, transfers, seen, ...more });
}

export const shown = async (merchant: TestMerchant, id: string) => (await merchant.get(`/invoices/${id}`)).body;

export const rowsOf = (txHash: string) => testDb.select().from(payments).where(eq(payments.txHash, txHash));
