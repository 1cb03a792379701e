import type { Failure } from "../failures.ts";
import type { Result } from "../lib/result.ts";
import { type ChangeOf, changeWebhook, type WebhookEffects } from "./change-webhook.ts";
import { deleteWebhook as deleteRows } from "./store.ts";
import { type Webhook, webhookFacts } from "./webhook.ts";

/** Deletes an endpoint and its secrets for good. */
export async function deleteWebhook(fx: WebhookEffects, of: ChangeOf): Promise<Result<Webhook, Failure>> {
  return changeWebhook(fx, of, (webhook) => ({
    webhook,
    statements: deleteRows(fx.db, webhook.id),
    entry: { action: "webhook.deleted", before: webhookFacts(webhook) },
  }));
}
