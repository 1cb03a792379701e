// A user's decision about a payment that no rule credited. Two users may decide at once, and a watcher may change the payment meanwhile, so the batch
// asserts that the row has not changed since it was read. The decision affects only one merchant: on a shared address each merchant has a row of its
// own.

import { isSamePair, pairOf } from "../../chains/registry/pair.ts";
import { beginWatch } from "../../commerce/cursors/store.ts";
import type { Invoice, InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import { type Change, type ChangeDependencies, changeInvoice } from "../../commerce/invoices/change-invoice.ts";
import { settlementChange } from "../../commerce/invoices/settle-invoice.ts";
import type { AmountDependencies } from "../../commerce/payment-methods/reserve-amount.ts";
import { paymentEvents } from "../../commerce/payments/chain-observation.ts";
import {
  MOST_PAYMENTS,
  type Payment,
  type PaymentResolution,
  type ResolutionAction,
} from "../../commerce/payments/payment.ts";
import type { PaymentFile } from "../../commerce/payments/payment-body.ts";
import { needsSecondSource } from "../../commerce/payments/quorum.ts";
import { assigned, ignored, reopened, resolutionRefusal } from "../../commerce/payments/resolution.ts";
import { assertPaymentsAsRead, putPayment, selectPaymentFile } from "../../commerce/payments/store.ts";
import { MAX_VALUE_MICROS, weighingOf } from "../../commerce/settlement/value.ts";
import { pricedOf, weighed } from "../../commerce/settlement/weighing.ts";
import { derivedId } from "../../lib/ids.ts";
import { formatMicros, minBig } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { isoTime } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { change, currentRow } from "../../platform/changes/change.ts";
import type { Failure } from "../../platform/failures.ts";
import { microsFor, quoteRate, type RateTable, usdRate } from "../../rates/quote.ts";
import { withRemainders } from "../matching/credit-invoice.ts";
import { hasRoomByHand } from "../matching/payment-room.ts";
import { recountGap } from "../matching/store.ts";

export interface ResolveDependencies extends ChangeDependencies, Omit<AmountDependencies, "db" | "nowMs"> {
  table(): Promise<RateTable>;
  readonly hasSource: (network: string) => boolean;
}

interface AssignRequest {
  /** The invoice; undefined if the merchant has no such invoice. */
  readonly file: InvoiceFile | undefined;
  readonly reason: string;
  /** The merchant's `quorumAboveAmount`. */
  readonly quorumAboveMicros: bigint | null;
}

/** Credits the payment to an invoice and returns the updated payment. */
export async function assignPayment(
  deps: ResolveDependencies,
  read: PaymentFile,
  request: AssignRequest,
): Promise<Result<PaymentFile, Failure>> {
  const refusal = resolutionRefusal(read, "ASSIGN", request.file?.invoice.id);
  if (refusal !== undefined) return err(refusal);
  if (request.file === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  const { merchantId, id } = request.file.invoice;
  let seen = read;
  const changed = await changeInvoice(
    deps,
    { merchantId, id, read: request.file },
    async (file, conflict, operationId): Promise<Result<Change, Failure>> => {
      const current = await currentPayment(deps, read, conflict === undefined ? 0 : 1);
      if (!current.ok) return current;
      seen = current.value;
      const change = await assignment(deps, seen, { ...request, file }, operationId);
      if (!change.ok) return change;
      return ok(await withRemainders(deps, file, change.value));
    },
  );
  if (!changed.ok) return changed;
  return ok({ ...seen, ...changed.value.payments.find((payment) => payment.id === seen.id) });
}

async function assignment(
  deps: ResolveDependencies,
  payment: PaymentFile,
  request: AssignRequest & { readonly file: InvoiceFile },
  operationId: string,
): Promise<Result<Change, Failure>> {
  const refusal = resolutionRefusal(payment, "ASSIGN", request.file.invoice.id);
  if (refusal !== undefined) return err(refusal);
  const { file, quorumAboveMicros, reason } = request;
  const isNew = payment.invoiceId === null;
  if (isNew && !hasRoomByHand(file.payments)) return err({ code: "TOO_MANY_PAYMENTS", limit: MOST_PAYMENTS });
  const market = await marketValue(deps, file, payment);
  if (!market.ok) return market;
  const { network } = pairOf(payment);
  const hasSource = deps.hasSource(network.name);
  const { fiatMicros } = weighed(
    { ...payment, marketMicros: market.value },
    { invoice: file.invoice, methods: file.methods.map((method) => pricedOf(method, file.invoice)) },
  );
  const askedMicros = file.invoice.amountMicros;
  const needsSecond = needsSecondSource({ quorumAboveMicros, askedMicros, paidMicros: fiatMicros });
  const { tipHeight, finalizedHeight } = payment;
  const credited = assigned({
    payment,
    network,
    tipHeight,
    finalizedHeight,
    invoiceId: file.invoice.id,
    nowMs: deps.nowMs,
    marketMicros: market.value,
    requiredConfirmations: confirmationsFor(file, payment),
    resolution: resolutionBy(deps, "ASSIGN", reason),
    mayConfirm: !(hasSource && needsSecond),
  });
  const types = ["payment.matched" as const, ...paymentEvents(payment, credited)];
  const change = settlementChange(file, deps.nowMs, {
    payments: [credited],
    events: types.map((type) => ({ type, paymentId: payment.id })),
  });
  if (change === undefined) throw new Error(`assigning ${payment.id} changes nothing`);
  return ok({
    ...change,
    asserts: [assertPaymentsAsRead(deps.db, [payment])],
    statements: [
      auditOf(deps, payment, { ...credited, fiatMicros }, derivedId("aud", operationId, 1)),
      // The payment was no longer watched and must still be confirmed.
      ...(hasSource && credited.finalAtMs === null ? [beginWatch(deps.db, network.name, deps.nowMs)] : []),
      ...file.methods
        .filter(({ addressIndex, address }) => addressIndex !== null && address === payment.toAddress)
        .map(({ walletId }) => recountGap(deps.db, walletId)),
    ],
  });
}

/**
 * IGNORE marks the payment as ignored: it belongs to no invoice, and the merchant may have sent it back. REOPEN undoes that, and the payment waits
 * for a decision again. Neither causes an event.
 */
export function setAside(
  deps: ResolveDependencies,
  read: PaymentFile,
  request: Pick<PaymentResolution, "reason"> & {
    readonly action: "IGNORE" | "REOPEN";
    readonly txHash?: string | undefined;
  },
): Promise<Result<PaymentFile, Failure>> {
  const { action, reason, txHash } = request;
  const subject = { name: "setting a payment aside", read: (tries: number) => currentPayment(deps, read, tries) };
  return change(deps, subject, (seen, { auditId }) => {
    const refusal = resolutionRefusal(seen, action);
    if (refusal !== undefined) return err(refusal);
    const made = resolutionBy(deps, action, reason);
    const resolution = txHash === undefined ? made : { ...made, txHash };
    const after = (action === "IGNORE" ? ignored : reopened)(seen, resolution, deps.nowMs);
    return ok({
      value: { ...seen, ...after },
      statements: [
        assertPaymentsAsRead(deps.db, [seen]),
        putPayment(deps.db, after),
        auditOf(deps, seen, after, auditId),
      ],
    });
  });
}

/** The payment to decide about: the given one on the first attempt, and a fresh read on later attempts. */
function currentPayment(
  deps: ResolveDependencies,
  read: PaymentFile,
  tries: number,
): Promise<Result<PaymentFile, Failure>> {
  const again = () => selectPaymentFile(deps.db, read.merchantId, read.id);
  return currentRow(deps, { read, again, missing: { code: "PAYMENT_NOT_FOUND" } }, tries);
}

/**
 * The payment's market value in the invoice's currency: its dollar value when first seen, converted at the current rate; if no rate was known then,
 * its amount at the current rate. Null if there is no rate but a quote of the payment's method prices it.
 */
async function marketValue(
  deps: ResolveDependencies,
  { invoice, methods }: InvoiceFile,
  payment: Payment,
): Promise<Result<bigint | null, Failure>> {
  const micros = microsAtRates(await deps.table(), invoice, payment, deps.nowMs);
  if (micros.ok) return ok(minBig(micros.value, MAX_VALUE_MICROS));
  const terms = { expectedMicros: invoice.amountMicros, methods: methods.map((method) => pricedOf(method, invoice)) };
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

/**
 * The confirmations required by the invoice's method for the pair, otherwise by a method on the network, otherwise as stored with the payment; never
 * fewer than the transfer needs.
 */
function confirmationsFor({ methods }: InvoiceFile, payment: PaymentFile): number {
  const active = methods.filter(({ status, network }) => status === "ACTIVE" && network === payment.network);
  const method = active.find((each) => isSamePair(each, payment)) ?? active[0];
  const { leastConfirmations = 0 } = parseJson(payment.evidence);
  return Math.max(leastConfirmations, method?.requiredConfirmations ?? payment.requiredConfirmations);
}

function resolutionBy(deps: ResolveDependencies, action: ResolutionAction, reason: string): PaymentResolution {
  return { action, reason, actor: deps.trail.actor.id ?? "", at: isoTime(deps.nowMs) };
}

/** The reason is stored with the payment, not in the audit log, which is never erased. */
function auditOf(
  deps: ResolveDependencies,
  before: Payment,
  after: Payment,
  id: Parameters<typeof insertAudit>[2]["id"],
) {
  const facts = ({ status, invoiceId, fiatMicros }: Payment) => ({
    status,
    invoiceId,
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
  return insertAudit(deps.db, deps.trail, entry, deps.nowMs);
}
