// Turns rows into responses. The address of every payment method is checked with `isRowIntact` first: a method whose HMAC does not verify shows no
// address.
import { pairOf } from "../../chains/registry/pair.ts";
import { paymentUri } from "../../chains/registry/payment-uri.ts";
import { formatMicros, formatUnits, maxBig } from "../../lib/money.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { type Invoice, type InvoiceFile, isQuoteOver, type PaymentMethod } from "../invoice-records/invoice.ts";
import { lateTerms, resolutionOf } from "../invoice-records/resolution.ts";
import { lacksRest } from "../payment-methods/rest.ts";
import { dustLimitUnits } from "../payments/dust.ts";
import { paymentBodyOf } from "../payments/payment-body.ts";
import { productBodyOf } from "../products/product-body.ts";
import { amountDueUnits } from "../settlement/value.ts";
import { isRowIntact, type MacKeys } from "../wallet-records/row-mac.ts";

export type InvoiceBody = ReturnType<typeof invoiceBodyOf>;

export interface MethodBody {
  readonly cryptocurrency: string;
  readonly network: string;
  readonly status: "AVAILABLE" | "ACTIVE" | "UNAVAILABLE";
  readonly reason: string | null;
  readonly address: string | null;
  readonly amount: string | null;
  readonly amountDue: string | null;
  readonly rate: string | null;
  readonly rateAt: string | null;
  readonly quotedAt: string | null;
  readonly paymentUri: string | null;
  readonly requiredConfirmations: number;
}

export interface BodyContext {
  readonly macKeys: MacKeys;
  /** Origin of checkout links, without a trailing slash. */
  readonly publicUrl: string;
  readonly nowMs: number;
}

/** The invoice of Interface 2.2 with the additional fields of decisions 4. */
export function invoiceBodyOf(file: InvoiceFile, context: BodyContext) {
  const { invoice, customer, product } = file;
  return {
    id: invoice.id,
    merchantId: invoice.merchantId,
    customerId: invoice.customerId,
    productId: invoice.productId,
    name: invoice.name,
    description: invoice.description,
    redirectUrl: invoice.redirectUrl,
    rawAmount: formatMicros(invoice.amountMicros),
    endAmount: formatMicros(invoice.amountMicros),
    currency: invoice.currency,
    status: invoice.status,
    expiresAt: isoTime(invoice.expiresAtMs),
    createdAt: isoTime(invoice.createdAtMs),
    updatedAt: isoTime(invoice.updatedAtMs),
    customer:
      customer === undefined
        ? null
        : {
            id: customer.id,
            merchantId: customer.merchantId,
            email: customer.email,
            name: customer.name,
            address: customer.address,
            phoneNumber: customer.phoneNumber,
            createdAt: isoTime(customer.createdAtMs),
            updatedAt: isoTime(customer.updatedAtMs),
          },
    product: product === undefined ? null : productBodyOf(product, context.publicUrl),
    payments: file.payments.map((payment) => paymentBodyOf(payment, file.cursors)),
    invoiceTimeline: file.timeline.map((item) => ({
      id: item.id,
      invoiceId: item.invoiceId,
      paymentStatus: item.paymentStatus,
      time: isoTime(item.timeMs),
    })),
    metadata: invoice.metadata === null ? null : parseJson(invoice.metadata),
    externalId: invoice.externalId,
    origin: invoice.origin,
    checkoutUrl: `${context.publicUrl}/pay/${invoice.id}`,
    paymentMethods: file.methods.map((method) => methodBodyOf(invoice, method, context)),
    amountReceived: formatMicros(invoice.receivedMicros),
    amountConfirmed: formatMicros(invoice.confirmedMicros),
    isLate: invoice.isLate,
    needsReview: invoice.needsReview,
    resolution: invoice.resolution === null ? null : resolutionOf(invoice.resolution),
    warnings: [...parseJson(invoice.warnings), ...(isAwaitingStuck(file) ? ["ADDRESS_NOT_READ"] : [])],
    lateGraceUntil: invoice.lateGraceUntilMs === null ? null : isoTimeOrNull(lateTerms(invoice).lateGraceUntilMs),
    monitorUntil: isoTime(invoice.monitorUntilMs),
  };
}

/**
 * The invoice as a public key reads it: the customer, the merchant's notes and payers' addresses are null, and fields about settlement are absent
 * (decisions 7).
 */
export function publicInvoiceBody(body: InvoiceBody): Partial<InvoiceBody> {
  return {
    id: body.id,
    merchantId: body.merchantId,
    customerId: null,
    productId: body.productId,
    name: body.name,
    description: body.description,
    redirectUrl: body.redirectUrl,
    rawAmount: body.rawAmount,
    endAmount: body.endAmount,
    currency: body.currency,
    status: body.status,
    expiresAt: body.expiresAt,
    createdAt: body.createdAt,
    updatedAt: body.updatedAt,
    customer: null,
    product: body.product,
    payments: body.payments.map((payment) => ({ ...payment, fromAddress: null })),
    invoiceTimeline: body.invoiceTimeline,
    metadata: null,
    externalId: null,
    checkoutUrl: body.checkoutUrl,
    paymentMethods: body.paymentMethods,
    amountReceived: body.amountReceived,
  };
}

/** One payment method, with the fields that decisions 4 specifies. */
export function methodBodyOf(invoice: Invoice, method: PaymentMethod, context: BodyContext): MethodBody {
  const { network, asset } = pairOf(method);
  const hidden = hiddenReason(invoice, method, context);
  if (hidden !== undefined || method.address === null) return unavailableBody(method, hidden ?? method.reason);
  const due = amountDueUnits({
    amountUnits: method.amountUnits,
    quoteForMicros: method.quoteForMicros,
    expectedMicros: invoice.amountMicros,
    receivedMicros: invoice.receivedMicros,
  });
  // After a partial payment to a shared address what is left has its own amount, so that its payment can be matched too.
  const dueUnits =
    due === null || due === 0n ? due : (method.remainderUnits ?? maxBig(due, dustLimitUnits(network, asset.code)));
  return {
    cryptocurrency: method.cryptocurrency,
    network: method.network,
    status: "ACTIVE",
    reason: null,
    address: method.address,
    amount: method.amountUnits === null ? null : formatUnits(method.amountUnits, asset.decimals),
    amountDue: dueUnits === null ? null : formatUnits(dueUnits, asset.decimals),
    rate: method.rate,
    rateAt: method.rateAtMs === null ? null : isoTime(method.rateAtMs),
    quotedAt: method.quotedAtMs === null ? null : isoTime(method.quotedAtMs),
    paymentUri: paymentUri({ network, asset, address: method.address, amountUnits: dueUnits }),
    requiredConfirmations: method.requiredConfirmations,
  };
}

/** The body for a payment method that the invoice has not activated. */
export function offeredMethodBody(
  offer: { readonly cryptocurrency: string; readonly network: string; readonly requiredConfirmations: number },
  reason: string | null,
): MethodBody {
  return { ...unavailableBody(offer, reason), status: reason === null ? "AVAILABLE" : "UNAVAILABLE" };
}

/** Why a stored method must not show its address; undefined if it may. */
function hiddenReason(invoice: Invoice, method: PaymentMethod, context: BodyContext): string | undefined {
  if (method.status === "UNAVAILABLE" || method.address === null) return method.reason ?? "UNAVAILABLE";
  const subject = {
    kind: "method",
    row: method.invoiceId,
    merchantId: method.merchantId,
    network: method.network,
    cryptocurrency: method.cryptocurrency,
    target: method.address,
  } as const;
  if (!isRowIntact(context.macKeys, subject, method)) return "INTEGRITY_CHECK_FAILED";
  // An amount that is not reserved may belong to another invoice, to which the payment would then be credited.
  if (lacksRest(invoice, method)) return "AMOUNTS_EXHAUSTED";
  // A quote whose lock is over and that could not be renewed is no longer valid; the failed renewal stored its reason.
  return isQuoteOver(invoice, method, context.nowMs) ? (method.reason ?? "RATE_UNAVAILABLE") : undefined;
}

function unavailableBody(
  of: { readonly cryptocurrency: string; readonly network: string; readonly requiredConfirmations: number },
  reason: string | null,
): MethodBody {
  return {
    cryptocurrency: of.cryptocurrency,
    network: of.network,
    status: "UNAVAILABLE",
    reason,
    address: null,
    amount: null,
    amountDue: null,
    rate: null,
    rateAt: null,
    quotedAt: null,
    paymentUri: null,
    requiredConfirmations: of.requiredConfirmations,
  };
}

/** Whether the invoice awaits payment and one of its addresses is read separately, because a source refuses it or it is flooded. */
function isAwaitingStuck({ invoice, cursors }: InvoiceFile): boolean {
  return (
    invoice.status === "AWAITING_PAYMENT" && cursors.some(({ stuckPassedMs }) => typeof stuckPassedMs === "number")
  );
}
