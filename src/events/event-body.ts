// What an integrator reads of an event, whether it is delivered or asked for: one text, so that the two can be compared letter by letter.
import { isoTime } from "../lib/time.ts";
import type { OutboxEvent } from "./event.ts";

export const API_VERSION = "v1";

/** An event as a row gives it back. */
export interface EventRow extends Omit<OutboxEvent, "type" | "invoiceId"> {
  readonly type: string;
}

/** Its JSON (webhooks.md "Body"). `data` goes in as it was stored, so the text of an event never changes. */
export function eventText({ id, type, merchantId, sequence, data, createdAtMs }: EventRow): string {
  const name = JSON.stringify(type);
  const timestamp = isoTime(createdAtMs);
  return `{"id":"${id}","type":${name},"event":${name},"timestamp":"${timestamp}","apiVersion":"${API_VERSION}","merchantId":"${merchantId}","sequence":${sequence},"data":${data}}`;
}
