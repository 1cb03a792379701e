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

export type AuditEventAction = AuditEvent["action"];
export type Currency = NonNullable<CreateInvoiceBody["currency"]>;
export type DeliveryStatus = Delivery["status"];
export type EventName = CreateWebhookBody["events"][number];
export type ImageContentType = UploadImageBody["contentType"];
export type InvoiceStatus = Invoice["status"];
export type PaymentStatus = Payment["status"];
