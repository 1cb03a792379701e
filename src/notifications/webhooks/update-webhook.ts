import { err, type Result } from "../../lib/result.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type ChangeOf, changeWebhook, movedOn, type WebhookDependencies } from "./change-webhook.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";
import { updateWebhook as updateRow } from "./store.ts";
import {
  changedColumns,
  isTranslatable,
  NOT_TRANSLATABLE,
  type SettingsUpdate,
  type Webhook,
  webhookFacts,
} from "./webhook.ts";

/**
 * Changes settings; those that are left out keep their values. A change without effect writes nothing. An endpoint that is switched on, or gets
 * another URL, counts as healthy, and its waiting deliveries are sent.
 */
export async function updateWebhook(
  deps: WebhookDependencies,
  of: ChangeOf,
  wanted: SettingsUpdate,
): Promise<Result<Webhook, Failure>> {
  const url = wanted.url === undefined ? undefined : parseEndpointUrl(wanted.url, deps.urlRules);
  if (url !== undefined && !url.ok) return err({ code: "WEBHOOK_URL_REFUSED", reason: url.error });
  if (of.read?.format === "GREENFIELD" && wanted.events !== undefined && !isTranslatable(wanted.events))
    return err({ code: "VALIDATION_FAILED", details: [{ path: "events", message: NOT_TRANSLATABLE }] });
  const settings = url === undefined ? wanted : { ...wanted, url: url.value.href };
  return changeWebhook(deps, of, (read) => {
    const changed = changedColumns(read, settings, deps.nowMs);
    if (changed === undefined) return undefined;
    const columns = { ...changed, updatedAtMs: movedOn(deps, read) };
    const webhook = { ...read, ...columns };
    return {
      webhook,
      statements: [updateRow(deps.db, read.id, columns)],
      entry: { action: "webhook.updated", ...factsOf(read, webhook) },
    };
  });
}

/** If only the URL's query changed, the facts contain the URL, but never its query. */
function factsOf(read: Webhook, after: Webhook) {
  const [old, now] = [webhookFacts(read), webhookFacts(after)];
  const facts = changedFacts(old, now);
  const { url = null } = old;
  if (read.url === after.url || "url" in facts.after) return facts;
  return { before: { url, ...facts.before }, after: { url, ...facts.after } };
}
