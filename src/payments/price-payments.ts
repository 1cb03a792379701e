// Payments that nothing could price when they were first seen: no quote may be meant, and no rate was fresh. The first fresh rate within an hour
// prices them, once; after that a person does (decisions 4, "As of the payment's time"). Run by the clock, so that no reader decides it.
import { SYSTEM_TRAIL } from "../audit/entry.ts";
import { assetOn, networkNamed } from "../chains/networks.ts";
import { withRemainders } from "../crediting/credit-invoice.ts";
import { isConflictOn } from "../db/conflict.ts";
import { changeInvoice, readFile } from "../invoices/change-invoice.ts";
import type { InvoiceFile } from "../invoices/invoice.ts";
import { pairOf } from "../invoices/payment-method.ts";
import type { RefreshEffects } from "../invoices/refresh-invoice.ts";
import type { AmountEffects } from "../invoices/reserve-amount.ts";
import { settlementChange } from "../invoices/settle-invoice.ts";
import { MAX_WORTH_MICROS } from "../invoices/value.ts";
import { minBig } from "../lib/money.ts";
import { ok } from "../lib/result.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/time.ts";
import { microsFor, quoteRate, type RateTable } from "../rates/quote.ts";
import type { Payment } from "./payment.ts";
import { selectUnpricedAssets, selectUnpricedInvoices, type UnpricedAsset } from "./store.ts";

/** How long after first sight a rate may still price a payment. */
export const PRICED_WITHIN_MS = HOUR_MS;
/** An invocation has 1,000 queries; a change of an invoice takes about five. */
const INVOICES_A_RUN = 50;
/** Of so many each run takes other ones, for some may fail in every run. */
const INVOICES_READ = 1_000;

export type PriceEffects = Pick<RefreshEffects, "body" | "sleep" | "newOperationId" | "table"> & AmountEffects;

export async function pricePayments(fx: PriceEffects): Promise<void> {
  const sinceMs = fx.nowMs - PRICED_WITHIN_MS;
  const wanted = await selectUnpricedAssets(fx.db, sinceMs);
  if (wanted.length === 0) return;
  const table = await fx.table();
  // What waits for a rate that is not there keeps nothing waiting whose rate is.
  const assets = wanted.filter((each) => isPriced(table, each, fx.nowMs));
  if (assets.length === 0) return;
  const unpriced = await selectUnpricedInvoices(fx.db, { sinceMs, assets, limit: INVOICES_READ });
  for (const { merchantId, invoiceId } of turnOf(unpriced, fx.nowMs)) {
    try {
      const read = await readFile(fx, merchantId, invoiceId);
      if (read.ok && read.value !== undefined) await priceInvoice(fx, read.value, { table, sinceMs, nowMs: fx.nowMs });
    } catch (error) {
      // One that cannot be read or settled keeps no other from being priced.
      const name = error instanceof Error ? error.name : "unknown";
      console.error(JSON.stringify({ level: "error", alert: "an invoice cannot be priced", invoiceId, error: name }));
    }
  }
}

function isPriced(table: RateTable, { network, cryptocurrency, currency }: UnpricedAsset, nowMs: number): boolean {
  const on = networkNamed(network);
  const asset = on === undefined ? undefined : assetOn(on, cryptocurrency);
  return asset !== undefined && quoteRate({ table, assetCode: asset.rateCode, currency, nowMs }).ok;
}

/** The share of one run, which begins every minute: the next 50, and from the first again after the last. */
function turnOf<T>(all: readonly T[], nowMs: number): readonly T[] {
  const from = all.length === 0 ? 0 : (Math.floor(nowMs / MINUTE_MS) * INVOICES_A_RUN) % all.length;
  return [...all.slice(from), ...all.slice(0, from)].slice(0, INVOICES_A_RUN);
}

interface Pricing {
  readonly table: RateTable;
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** What fails is found again by the next run. */
async function priceInvoice(fx: PriceEffects, read: InvoiceFile, pricing: Pricing): Promise<void> {
  const { merchantId, id } = read.invoice;
  const lostSalts: number[] = [];
  let tried: readonly number[] = [];
  const clock = { ...fx, trail: SYSTEM_TRAIL };
  await changeInvoice(clock, { merchantId, id, read }, async (file, conflict, operationId) => {
    if (isConflictOn(conflict, "amount_reservations")) lostSalts.push(...tried);
    const payments = file.payments.flatMap((payment) => priced(file, payment, pricing));
    const change = payments.length === 0 ? undefined : settlementChange(file, fx.nowMs, { payments });
    if (change === undefined) return ok(undefined);
    const whole = await withRemainders(fx, file, change, { operationId, lostSalts });
    tried = whole.tried;
    return ok(whole.change);
  });
}

/** The payment with its worth at the rate of now; none where it needs none, is too old, or no rate is fresh. */
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
  return [{ ...payment, marketMicros: minBig(micros, MAX_WORTH_MICROS), updatedAtMs: nowMs }];
}
