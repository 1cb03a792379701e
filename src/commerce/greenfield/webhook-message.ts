// A delivery in Greenfield's format: the body, and the one header that signs it.

import { bytesToHex, utf8ToBytes } from "../../lib/bytes.ts";
import { hmacSha256 } from "../../lib/hmac.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { EventRow } from "../../platform/events/event.ts";
import type { InvoiceBody } from "../invoices/invoice-body.ts";
import { factsOf, greenfieldPayment, pairOfPayment } from "./invoice.ts";
import { unpacked } from "./metadata.ts";
import { paymentMethodId } from "./payment-method-id.ts";
import { stateOf } from "./state.ts";
import { webhookTypeOf } from "./webhook-type.ts";

interface Delivery {
  readonly event: EventRow;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly isRedelivery: boolean;
}

/** The data of invoice and payment events (commerce/invoices/invoice-events.ts). */
interface EventData {
  readonly invoiceId?: string;
  readonly invoice?: InvoiceBody;
  readonly payment?: InvoiceBody["payments"][number];
}

/** The body of a delivery attempt. A delivery keeps its id over all attempts; all except the first are marked as redeliveries. */
export function webhookText({ event, webhookId, deliveryId, isRedelivery }: Delivery): string {
  const { invoiceId, invoice, payment }: EventData = JSON.parse(event.data);
  const state = invoice === undefined ? undefined : stateOf(factsOf(invoice));
  const type = webhookTypeOf(event.type, state?.status ?? "New");
  return JSON.stringify({
    deliveryId,
    webhookId,
    originalDeliveryId: deliveryId,
    isRedelivery,
    // A test event belongs to no invoice.
    type: type ?? "Ping",
    timestamp: Math.floor(event.createdAtMs / SECOND_MS),
    storeId: event.merchantId,
    ...(invoice === undefined ? {} : { invoiceId, metadata: unpacked(invoice.metadata).metadata }),
    ...factsByType(type, { additional: state?.additionalStatus, status: invoice?.status, payment }),
  });
}

function factsByType(
  type: ReturnType<typeof webhookTypeOf>,
  of: {
    readonly additional: string | undefined;
    readonly status: string | undefined;
    readonly payment: EventData["payment"];
  },
): object {
  const { additional, status, payment } = of;
  switch (type) {
    case undefined:
    case "InvoiceCreated":
      return {};
    case "InvoiceReceivedPayment":
    case "InvoicePaymentSettled":
      if (payment === undefined) return {};
      return {
        afterExpiration: payment.isLate,
        paymentMethodId: paymentMethodId(pairOfPayment(payment)),
        payment: greenfieldPayment(payment),
      };
    case "InvoiceProcessing":
      return { overPaid: false };
    case "InvoiceExpired":
      return { partiallyPaid: status === "UNDERPAID" };
    case "InvoiceSettled":
      return { manuallyMarked: additional === "Marked", overPaid: additional === "PaidOver" };
    case "InvoiceInvalid":
      return { manuallyMarked: additional === "Marked" };
  }
}

/** The headers of a delivery attempt. The format has one signature, so only the newest secret signs; the HMAC key is the secret's text itself. */
export async function webhookHeaders(
  body: string,
  [secret]: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  if (secret === undefined) throw new Error("an endpoint has no secret");
  const signature = bytesToHex(await hmacSha256(utf8ToBytes(secret), utf8ToBytes(body)));
  return {
    "content-type": "application/json",
    "user-agent": "Edgetill-Webhooks/1",
    "btcpay-sig": `sha256=${signature}`,
  };
}
