// The minimum work of a delivery: an event's text, its signatures, and a POST, a few at a time. Each runtime supplies its fastest HMAC and HTTP. The
// code for the headers is independent of the product's code, and a test compares the two.

import { makeId } from "../../src/lib/ids.ts";
import { type EventRow, eventText } from "../../src/platform/events/event.ts";
import recorded from "./invoice-paid.json" with { type: "json" };
import type { BareJob } from "./messages.ts";

/** Data of a real invoice: one payment, one method, a customer. */
export const DATA = JSON.stringify(recorded.data);
export const TYPE = recorded.type;
export const SEQUENCE = recorded.sequence;
export const CREATED_AT_MS = Date.parse(recorded.timestamp);

/** The id of event number `n`, as in `seed-deliveries.ts`. */
export function eventIdAt(n: number): EventRow["id"] {
  return makeId("evt", `01${String(n).padStart(24, "0")}`);
}

export interface Signer {
  /** The HMAC in base64, with the decoded secret as its key. */
  readonly standard: (text: string) => string | Promise<string>;
  /** The HMAC in hexadecimal, with the text of the secret as its key. */
  readonly plain: (text: string) => string | Promise<string>;
}

export type Post = (url: string, headers: Readonly<Record<string, string>>, body: string) => Promise<number>;

/** Throws at the first answer other than 200. */
export async function postAll(job: BareJob, signer: Signer, post: Post): Promise<void> {
  let next = job.from;
  const lane = async (): Promise<void> => {
    while (next < job.from + job.count) {
      const { headers, body } = await signedPost(job, next++, signer);
      const status = await post(job.url, headers, body);
      if (status !== 200) throw new Error(`the receiver answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: job.atOnce }, lane));
}

export async function signedPost(
  { merchantId, webhookId }: Pick<BareJob, "merchantId" | "webhookId">,
  n: number,
  signer: Signer,
): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly body: string }> {
  const eventId = eventIdAt(n);
  const body = eventText({
    id: eventId,
    type: TYPE,
    merchantId: makeId("mer", merchantId.slice(4)),
    sequence: SEQUENCE,
    data: DATA,
    createdAtMs: CREATED_AT_MS,
  });
  const t = Math.floor(Date.now() / 1_000);
  const headers = {
    "content-type": "application/json",
    "user-agent": "Edgetill-Webhooks/1",
    "webhook-id": eventId,
    "webhook-timestamp": String(t),
    "webhook-signature": `v1,${await signer.standard(`${eventId}.${t}.${body}`)}`,
    "x-signature": `t=${t},v1=${await signer.plain(`${t}.${body}`)}`,
    "x-webhook-id": webhookId,
    "x-event-id": eventId,
    "x-delivery-id": `dlv_${eventId.slice(4, 16)}${eventId.slice(-8)}${webhookId.slice(-6)}`,
  };
  return { headers, body };
}
