import type { Prepared, Work } from "../idempotency/run-once.ts";
import {
  type ChangeOf,
  changeStatements,
  movedOn,
  newSecret,
  standingOf,
  type WebhookEffects,
} from "./change-webhook.ts";
import { replaceSecrets, updateWebhook } from "./store.ts";
import { rotatedSecrets } from "./webhook.ts";
import { webhookBodyOf } from "./webhook-body.ts";

/**
 * The work of one rotation, for `runOnce`, whose answer must be sealed. The new secret signs from now on, the one before it too for 24 hours.
 * Of several at once each takes its turn.
 */
export function rotateSecret(fx: WebhookEffects, of: ChangeOf): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion") throw new Error(`a rotation met ${conflict.table}`);
    const standing = await standingOf(fx, of, tries);
    if (!standing.ok) return { kind: "refused", failure: standing.error };
    const { webhook: read } = standing.value;
    // Secrets are told newest first by this time, which moves on with each of them.
    const updatedAtMs = movedOn(fx, read);
    const { secret, row } = await newSecret(fx, { operationId, webhookId: read.id, createdAtMs: updatedAtMs });
    const webhook = { ...read, updatedAtMs, secrets: rotatedSecrets(read, row, fx.nowMs) };
    const change = {
      webhook,
      statements: [...replaceSecrets(fx.db, read.id, webhook.secrets), updateWebhook(fx.db, read.id, { updatedAtMs })],
      entry: {
        action: "webhook.secret_rotated",
        before: { secretKeyPreview: read.secrets[0]?.preview ?? null },
        after: { secretKeyPreview: row.preview },
      },
    } as const;
    return {
      kind: "ready",
      status: 200,
      body: JSON.stringify({ ...webhookBodyOf(webhook, fx.nowMs), secret }),
      statements: changeStatements(fx, { ...standing.value, trail: of.trail }, change, operationId),
    };
  };
}
