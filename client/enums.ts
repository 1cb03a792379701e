// Names for sets of values that the types of the API repeat in several places.
import type {
  AuditEvent,
  CreateInvoiceBody,
  CreateWebhookBody,
  Delivery,
  Invoice,
  Payment,
  UploadImageBody,
} from "./api-types.ts";

/** What was changed, as the audit log names it. */
export type AuditEventAction = AuditEvent["action"];
/** The code of a currency or coin in which an invoice may be priced. */
export type Currency = NonNullable<CreateInvoiceBody["currency"]>;
/** What became of a delivery. */
export type DeliveryStatus = Delivery["status"];
/** A type of event, all of a domain such as `invoice.*`, or `*`. */
export type EventName = CreateWebhookBody["events"][number];
/** The kind of an image. */
export type ImageContentType = UploadImageBody["contentType"];
/** Where an invoice stands. Ship on PAID and OVERPAID. */
export type InvoiceStatus = Invoice["status"];
/** Where a payment stands on the chain, and whether an invoice has it. */
export type PaymentStatus = Payment["status"];
