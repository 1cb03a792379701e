// One of our invoices in Greenfield's format, and its payments by method.
import { pairOf } from "../../chains/registry/pair.ts";
import { formatUnits, MICRO_DIGITS, maxBig, parseUnits } from "../../lib/money.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import type { InvoiceBody } from "../invoices/invoice-body.ts";
import { type Metadata, unpacked } from "./metadata.ts";
import { type NamedPair, paymentMethodId } from "./payment-method-id.ts";
import { type InvoiceFacts, markableAs, stateOf } from "./state.ts";

type PaymentBody = InvoiceBody["payments"][number];

const PAID: readonly string[] = ["PAID", "OVERPAID"];

/**
 * The facts of an invoice that its Greenfield state depends on. A mark no longer counts once the invoice is paid after it: if that payment is
 * reversed later, the mark no longer settles the invoice.
 */
export function factsOf(invoice: InvoiceBody): InvoiceFacts {
  const { status, resolution } = invoice;
  const paidAt = invoice.invoiceTimeline.findLast(({ paymentStatus }) => PAID.includes(paymentStatus))?.time;
  const markedAt = resolution?.action === "MARK" ? resolution.at : undefined;
  return {
    status,
    isAccepted: resolution?.action === "ACCEPT",
    isMarked: markedAt !== undefined && (paidAt === undefined || paidAt <= markedAt),
    wasPaid: paidAt !== undefined,
    isPaidLate: isPaidLate(invoice),
    hasMoney: invoice.payments.some((payment) => paymentStatus(payment) !== "Invalid"),
  };
}

/** Each payment's value is shown rounded down, so the sum of n payments may be up to n - 1 millionths short. */
function isPaidLate({ isLate, payments, rawAmount }: InvoiceBody): boolean {
  const worths = payments
    .filter(({ status }) => status === "CONFIRMED")
    .map(({ fiatAmount }) => units(fiatAmount, MICRO_DIGITS));
  const confirmed = worths.reduce((sum, worth) => sum + worth, 0n);
  return isLate && confirmed > 0n && confirmed + BigInt(worths.length) > units(rawAmount, MICRO_DIGITS);
}

interface GreenfieldInvoice {
  readonly id: string;
  readonly metadata: Metadata;
  readonly archived: boolean;
  readonly status: string;
}

export function greenfieldInvoice(invoice: InvoiceBody): GreenfieldInvoice & Readonly<Record<string, unknown>> {
  const facts = factsOf(invoice);
  const { metadata, isArchived } = unpacked(invoice.metadata);
  const isAnyAmount = Number(invoice.rawAmount) === 0;
  return {
    id: invoice.id,
    storeId: invoice.merchantId,
    amount: shortest(invoice.rawAmount),
    paidAmount: shortest(invoice.amountReceived),
    currency: invoice.currency,
    type: isAnyAmount ? "TopUp" : "Standard",
    checkoutLink: invoice.checkoutUrl,
    createdTime: seconds(invoice.createdAt),
    expirationTime: seconds(invoice.expiresAt),
    monitoringExpiration: seconds(invoice.monitorUntil),
    ...stateOf(facts),
    availableStatusesForManualMarking: markableAs(facts),
    archived: isArchived,
    metadata,
    checkout: {
      paymentMethods: invoice.paymentMethods.map(paymentMethodId),
      expirationMinutes: minutesBetween(invoice.createdAt, invoice.expiresAt),
      monitoringMinutes: minutesBetween(invoice.expiresAt, invoice.monitorUntil),
      redirectURL: invoice.redirectUrl,
    },
  };
}

/** The methods whose addresses the payer was shown, and what was paid with each method. The last members of an item are for older clients. */
export function invoiceMethods(invoice: InvoiceBody): readonly object[] {
  return invoice.paymentMethods.flatMap((method) => {
    if (method.status !== "ACTIVE") return [];
    const payments = invoice.payments.filter((payment) => isBy(payment, method));
    const { decimals } = pairOf(method).asset;
    const paid = payments.reduce(
      (sum, payment) => sum + (paymentStatus(payment) === "Invalid" ? 0n : units(payment.amount, decimals)),
      0n,
    );
    const asked = units(method.amount, decimals);
    const due = units(method.amountDue, decimals);
    const paidByAll = maxBig(asked - due, paid);
    return {
      paymentMethodId: paymentMethodId(method),
      currency: method.cryptocurrency,
      destination: method.address,
      paymentLink: method.paymentUri,
      rate: method.rate,
      paymentMethodPaid: formatUnits(paid, decimals),
      totalPaid: formatUnits(paidByAll, decimals),
      due: formatUnits(due, decimals),
      amount: formatUnits(asked, decimals),
      paymentMethodFee: "0",
      payments: payments.map(greenfieldPayment),
      activated: true,
      additionalData: {},
      paymentMethod: paymentMethodId(method),
      cryptoCode: method.cryptocurrency,
      networkFee: "0",
    };
  });
}

export function greenfieldPayment(payment: PaymentBody): object {
  return {
    id: `${payment.txHash}-${payment.outputIndex}`,
    receivedDate: seconds(payment.receivedTxAt),
    value: payment.amount,
    fee: "0",
    status: paymentStatus(payment),
    destination: payment.toAddress,
  };
}

export function pairOfPayment({ currency: cryptocurrency, network }: PaymentBody): NamedPair {
  return { cryptocurrency, network };
}

function isBy(payment: PaymentBody, { cryptocurrency, network }: NamedPair): boolean {
  return payment.currency === cryptocurrency && payment.network === network;
}

function paymentStatus({ status }: PaymentBody): "Processing" | "Settled" | "Invalid" {
  if (status === "CONFIRMED") return "Settled";
  return status === "DETECTED" ? "Processing" : "Invalid";
}

function units(text: string | null, decimals: number): bigint {
  const parsed = parseUnits(text ?? "0", decimals);
  if (!parsed.ok) throw new Error(`an amount of ours is ${parsed.error}`);
  return parsed.value;
}

/** Drops trailing zeros: `49.900000` becomes `49.9`. */
function shortest(amount: string): string {
  return amount.replace(/\.?0+$/, "");
}

function seconds(time: string): number {
  return Math.floor(Date.parse(time) / SECOND_MS);
}

function minutesBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / MINUTE_MS);
}
