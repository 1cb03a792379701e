import type { Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { type ChangeOf, changeWebhook, type WebhookDependencies } from "./change-webhook.ts";
import { deleteWebhook as deleteRows } from "./store.ts";
import { type Webhook, webhookFacts } from "./webhook.ts";

/** Deletes an endpoint and its secrets for good. */
export async function deleteWebhook(deps: WebhookDependencies, of: ChangeOf): Promise<Result<Webhook, Failure>> {
  return changeWebhook(deps, of, (webhook) => ({
    webhook,
    statements: deleteRows(deps.db, webhook.id),
    entry: { action: "webhook.deleted", before: webhookFacts(webhook) },
  }));
}
