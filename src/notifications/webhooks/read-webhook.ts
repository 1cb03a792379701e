// The reads of the endpoint routes, made in the same call that authenticates the caller.
import type { Db } from "../../platform/db/client.ts";
import { selectWebhook, selectWebhookIds, selectWebhooks } from "./store.ts";

export function webhookReads(db: Db, merchantId: string, webhookId = "") {
  return [selectWebhook(db, { merchantId, webhookId })] as const;
}

export function webhookListReads(db: Db, merchantId: string) {
  return [selectWebhooks(db, merchantId)] as const;
}

/** The reads that a creation depends on. */
export function existingReads(db: Db, merchantId: string) {
  return [selectWebhookIds(db, merchantId)] as const;
}
