// The mail to a team about an endpoint that was switched off.

import { moreTimes } from "../../accounts/notices/notice.ts";
import { isoTime } from "../../lib/time.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { linkless, subjectNaming } from "../../platform/mail/names.ts";
import type { Webhook } from "../webhooks/webhook.ts";

type Reason = NonNullable<Webhook["disabledReason"]>;

const WHY: Readonly<Record<Reason, string>> = {
  GONE: "It answered 410 Gone, which is a receiver's word that it wants no more.",
  FAILING: "Nothing that was sent to it in the last five days was accepted.",
};

export interface EndpointNews {
  readonly webhook: Pick<Webhook, "id" | "url">;
  readonly merchantName: string;
  /** Null where it was switched on again since. */
  readonly reason: Reason | null;
  /** How often since the last mail; null where this is the first. */
  readonly more: number | null;
  readonly nowMs: number;
}

export function endpointMail(to: string, { webhook, merchantName, reason, more, nowMs }: EndpointNews): Mail {
  const shop = linkless(merchantName);
  const done = `was switched off${more === null ? "" : ` ${moreTimes(more)}`}`;
  const first =
    more === null
      ? `Events of ${shop} are no longer sent to ${shownUrl(webhook)} since ${isoTime(nowMs)}.`
      : `The endpoint ${webhook.id} of ${shop}, ${shownUrl(webhook)}, ${done}. It is ${reason === null ? "on" : "off"} now.`;
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
      `What it has not received, and what happens until then, is kept for 30 days and sent when the endpoint ${webhook.id} is switched on again (isActive: true).`,
    ],
  });
}

/** Without the query, which may carry a token of the receiver's. */
export function shownUrl({ url }: Pick<Webhook, "url">): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
