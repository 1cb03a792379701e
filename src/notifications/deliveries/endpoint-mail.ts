// The email to a team about an endpoint that was switched off.

import { moreTimes } from "../../accounts/notices/notice.ts";
import { isoTime } from "../../lib/time.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { linkless, subjectNaming } from "../../platform/mail/names.ts";
import type { Webhook } from "../webhooks/webhook.ts";

type Reason = NonNullable<Webhook["disabledReason"]>;

const WHY: Readonly<Record<Reason, string>> = {
  GONE: "The endpoint answered 410 Gone: the receiver wants no more events.",
  FAILING: "The endpoint accepted no delivery in the last five days.",
};

interface DisabledEndpoint {
  readonly webhook: Pick<Webhook, "id" | "url" | "isActive">;
  readonly merchantName: string;
  /** Null if the endpoint was switched on again; it may be off for another reason since. */
  readonly reason: Reason | null;
  /** How often it was switched off since the last email; null for the first email. */
  readonly more: number | null;
  readonly nowMs: number;
}

export function endpointMail(to: string, { webhook, merchantName, reason, more, nowMs }: DisabledEndpoint): Mail {
  const shop = linkless(merchantName);
  const done = `was switched off${more === null ? "" : ` ${moreTimes(more)}`}`;
  const first =
    more === null
      ? `Since ${isoTime(nowMs)}, events of ${shop} are no longer sent to ${shownUrl(webhook)}.`
      : `The endpoint ${webhook.id} of ${shop}, ${shownUrl(webhook)}, ${done}. It is ${webhook.isActive ? "on" : "off"} now.`;
  return composeMail({
    to,
    subject: subjectNaming(
      merchantName,
      (name) => `A webhook endpoint of ${name} ${done}`,
      `A webhook endpoint ${done}`,
    ),
    paragraphs: [
      first,
      ...(reason === null ? [] : [WHY[reason]]),
      `Events that it has not received are kept for 30 days. They are sent when you switch the endpoint ${webhook.id} on again (isActive: true).`,
    ],
  });
}

/** The URL without the query, which may contain a token of the receiver. */
export function shownUrl({ url }: Pick<Webhook, "url">): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
