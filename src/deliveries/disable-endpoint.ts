// An endpoint that is gone, or has only failed for days, is switched off, once, and the team is told: by an event to the merchant's other
// endpoints, by the audit log, and by mail to everybody who could switch it on again (webhooks.md "Delivery").

import { commitAudited } from "../audit/commit-audited.ts";
import { SYSTEM_TRAIL } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import { recordEvent } from "../events/store.ts";
import { derivedId } from "../lib/ids.ts";
import type { Sleep } from "../lib/sleep.ts";
import { isoTime } from "../lib/time.ts";
import { composeMail } from "../mail/compose.ts";
import type { Mailer } from "../mail/mail.ts";
import { selectLiveMerchant } from "../merchants/store.ts";
import { selectStewards } from "../wallet-alerts/store.ts";
import type { Verdict } from "../webhooks/retry-schedule.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { assertFailing, disableWebhook } from "./store.ts";

export interface DisableEffects {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: () => number;
  readonly newUlid: () => string;
  readonly mailer: Mailer;
  /** For the log: ids and words of our own, nothing that a URL, a receiver or a merchant said. */
  readonly report: (alert: string, facts: Readonly<Record<string, string | number>>) => void;
}

type Disabling = Verdict & { readonly disable: NonNullable<Verdict["disable"]> };

/** `health` is what the failing round left. Where a success, a change of the address or another worker came in between, nothing is done. */
export async function disableEndpoint(
  fx: DisableEffects,
  webhook: Webhook,
  { health, disable }: Disabling,
): Promise<void> {
  const { db } = fx;
  const { id, merchantId } = webhook;
  const nowMs = fx.nowMs();
  const operationId = fx.newUlid();
  const failingSince = health.failingSinceMs === null ? null : isoTime(health.failingSinceMs);
  const data = {
    webhookId: id,
    url: shownUrl(webhook),
    reason: disable,
    failuresInRow: health.failuresInRow,
    failingSince,
  };
  const event = { id: derivedId("evt", operationId), merchantId, type: "webhook.endpoint_disabled", data } as const;
  const auditId = derivedId("aud", operationId);
  const facts = { before: { isActive: true }, after: { isActive: false, disabledReason: disable } };
  const entry = { id: auditId, merchantId, action: "webhook.updated", target: id, ...facts } as const;
  const sent = await commitAudited(fx, auditId, [
    assertFailing(db, webhook, disable === "FAILING" ? health : undefined),
    disableWebhook(db, id, { reason: disable, nowMs }),
    ...recordEvent(db, { ...event, createdAtMs: nowMs }),
    insertAudit(db, SYSTEM_TRAIL, entry, nowMs),
  ]);
  if (sent.kind === "stands") await tellStewards(fx, webhook, disable, nowMs);
}

const WHY: Readonly<Record<Disabling["disable"], string>> = {
  GONE: "It answered 410 Gone, which is a receiver's word that it wants no more.",
  FAILING: "Nothing that was sent to it in the last five days was accepted.",
};

async function tellStewards(
  fx: DisableEffects,
  webhook: Webhook,
  reason: Disabling["disable"],
  nowMs: number,
): Promise<void> {
  const { merchantId, id } = webhook;
  const rows = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([selectStewards(fx.db, merchantId), selectLiveMerchant(fx.db, merchantId)]),
  );
  if (!rows.ok) return fx.report("mails about an endpoint were lost", { webhookId: id });
  const [stewards, [merchant]] = rows.value;
  if (merchant === undefined) return;
  const posted = await Promise.allSettled(
    stewards.map(async ({ email }) =>
      fx.mailer.post(
        composeMail({
          to: email,
          subject: `A webhook endpoint of ${merchant.name} was switched off`,
          paragraphs: [
            `Events of ${merchant.name} are no longer sent to ${shownUrl(webhook)} since ${isoTime(nowMs)}.`,
            WHY[reason],
            `What it has not received, and what happens until then, is kept for 30 days and sent when the endpoint ${id} is switched on again (isActive: true).`,
          ],
        }),
      ),
    ),
  );
  const lost = posted.filter(({ status }) => status === "rejected").length;
  if (lost > 0) fx.report("mails about an endpoint were lost", { webhookId: id, lost });
}

/** Without the query, which may carry a token of the receiver's. */
function shownUrl({ url }: Webhook): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
