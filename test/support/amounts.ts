// Reserves and releases amounts of a shared address, for tests on workerd.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type AmountPlace, placeName } from "../../src/commerce/amounts/amount-place.ts";
import { releaseAmounts } from "../../src/commerce/amounts/release-amounts.ts";
import { invoiceDependencies } from "../../src/commerce/invoices/dependencies.ts";
import { UNPROVEN } from "../../src/commerce/ranks/rank.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { DAY_MS } from "../../src/lib/time.ts";
import { seedAmounts } from "./amount-objects.ts";
import { freshId, testDb } from "./worker-merchant.ts";

export const amountsAt = (place: AmountPlace) => env.AMOUNT_ALLOCATOR.getByName(placeName(place));

/** Reserves amounts for other invoices; each has its own price unless `priceUnits` is set. */
export async function occupy(
  place: AmountPlace,
  amounts: readonly (bigint | string)[],
  of: { readonly merchantId?: string; readonly priceUnits?: bigint } = {},
): Promise<void> {
  const merchantId = of.merchantId ?? freshId("mer");
  const heldUntilMs = Date.now() + DAY_MS;
  const rows = amounts.map((units) => ({
    units,
    priceUnits: of.priceUnits ?? BigInt(units) + 1_000_000_000n,
    rank: UNPROVEN,
    invoiceId: freshId("inv"),
    merchantId,
    heldUntilMs,
  }));
  await runInDurableObject(amountsAt(place), (_, { storage }) => seedAmounts(storage, rows));
}

/** Releases amounts, as if their invoices had closed long ago. */
export async function freeAmounts(place: AmountPlace, amounts: readonly (bigint | string)[]): Promise<void> {
  const nowMs = Date.now();
  const held = await runInDurableObject(amountsAt(place), (_, { storage: { sql } }) =>
    amounts.flatMap((units) => {
      const ended = "UPDATE amounts SET held_until_ms = ? WHERE units = ? RETURNING invoice_id";
      const rows = sql.exec(ended, nowMs - 1, String(units).padStart(78, "0")).toArray();
      return rows.map(({ invoice_id }) => ({ invoiceId: String(invoice_id), units: BigInt(units) }));
    }),
  );
  await amountsAt(place).release(held, nowMs);
}

/** Runs the job that releases amounts. */
export const release = (nowMs: number) => releaseAmounts(invoiceDependencies(env, { db: testDb, nowMs, sleep }));
