// The data of invoice and payment events.
import type { InvoiceId } from "../../lib/ids.ts";
import type { PaymentBody } from "../payments/payment-body.ts";
import type { InvoiceBody, MethodBody } from "./invoice-body.ts";

/** The data of an invoice event, without the invoice itself. */
export interface InvoiceFacts {
  readonly previousStatus?: InvoiceBody["status"] | undefined;
  readonly payment?: PaymentBody | undefined;
  readonly paymentMethod?: MethodBody | undefined;
}

type OfInvoice<Facts extends keyof InvoiceFacts = never> = {
  readonly [Fact in Facts]: NonNullable<InvoiceFacts[Fact]>;
} & {
  readonly invoiceId: InvoiceId;
  readonly invoice: InvoiceBody;
  /** Which fields of the invoice were cut, if the event would have been too large. */
  readonly truncated?: readonly string[];
};

type Moved = OfInvoice<"previousStatus">;

/** Data about a payment; without an invoice if the payment is unmatched. */
type OfPayment = OfInvoice<"payment"> | { readonly payment: PaymentBody };

export interface InvoiceEvents {
  readonly "invoice.created": OfInvoice;
  readonly "invoice.updated": OfInvoice;
  readonly "invoice.partially_paid": OfInvoice;
  readonly "invoice.pending_confirmation": Moved;
  readonly "invoice.paid": Moved;
  readonly "invoice.underpaid": Moved;
  readonly "invoice.overpaid": Moved;
  readonly "invoice.expired": Moved;
  readonly "invoice.cancelled": Moved;
  readonly "invoice.payment_late": OfInvoice<"payment">;
  readonly "invoice.reversed": Moved;
  readonly "invoice.marked": OfInvoice;
  readonly "payment.created": OfInvoice<"paymentMethod">;
  readonly "payment.detected": OfPayment;
  readonly "payment.updated": OfInvoice<"payment"> | OfInvoice<"paymentMethod">;
  readonly "payment.confirmed": OfPayment;
  readonly "payment.paid": Moved;
  readonly "payment.underpaid": Moved;
  readonly "payment.overpaid": Moved;
  readonly "payment.expired": Moved;
  readonly "payment.dropped": OfPayment;
  readonly "payment.reorged": OfPayment;
  readonly "payment.matched": OfInvoice<"payment">;
}
