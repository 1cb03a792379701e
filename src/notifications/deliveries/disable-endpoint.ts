// Switches off an endpoint that is gone or has failed for days without a success. The team is notified in three ways: an event to the merchant's
// other endpoints, an audit entry, and an email to every user who could switch it on again.

import { selectLiveMerchant } from "../../accounts/merchant-records/store.ts";
import { recordNotice } from "../../accounts/notices/record-notice.ts";
import { selectStewards } from "../../accounts/teams/store.ts";
import { derivedId } from "../../lib/ids.ts";
import type { Report } from "../../lib/log.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { isoTime } from "../../lib/time.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { commitChange } from "../../platform/changes/commit-change.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { recordEvent } from "../../platform/events/store.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { postAll } from "../../platform/mail/post-all.ts";
import type { Verdict } from "../webhooks/retry-schedule.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import type { EndpointEvents } from "./endpoint-events.ts";
import { endpointMail, shownUrl } from "./endpoint-mail.ts";
import { assertFailing, disableWebhook } from "./store.ts";

export interface DisableDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: () => number;
  readonly newUlid: () => string;
  readonly mailer: Mailer;
  /** Must not log text from a URL, a receiver or a merchant. */
  readonly report: Report;
}

type Disabling = Verdict & { readonly disable: NonNullable<Verdict["disable"]> };

/**
 * `health` is the state after the failing round. Does nothing if the endpoint was switched off or its URL was changed after that round. For FAILING,
 * also does nothing if its health has changed: a delivery has succeeded, or another worker has recorded a failure.
 */
export async function disableEndpoint(
  deps: DisableDependencies,
  webhook: Webhook,
  { health, disable }: Disabling,
): Promise<void> {
  const { db } = deps;
  const { id, merchantId } = webhook;
  const nowMs = deps.nowMs();
  const operationId = deps.newUlid();
  const failingSince = health.failingSinceMs === null ? null : isoTime(health.failingSinceMs);
  const data = {
    webhookId: id,
    url: shownUrl(webhook),
    reason: disable,
    failuresInRow: health.failuresInRow,
    failingSince,
  } satisfies EndpointEvents["webhook.endpoint_disabled"];
  const event = { id: derivedId("evt", operationId), merchantId, type: "webhook.endpoint_disabled", data } as const;
  const auditId = derivedId("aud", operationId);
  const facts = { before: { isActive: true }, after: { isActive: false, disabledReason: disable } };
  const entry = { id: auditId, merchantId, action: "webhook.updated", target: id, ...facts } as const;
  const sent = await commitChange(deps, auditId, [
    assertFailing(db, webhook, disable === "FAILING" ? health : undefined),
    disableWebhook(db, id, { reason: disable, nowMs }),
    ...recordEvent(db, { ...event, createdAtMs: nowMs }),
    insertAudit(db, SYSTEM_TRAIL, entry, nowMs),
  ]);
  if (sent.kind === "committed") await mailStewards(deps, webhook, disable, nowMs);
}

async function mailStewards(
  deps: DisableDependencies,
  webhook: Webhook,
  reason: Disabling["disable"],
  nowMs: number,
): Promise<void> {
  const { merchantId, id } = webhook;
  const notice = { kind: "ENDPOINT_DISABLED", thing: id, actor: "", merchantId, isLinked: false } as const;
  if (!(await recordNotice({ ...deps, nowMs }, notice))) return;
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [selectStewards(deps.db, merchantId), selectLiveMerchant(deps.db, merchantId)]),
  );
  if (!rows.ok) return deps.report("mails about an endpoint were not sent", { webhookId: id });
  const [stewards, [merchant]] = rows.value;
  if (merchant === undefined) return;
  const disabled = { webhook, merchantName: merchant.name, reason, more: null, nowMs };
  await postAll(deps.mailer, `the endpoint ${id}`, stewards, ({ email }) => endpointMail(email, disabled));
}
