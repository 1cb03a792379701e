// Prices payments that had no price when they were first seen, because no quote applied and no rate was fresh. The first fresh rate within an hour
// sets the price, once. After an hour only a user can decide (decisions 4, "As of the payment's time"). Runs on a schedule, so that the price does
// not depend on when someone reads the invoice.

import { assetOn, networkNamed } from "../../chains/registry/networks.ts";
import { pairOf } from "../../chains/registry/pair.ts";
import type { InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import { changeInvoice, readFile } from "../../commerce/invoices/change-invoice.ts";
import type { RefreshDependencies } from "../../commerce/invoices/refresh-invoice.ts";
import { settlementChange } from "../../commerce/invoices/settle-invoice.ts";
import type { AmountDependencies } from "../../commerce/payment-methods/reserve-amount.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import { selectUnpricedAssets, selectUnpricedInvoices, type UnpricedAsset } from "../../commerce/payments/store.ts";
import { MAX_VALUE_MICROS } from "../../commerce/settlement/value.ts";
import { logAlert } from "../../lib/log.ts";
import { minBig } from "../../lib/money.ts";
import { ok } from "../../lib/result.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { microsFor, quoteRate, type RateTable } from "../../rates/quote.ts";
import { withRemainders } from "./credit-invoice.ts";

/** How long after a payment's first observation a rate may still price it. */
const PRICED_WITHIN_MS = HOUR_MS;
/** An invocation may make 1,000 queries; a change to an invoice takes about five. */
const INVOICES_A_RUN = 50;
/** How many invoices are read. Each run handles a different part of them, because some may fail in every run. */
const INVOICES_READ = 1_000;

type PriceDependencies = Pick<RefreshDependencies, "body" | "sleep" | "newOperationId" | "table"> & AmountDependencies;

/** `minuteMs`: the minute to which the run belongs. */
export async function pricePayments(deps: PriceDependencies, minuteMs = deps.nowMs): Promise<void> {
  const sinceMs = deps.nowMs - PRICED_WITHIN_MS;
  const wanted = await selectUnpricedAssets(deps.db, sinceMs);
  if (wanted.length === 0) return;
  const table = await deps.table();
  // Payments without a rate must not block those with one.
  const assets = wanted.filter((each) => isPriced(table, each, deps.nowMs));
  if (assets.length === 0) return;
  const unpriced = await selectUnpricedInvoices(deps.db, { sinceMs, assets, limit: INVOICES_READ });
  for (const { merchantId, invoiceId } of turnOf(unpriced, minuteMs)) {
    try {
      const read = await readFile(deps, merchantId, invoiceId);
      if (read.ok) await priceInvoice(deps, read.value, { table, sinceMs, nowMs: deps.nowMs });
    } catch (error) {
      // An invoice that cannot be read or settled must not block the others.
      const name = error instanceof Error ? error.name : "unknown";
      logAlert("an invoice cannot be priced", { invoiceId, error: name });
    }
  }
}

function isPriced(table: RateTable, { network, cryptocurrency, currency }: UnpricedAsset, nowMs: number): boolean {
  const on = networkNamed(network);
  const asset = on === undefined ? undefined : assetOn(on, cryptocurrency);
  return asset !== undefined && quoteRate({ table, assetCode: asset.rateCode, currency, nowMs }).ok;
}

/** The part that one run handles: the next 50 each minute, starting over after the last. */
function turnOf<T>(all: readonly T[], nowMs: number): readonly T[] {
  const from = all.length === 0 ? 0 : (Math.floor(nowMs / MINUTE_MS) * INVOICES_A_RUN) % all.length;
  return [...all.slice(from), ...all.slice(0, from)].slice(0, INVOICES_A_RUN);
}

interface Pricing {
  readonly table: RateTable;
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** A later run retries what failed. */
async function priceInvoice(deps: PriceDependencies, read: InvoiceFile, pricing: Pricing): Promise<void> {
  const { merchantId, id } = read.invoice;
  const clock = { ...deps, trail: SYSTEM_TRAIL };
  await changeInvoice(clock, { merchantId, id, read }, async (file) => {
    const payments = file.payments.flatMap((payment) => priced(file, payment, pricing));
    const change = payments.length === 0 ? undefined : settlementChange(file, deps.nowMs, { payments });
    return ok(change === undefined ? undefined : await withRemainders(deps, file, change));
  });
}

/** The payment with its value at the current rate; empty if it already has a price, is too old, or no rate is fresh. */
function priced(
  { invoice: { currency } }: InvoiceFile,
  payment: Payment,
  { table, sinceMs, nowMs }: Pricing,
): readonly Payment[] {
  if (payment.weighedBy !== "NO_RATE" || payment.createdAtMs < sinceMs) return [];
  const { asset } = pairOf(payment);
  const quote = quoteRate({ table, assetCode: asset.rateCode, currency, nowMs });
  if (!quote.ok) return [];
  const micros = microsFor({ units: payment.amountUnits, rate: quote.value.rate, decimals: asset.decimals });
  return [{ ...payment, marketMicros: minBig(micros, MAX_VALUE_MICROS), updatedAtMs: nowMs }];
}
