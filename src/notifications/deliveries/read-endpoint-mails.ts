import { selectLiveMerchant } from "../../accounts/merchant-records/store.ts";
import type { DueNotice } from "../../accounts/notices/store.ts";
import { selectStewards } from "../../accounts/teams/store.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { selectWebhookById } from "../webhooks/store.ts";
import { endpointMail } from "./endpoint-mail.ts";

/** The emails about an endpoint that was switched off repeatedly; empty if the endpoint or its merchant is deleted. */
export async function readEndpointMails(
  deps: { readonly db: Db; readonly nowMs: number },
  { thing, merchantId, waiting: more }: DueNotice,
): Promise<readonly Mail[]> {
  const { db, nowMs } = deps;
  const [[webhook], stewards, [merchant]] = await batch(db, [
    selectWebhookById(db, thing),
    selectStewards(db, merchantId),
    selectLiveMerchant(db, merchantId),
  ]);
  if (webhook === undefined || merchant === undefined) return [];
  const reason = webhook.isActive ? null : webhook.disabledReason;
  const disabled = { webhook, merchantName: merchant.name, reason, more, nowMs };
  return stewards.map(({ email }) => endpointMail(email, disabled));
}
