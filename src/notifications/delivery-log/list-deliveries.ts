import { CURSOR_REFUSAL, type ListQuery, pageOf, pageRequest, pageToRead } from "../../lib/pagination.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import { eventReads } from "../../platform/events/list-events.ts";
import type { Failure } from "../../platform/failures.ts";
import { selectWebhook } from "../webhooks/store.ts";
import { type Delivery, type DeliveryStatus, deliveryBodyOf } from "./delivery-body.ts";
import { type DeliveriesOf, selectDelivery, selectDeliveryPage, selectEventDeliveries } from "./store.ts";

interface DeliveriesQuery extends Omit<ListQuery, "page"> {
  readonly status?: DeliveryStatus | undefined;
}

/** Reads the endpoint, without which the list is refused, and one delivery more than fits on the page. Reads no delivery for an invalid query. */
export function deliveryPageReads(db: Db, of: DeliveriesOf, query: DeliveriesQuery | undefined) {
  const { limit, after } = pageToRead(query);
  return [
    selectWebhook(db, of),
    selectDeliveryPage(db, of, { status: query?.status, before: after?.id, limit }),
  ] as const;
}

/** The event, without which the list is refused, and its deliveries. */
export function eventDeliveryReads(db: Db, of: { readonly merchantId: string; readonly eventId: string }) {
  return [...eventReads(db, of.merchantId, of.eventId), selectEventDeliveries(db, of)] as const;
}

/** The endpoint and one of its deliveries. */
export function deliveryReads(db: Db, of: DeliveriesOf & { readonly deliveryId: string }) {
  return [selectWebhook(db, of), selectDelivery(db, of)] as const;
}

/** Newest first. */
export function listDeliveries(read: readonly Delivery[], query: DeliveriesQuery): Result<object, Failure> {
  const asked = pageRequest(query);
  if (!asked.ok) return err(CURSOR_REFUSAL);
  const { rows, nextCursor } = pageOf(read, asked.value.limit);
  return ok({ data: rows.map(deliveryBodyOf), nextCursor });
}
