// An unproven merchant holds amounts at a shared address for a day, but its invoices may last longer if late payments are accepted. After
// that day, an invoice's page must not ask for an amount that another invoice may have.
import { env } from "cloudflare:workers";
import { and, eq, isNull } from "drizzle-orm";
import { beforeEach, expect, it } from "vitest";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import { releaseAmounts } from "../../../src/commerce/amounts/release-amounts.ts";
import { readFile } from "../../../src/commerce/invoices/change-invoice.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { refreshInvoice } from "../../../src/commerce/invoices/refresh-invoice.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { expectStatus, holderOf, ordered } from "../../support/shared-place.ts";
import { directWallet, randomHex, USDT } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

/**
 * An invoice of 100 with 40 paid, which accepts late payments for a week, and a function that shows it at a later time.
 */
async function underpaid() {
  const wallet = directWallet();
  const shop = await holderOf(wallet);
  await holderOf(wallet);
  await expectStatus(shop.patch("/settings", { latePaymentPolicy: "ACCEPT", monitorSeconds: 604_800 }), 200);
  const { invoiceId, address } = await ordered(shop, USDT, 100);
  const startMs = Date.now();
  const depsAt = (hours: number) => invoiceDependencies(env, { db: testDb, nowMs: startMs + hours * HOUR_MS, sleep });
  const pay = async (amountUnits: bigint, hours: number) => {
    const network = networkNamed("ETH");
    if (network === undefined) throw new Error("no such network");
    const txHash = `0x${randomHex(32)}`;
    const block = { height: 100, hash: randomHex(32), timeMs: startMs + hours * HOUR_MS };
    const what = { cryptocurrency: "USDT", txHash, outputIndex: "0", fromAddress: null, toAddress: address };
    const transfers = [{ ...what, amountUnits, block, spends: [], raw: "{}" }];
    const heights = { tipHeight: 100, finalizedHeight: null };
    expect((await applyTransfers(depsAt(hours), { network, heights, transfers, seen: [] })).ok).toBe(true);
    return testDb.select().from(payments).where(eq(payments.txHash, txHash));
  };
  await pay(40_000_000n, 0.1);
  /** The amount that the page asks for after this many hours, once the sweep has run. */
  const shownAt = async (hours: number) => {
    const deps = depsAt(hours);
    await expireInvoices(deps);
    await releaseAmounts(deps);
    const file = await readFile(deps, shop.merchantId, invoiceId);
    const fresh = file.ok && file.value !== undefined ? await refreshInvoice(deps, file.value) : undefined;
    await releaseAmounts(deps);
    if (fresh?.ok !== true) throw new Error("not refreshed");
    const [method] = fresh.value.methods;
    return {
      status: fresh.value.invoice.status,
      method,
      lockedHours: ((method?.lockedUntilMs ?? 0) - startMs) / HOUR_MS,
    };
  };
  return { invoiceId, pay, shownAt };
}

it("after a day a page no longer asks for the remainder, because other invoices may have its amount", async () => {
  const { invoiceId, shownAt } = await underpaid();
  const { status, method } = await shownAt(30);
  expect([status, method?.reason]).toEqual(["UNDERPAID", "AMOUNTS_EXHAUSTED"]);
  const isHeld = and(eq(methodAmounts.invoiceId, invoiceId), isNull(methodAmounts.releasedAtMs));
  expect(await testDb.$count(methodAmounts, isHeld)).toBe(0);
});

it("a page asks for a remainder only as long as its amount is held, and paying it credits the invoice", async () => {
  const { invoiceId, pay, shownAt } = await underpaid();
  const { method, lockedHours } = await shownAt(23.5);
  expect(lockedHours).toBeGreaterThan(23.5);
  expect(lockedHours).toBeLessThanOrEqual(24);
  const asked = method?.remainderUnits ?? method?.amountUnits ?? 0n;
  const [row] = await pay(asked, 23.9);
  expect(row).toMatchObject({ invoiceId, matchedBy: "EXACT_AMOUNT" });
});
