// A person's decision about a payment that no rule credited. Two may decide at once, and a watcher may move it meanwhile: the batch asserts
// that the row is what was read. It binds its own merchant only: on a shared address each merchant has a row of its own.

import { commitAudited } from "../audit/commit-audited.ts";
import { insertAudit } from "../audit/store.ts";
import { withRemainders } from "../crediting/credit-invoice.ts";
import { hasRoomByHand } from "../crediting/payment-room.ts";
import { recountGap } from "../crediting/store.ts";
import { type BatchConflict, describeConflict, isConflictOn, isContention } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { type Change, type ChangeEffects, changeInvoice } from "../invoices/change-invoice.ts";
import type { Invoice, InvoiceFile } from "../invoices/invoice.ts";
import { isSamePair, pairOf } from "../invoices/payment-method.ts";
import type { AmountEffects } from "../invoices/reserve-amount.ts";
import { settlementChange } from "../invoices/settle-invoice.ts";
import { MAX_WORTH_MICROS, weighingOf } from "../invoices/value.ts";
import { pricedOf, weighed } from "../invoices/weighing.ts";
import { derivedId } from "../lib/ids.ts";
import { formatMicros, maxBig, minBig } from "../lib/money.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { isoTime } from "../lib/time.ts";
import { microsFor, quoteRate, type RateTable, usdRate } from "../rates/quote.ts";
import { beginWatch } from "../watchers/store.ts";
import { MOST_PAYMENTS, type Payment, type PaymentResolution } from "./payment.ts";
import type { PaymentFile } from "./payment-body.ts";
import { assigned, ignored, resolutionRefusal } from "./resolution.ts";
import { newsOf } from "./sight.ts";
import { assertPaymentAsRead, putPayment, selectPaymentFile } from "./store.ts";

export interface ResolveEffects extends ChangeEffects, Omit<AmountEffects, "db" | "nowMs"> {
  table(): Promise<RateTable>;
  readonly hasSource: (network: string) => boolean;
}

export interface AssignRequest {
  /** Of the same merchant; undefined where it has none of that id. */
  readonly file: InvoiceFile | undefined;
  readonly reason: string;
  /** The merchant's `quorumAboveAmount`. */
  readonly quorumAboveMicros: bigint | null;
}

/** Credits it to an invoice. The payment as it then stands. */
export async function assignPayment(
  fx: ResolveEffects,
  read: PaymentFile,
  request: AssignRequest,
): Promise<Result<PaymentFile, Failure>> {
  const refusal = resolutionRefusal(read, "ASSIGN", request.file?.invoice.id);
  if (refusal !== undefined) return err(refusal);
  if (request.file === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  const { merchantId, id } = request.file.invoice;
  const lostSalts: number[] = [];
  let tried: readonly number[] = [];
  let seen = read;
  const changed = await changeInvoice(
    fx,
    { merchantId, id, read: request.file },
    async (file, conflict, operationId): Promise<Result<Change, Failure>> => {
      const again = await afterConflict(fx, seen, conflict);
      if (!again.ok) return again;
      seen = again.value;
      if (isConflictOn(conflict, "amount_reservations")) lostSalts.push(...tried);
      const change = await assignment(fx, seen, { ...request, file }, operationId);
      if (!change.ok) return change;
      const whole = await withRemainders(fx, file, change.value, { operationId, lostSalts });
      tried = whole.tried;
      return ok(whole.change);
    },
  );
  if (!changed.ok) return changed;
  return ok({ ...seen, ...changed.value.payments.find((payment) => payment.id === seen.id) });
}

async function assignment(
  fx: ResolveEffects,
  payment: PaymentFile,
  request: AssignRequest & { readonly file: InvoiceFile },
  operationId: string,
): Promise<Result<Change, Failure>> {
  const refusal = resolutionRefusal(payment, "ASSIGN", request.file.invoice.id);
  if (refusal !== undefined) return err(refusal);
  const { file, quorumAboveMicros, reason } = request;
  const isNew = payment.invoiceId === null;
  if (isNew && !hasRoomByHand(file.payments)) return err({ code: "TOO_MANY_PAYMENTS", limit: MOST_PAYMENTS });
  const market = await marketWorth(fx, file, payment);
  if (!market.ok) return market;
  const { network } = pairOf(payment);
  const hasSource = fx.hasSource(network.name);
  const { fiatMicros } = weighed(
    { ...payment, marketMicros: market.value },
    { invoice: file.invoice, methods: file.methods.map(pricedOf) },
  );
  const needsSecond =
    quorumAboveMicros !== null && maxBig(file.invoice.amountMicros, fiatMicros ?? 0n) >= quorumAboveMicros;
  const { tipHeight, finalizedHeight } = payment;
  const credited = assigned({
    ...{ payment, network, tipHeight, finalizedHeight, invoiceId: file.invoice.id, nowMs: fx.nowMs },
    marketMicros: market.value,
    requiredConfirmations: confirmationsFor(file, payment),
    resolution: resolutionBy(fx, "ASSIGN", reason),
    mayConfirm: !(hasSource && needsSecond),
  });
  const news = ["payment.matched" as const, ...newsOf(payment, credited)];
  const change = settlementChange(file, fx.nowMs, {
    payments: [credited],
    news: news.map((type) => ({ type, paymentId: payment.id })),
  });
  if (change === undefined) throw new Error(`assigning ${payment.id} changes nothing`);
  return ok({
    ...change,
    asserts: [assertPaymentAsRead(fx.db, payment)],
    statements: [
      auditOf(fx, payment, { ...credited, fiatMicros }, derivedId("aud", operationId, 1)),
      // What nobody looked at any more is to be confirmed after all.
      ...(hasSource && credited.finalAtMs === null ? [beginWatch(fx.db, network.name, fx.nowMs)] : []),
      ...file.methods
        .filter(({ addressIndex, address }) => addressIndex !== null && address === payment.toAddress)
        .map(({ walletId }) => recountGap(fx.db, walletId)),
    ],
  });
}

/** Sets it aside: no invoice has it, and nothing is told. */
export async function ignorePayment(
  fx: ResolveEffects,
  read: PaymentFile,
  reason: string,
): Promise<Result<PaymentFile, Failure>> {
  let seen = read;
  for (let tries = 0; tries < 5; tries++) {
    const refusal = resolutionRefusal(seen, "IGNORE");
    if (refusal !== undefined) return err(refusal);
    const after = ignored(seen, resolutionBy(fx, "IGNORE", reason), fx.nowMs);
    const auditId = derivedId("aud", fx.newOperationId());
    const sent = await commitAudited(fx, auditId, [
      assertPaymentAsRead(fx.db, seen),
      putPayment(fx.db, after),
      auditOf(fx, seen, after, auditId),
    ]);
    if (sent.kind === "stands") return ok({ ...seen, ...after });
    if (sent.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (!isContention(sent.conflict)) throw new Error(`ignoring a payment met ${describeConflict(sent.conflict)}`);
    const again = await afterConflict(fx, seen, sent.conflict);
    if (!again.ok) return again;
    seen = again.value;
  }
  return err({ code: "CONTENTION" });
}

/** The payment to decide about: as it was read, or where a batch was refused as it is now. */
async function afterConflict(
  fx: ResolveEffects,
  read: PaymentFile,
  conflict: BatchConflict | undefined,
): Promise<Result<PaymentFile, Failure>> {
  if (conflict === undefined) return ok(read);
  const rows = await readWithRetry(fx.sleep, async () => selectPaymentFile(fx.db, read.merchantId, read.id));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  return row === undefined ? err({ code: "PAYMENT_NOT_FOUND" }) : ok(row);
}

/**
 * What it is worth to the invoice at the market: the dollars at first sight at today's rate, else, where no rate was known then, all of it at
 * today's. Null without a rate, where a quote of its method weighs it anyway.
 */
async function marketWorth(
  fx: ResolveEffects,
  { invoice, methods }: InvoiceFile,
  payment: Payment,
): Promise<Result<bigint | null, Failure>> {
  const micros = microsAtRates(await fx.table(), invoice, payment, fx.nowMs);
  if (micros.ok) return ok(minBig(micros.value, MAX_WORTH_MICROS));
  const terms = { expectedMicros: invoice.amountMicros, methods: methods.map(pricedOf) };
  const { by } = weighingOf({ ...payment, marketMicros: null }, terms);
  return by === null ? err({ code: micros.error }) : ok(null);
}

function microsAtRates(
  table: RateTable,
  { currency }: Invoice,
  payment: Payment,
  nowMs: number,
): Result<bigint, "RATE_UNAVAILABLE"> {
  const { asset } = pairOf(payment);
  if (payment.usdMicros !== null) {
    const rate = usdRate({ table, currency, nowMs });
    return rate.ok ? ok(microsFor({ units: payment.usdMicros, rate: rate.value, decimals: 6 })) : rate;
  }
  const quote = quoteRate({ table, assetCode: asset.rateCode, currency, nowMs });
  if (!quote.ok) return quote;
  return ok(microsFor({ units: payment.amountUnits, rate: quote.value.rate, decimals: asset.decimals }));
}

/** Of the invoice's method of the pair, else of one on the network; else the wallet's, which the row has. */
function confirmationsFor({ methods }: InvoiceFile, payment: Payment): number {
  const active = methods.filter(({ status, network }) => status === "ACTIVE" && network === payment.network);
  const method = active.find((each) => isSamePair(each, payment)) ?? active[0];
  return method?.requiredConfirmations ?? payment.requiredConfirmations;
}

function resolutionBy(fx: ResolveEffects, action: PaymentResolution["action"], reason: string): PaymentResolution {
  return { action, reason, actor: fx.trail.actor.id ?? "", at: isoTime(fx.nowMs) };
}

/** The reason is kept with the payment: the log forgets nothing. */
function auditOf(fx: ResolveEffects, before: Payment, after: Payment, id: Parameters<typeof insertAudit>[2]["id"]) {
  const facts = ({ status, invoiceId, fiatMicros }: Payment) => ({
    ...{ status, invoiceId },
    fiatAmount: fiatMicros === null ? null : formatMicros(fiatMicros),
  });
  const { merchantId, id: target } = after;
  const entry = {
    id,
    merchantId,
    target,
    action: "payment.resolved",
    before: facts(before),
    after: facts(after),
  } as const;
  return insertAudit(fx.db, fx.trail, entry, fx.nowMs);
}
