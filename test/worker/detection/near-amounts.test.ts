// All invoices that were open at a transfer's time are considered for it, however many sales at its address have ended.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { networkNamed } from "../../../src/chains/networks.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { amountReservations, invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const USDT = { cryptocurrency: "USDT", network: "ETH" };

async function paid(toAddress: string, amountUnits: bigint) {
  const network = networkNamed("ETH");
  if (network === undefined) throw new Error("no ETH");
  const txHash = `0x${randomHex(32)}`;
  const block = { height: 100, hash: `0x${randomHex(32)}`, timeMs: Date.now() };
  const transfer = {
    cryptocurrency: "USDT",
    txHash,
    outputIndex: "0",
    fromAddress: null,
    toAddress,
    amountUnits,
    block,
  };
  const deps = invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep });
  const heights = { tipHeight: 100, finalizedHeight: null };
  const look = { network, heights, seen: [], transfers: [{ ...transfer, spends: [], raw: "{}" }] };
  expect((await applyTransfers(deps, look)).ok).toBe(true);
  return (await testDb.select().from(payments).where(eq(payments.txHash, txHash)))[0];
}

it.each([
  ["with few ended sales", 3],
  ["with hundreds of ended sales of about its amount", 220],
])("a transfer that could be meant for two open invoices is UNMATCHED, %s", async (_, over) => {
  const shop = await freshMerchant();
  const address = `0x${randomHex(20)}`;
  const wallet = await shop.post("/wallets", { walletType: "DIRECT_WALLET", ...USDT, address });
  expect(wallet.status).toBe(201);
  const order = async (rawAmount: number) =>
    (await shop.post("/invoices", { name: "Order", rawAmount, paymentMethods: [USDT] })).body;
  const first = await order(100);
  await order(100.5);
  const [row] = await testDb.select().from(amountReservations).where(eq(amountReservations.invoiceId, first.id));
  const [invoice] = await testDb.select().from(invoices).where(eq(invoices.id, first.id));
  const [method] = await testDb.select().from(paymentMethods).where(eq(paymentMethods.invoiceId, first.id));
  if (row === undefined || invoice === undefined || method === undefined) throw new Error("no order");
  // Sales of the same day that have ended: their amounts are still monitored, and nearer to what is sent than the second invoice's.
  for (let n = 0; n < over; n++) {
    const id = `inv_${randomHex(13).toUpperCase()}` as const;
    const ended = { status: "PAID", expiresAtMs: Date.now() - 60_000, externalId: null } as const;
    await testDb.insert(invoices).values({ ...invoice, ...ended, id });
    await testDb.insert(paymentMethods).values({ ...method, invoiceId: id });
    await testDb.insert(amountReservations).values({ ...row, invoiceId: id, units: 100_420_000n + BigInt(n) });
  }
  const payment = await paid(row.address, 100_200_000n);
  expect([payment?.status, payment?.invoiceId]).toEqual(["UNMATCHED", null]);
});
