import { changedFacts } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import { err, type Result } from "../lib/result.ts";
import { type ChangeOf, changeWebhook, movedOn, type WebhookEffects } from "./change-webhook.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";
import { updateWebhook as updateRow } from "./store.ts";
import { changedColumns, type SettingsUpdate, type Webhook, webhookFacts } from "./webhook.ts";

/**
 * Changes settings; what is absent stays. One that changes nothing writes nothing. An endpoint that is switched on, or gets another address, is
 * taken for well, and what waited for it goes on.
 */
export async function updateWebhook(
  fx: WebhookEffects,
  of: ChangeOf,
  wanted: SettingsUpdate,
): Promise<Result<Webhook, Failure>> {
  const url = wanted.url === undefined ? undefined : parseEndpointUrl(wanted.url, fx.urlRules);
  if (url !== undefined && !url.ok) return err({ code: "WEBHOOK_URL_REFUSED", reason: url.error });
  const settings = url === undefined ? wanted : { ...wanted, url: url.value.href };
  return changeWebhook(fx, of, (read) => {
    const changed = changedColumns(read, settings, fx.nowMs);
    if (changed === undefined) return undefined;
    const columns = { ...changed, updatedAtMs: movedOn(fx, read) };
    const webhook = { ...read, ...columns };
    return {
      webhook,
      statements: [updateRow(fx.db, read.id, columns)],
      entry: { action: "webhook.updated", ...factsOf(read, webhook) },
    };
  });
}

/** A URL of which only the query changed is named too, though its query is not. */
function factsOf(read: Webhook, after: Webhook) {
  const [old, now] = [webhookFacts(read), webhookFacts(after)];
  const facts = changedFacts(old, now);
  const { url = null } = old;
  if (read.url === after.url || "url" in facts.after) return facts;
  return { before: { url, ...facts.before }, after: { url, ...facts.after } };
}
