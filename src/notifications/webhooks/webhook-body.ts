import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { isLive, type Webhook } from "./webhook.ts";

/** An endpoint as its merchant sees it, with only the previews of its secrets. */
export function webhookBodyOf(webhook: Webhook, nowMs: number) {
  return {
    id: webhook.id,
    merchantId: webhook.merchantId,
    url: webhook.url,
    events: parseJson(webhook.events),
    description: webhook.description,
    format: webhook.format,
    isActive: webhook.isActive,
    retryCount: webhook.retryCount,
    timeout: webhook.timeoutMs,
    webhookSecrets: webhook.secrets.map((secret) => ({
      id: secret.id,
      webhookId: secret.webhookId,
      secretKeyPreview: secret.preview,
      isActive: isLive(secret, nowMs),
      expiresAt: isoTimeOrNull(secret.expiresAtMs),
    })),
    disabledReason: webhook.disabledReason,
    disabledAt: isoTimeOrNull(webhook.disabledAtMs),
    failuresInRow: webhook.failuresInRow,
    failingSince: isoTimeOrNull(webhook.failingSinceMs),
    createdAt: isoTime(webhook.createdAtMs),
    updatedAt: isoTime(webhook.updatedAtMs),
  };
}
