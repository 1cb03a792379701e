import { throwUnlessContention } from "../../platform/db/conflict.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import {
  type ChangeOf,
  changeStatements,
  movedOn,
  newSecret,
  type WebhookDependencies,
  webhookAndSeat,
} from "./change-webhook.ts";
import { replaceSecrets, updateWebhook } from "./store.ts";
import { rotatedSecrets } from "./webhook.ts";
import { webhookBodyOf } from "./webhook-body.ts";

/**
 * The work of one rotation, for `runOnce`. Its stored response must be encrypted. The new secret signs from now on, and the previous one also signs
 * for another 24 hours. Concurrent rotations run one after the other.
 */
export function rotateSecret(deps: WebhookDependencies, of: ChangeOf): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a rotation", conflict);
    const current = await webhookAndSeat(deps, of, tries);
    if (!current.ok) return { kind: "refused", failure: current.error };
    const { row: read } = current.value;
    // Secrets are ordered by this time, so it must increase with each rotation.
    const updatedAtMs = movedOn(deps, read);
    const { secret, row } = await newSecret(deps, { operationId, webhookId: read.id, createdAtMs: updatedAtMs });
    const webhook = { ...read, updatedAtMs, secrets: rotatedSecrets(read, row, deps.nowMs) };
    const change = {
      webhook,
      statements: [
        ...replaceSecrets(deps.db, read.id, webhook.secrets),
        updateWebhook(deps.db, read.id, { updatedAtMs }),
      ],
      entry: {
        action: "webhook.secret_rotated",
        before: { secretKeyPreview: read.secrets[0]?.preview ?? null },
        after: { secretKeyPreview: row.preview },
      },
    } as const;
    return {
      kind: "ready",
      status: 200,
      body: JSON.stringify({ ...webhookBodyOf(webhook, deps.nowMs), secret }),
      statements: changeStatements(deps, { ...current.value, trail: of.trail }, change, operationId),
    };
  };
}
