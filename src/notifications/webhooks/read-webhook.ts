// What routes of endpoints read in the call that proves the caller.
import type { Db } from "../../platform/db/client.ts";
import { selectWebhook, selectWebhookIds, selectWebhooks } from "./store.ts";

export function webhookReads(db: Db, merchantId: string, webhookId = "") {
  return [selectWebhook(db, { merchantId, webhookId })] as const;
}

export function webhookListReads(db: Db, merchantId: string) {
  return [selectWebhooks(db, merchantId)] as const;
}

/** What a creation depends on. */
export function existingReads(db: Db, merchantId: string) {
  return [selectWebhookIds(db, merchantId)] as const;
}
