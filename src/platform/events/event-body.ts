// What an integrator reads of an event, delivered or asked for: one text, so that the two can be compared byte by byte.
import { utf8ToBytes } from "../../lib/bytes.ts";
import { isoTime } from "../../lib/time.ts";
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

/** An event's bound in bytes of UTF-8 (webhooks.md "Body"), and what is left of it for `data`. */
export const MAX_EVENT_BYTES = 20_000;
export const MAX_DATA_BYTES = MAX_EVENT_BYTES - 350;

/** Throws, for it is a bug: the code that records an event cuts what can be long. */
export function assertEventSize({ id, type, data }: Pick<EventRow, "id" | "type" | "data">): void {
  if (!isWithin(data, MAX_DATA_BYTES)) throw new Error(`the data of ${type} ${id} has ${data.length} characters`);
}

/** Whether a text has at most so many bytes of UTF-8; counted only where its length does not tell. */
export function isWithin(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || utf8ToBytes(text).length <= maxBytes;
}
