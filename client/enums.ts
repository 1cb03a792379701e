// Names for sets of values that the API's types repeat in several places.
import type {
  AuditEvent,
  CreateInvoiceBody,
  CreateWebhookBody,
  Delivery,
  Invoice,
  Payment,
  UploadImageBody,
} from "./api-types.ts";

/** The action of an entry in the audit log. */
export type AuditEventAction = AuditEvent["action"];
/** The code of a currency or coin in which an invoice may be priced. */
export type Currency = NonNullable<CreateInvoiceBody["currency"]>;
/** The result of a delivery. */
export type DeliveryStatus = Delivery["status"];
/** An event type, `invoice.*` for all types of a domain, or `*` for all types. */
export type EventName = CreateWebhookBody["events"][number];
/** The media type of an image. */
export type ImageContentType = UploadImageBody["contentType"];
/** The state of an invoice. Ship on PAID and OVERPAID. */
export type InvoiceStatus = Invoice["status"];
/** The state of a payment on the chain, and whether it is credited to an invoice. */
export type PaymentStatus = Payment["status"];
