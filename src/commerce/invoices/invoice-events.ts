// What events of invoices and their payments say.
import type { InvoiceId } from "../../lib/ids.ts";
import type { InvoiceBody, MethodBody, PaymentBody } from "./invoice-body.ts";

/** What the event of an invoice tells beside the invoice. */
export interface InvoiceFacts {
  readonly previousStatus?: InvoiceBody["status"] | undefined;
  readonly payment?: PaymentBody | undefined;
  readonly paymentMethod?: MethodBody | undefined;
}

/** Of an invoice, with the facts named. */
type OfInvoice<Facts extends keyof InvoiceFacts = never> = {
  readonly [Fact in Facts]: NonNullable<InvoiceFacts[Fact]>;
} & {
  readonly invoiceId: InvoiceId;
  readonly invoice: InvoiceBody;
  /** Which of the invoice's members were cut, where the event would have been too large. */
  readonly truncated?: readonly string[];
};

type Moved = OfInvoice<"previousStatus">;

/** Of a transfer that no invoice has, with neither. */
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
