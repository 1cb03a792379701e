// Truth on read: an invoice whose time is over is settled, and a quote whose lock is over is renewed, before it is shown (decisions 4).
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { selectPayableWallets } from "../wallets/store.ts";
import { type ActivationEffects, pickAmount } from "./activate-payment-method.ts";
import { type Change, type ChangeEffects, changeInvoice } from "./change-invoice.ts";
import { type InvoiceFile, isQuoteOver, type PaymentMethod } from "./invoice.ts";
import { isSamePair, quoteMethod } from "./payment-method.ts";
import { settlementChange } from "./settle-invoice.ts";
import { isDue } from "./status.ts";
import { putMethod, selectInvoiceRow } from "./store.ts";

export interface RefreshEffects extends ChangeEffects, Omit<ActivationEffects, "nowMs" | "db"> {}

/** The read of one invoice, for the call that reads the key. */
export function invoiceReads(db: Db, merchantId: string, invoiceId: string) {
  return [selectInvoiceRow(db, merchantId, invoiceId)] as const;
}

/** Whether a read must write before it may answer. */
export function isStale(file: InvoiceFile, nowMs: number): boolean {
  return isDue(file.invoice, nowMs) || file.methods.some((method) => isQuoteOver(file.invoice, method, nowMs));
}

/** The invoice as it is true now, committed. A rate that cannot be had leaves the old quote, which then shows nothing. */
export async function refreshInvoice(fx: RefreshEffects, file: InvoiceFile): Promise<Result<InvoiceFile, Failure>> {
  if (!isStale(file, fx.nowMs)) return ok(file);
  const { merchantId, id } = file.invoice;
  const settled = await changeInvoice(fx, { merchantId, id, read: file }, async (read) =>
    ok(settlementChange(read, fx.nowMs)),
  );
  if (!settled.ok || !isStale(settled.value, fx.nowMs)) return settled;
  const lost: number[] = [];
  return changeInvoice(fx, { merchantId, id, read: settled.value }, async (read) => requote(fx, read, lost));
}

/** New amounts for every method whose lock is over: same address; a direct wallet's old amount stays reserved beside the new one. */
async function requote(
  fx: RefreshEffects,
  file: InvoiceFile,
  lost: number[],
): Promise<Result<Change | undefined, Failure>> {
  const over = file.methods.filter((method) => isQuoteOver(file.invoice, method, fx.nowMs));
  const methods: PaymentMethod[] = [];
  const statements: NonNullable<Change["statements"]>[number][] = [];
  for (const method of over) {
    const renewed = await renew(fx, file, method, lost);
    if (!renewed.ok) continue;
    methods.push(renewed.value.method);
    statements.push(...renewed.value.statements, putMethod(fx.db, renewed.value.method));
  }
  const [first, ...more] = methods.map((method) => ({ type: "payment.updated" as const, method }));
  return ok(first === undefined ? undefined : { columns: {}, methods, events: [first, ...more], statements });
}

async function renew(fx: RefreshEffects, file: InvoiceFile, method: PaymentMethod, lost: number[]) {
  const quote = quoteMethod({ invoice: file.invoice, wallet: method, table: await fx.table(), nowMs: fx.nowMs });
  if (!quote.ok) return quote;
  const { rate, rateAtMs, sources, amountUnits } = quote.value;
  const quoted = {
    ...method,
    rate,
    rateAtMs,
    rateSources: JSON.stringify(sources),
    quotedAtMs: fx.nowMs,
    earlierQuotes: withEarlierQuote(method),
  };
  if (method.walletType === "XPUB_WALLET" || amountUnits === null || method.address === null) {
    return ok({ method: { ...quoted, amountUnits }, statements: [] });
  }
  const prices = JSON.stringify({ [`${method.cryptocurrency}_${method.network}`]: amountUnits.toString() });
  const [found] = await selectPayableWallets(fx.db, method.merchantId, prices);
  const wallet = found?.payable.find((each) => isSamePair(each, method) && each.address === method.address);
  const taken = wallet ?? { takenSalts: [], maxSalt: null };
  const picked = await pickAmount(fx, {
    invoice: file.invoice,
    at: { network: method.network, cryptocurrency: method.cryptocurrency, address: method.address },
    taken,
    priceUnits: amountUnits,
    lostSalts: lost,
  });
  if (picked === undefined) return err({ code: "AMOUNTS_EXHAUSTED" } as const);
  lost.push(picked.salt);
  return ok({ method: { ...quoted, amountUnits: picked.units }, statements: [picked.reservation] });
}

/** What was asked until now, kept: money sent against it is weighed by it. */
function withEarlierQuote(method: PaymentMethod): string {
  const earlier: { amountUnits: string; quotedAtMs: number }[] = JSON.parse(method.earlierQuotes ?? "[]");
  const { amountUnits, quotedAtMs } = method;
  if (amountUnits === null || quotedAtMs === null) return JSON.stringify(earlier);
  return JSON.stringify([...earlier, { amountUnits: amountUnits.toString(), quotedAtMs }]);
}
