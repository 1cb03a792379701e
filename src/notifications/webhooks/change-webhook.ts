// Changes a stored endpoint in one batch with its audit entry. The batch aborts if the endpoint or the caller's membership has changed since it was
// read.

import type { Seat } from "../../accounts/merchant-records/store.ts";
import type { Permission } from "../../accounts/roles/permissions.ts";
import { currentRowAndSeat, type RowAndSeat, seatHeld } from "../../accounts/teams/check-seat.ts";
import { derivedId, type MerchantId, type WebhookId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { AuditEntry, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import type { EndpointRules } from "./endpoint-url.ts";
import { secretKeyPreview, webhookSecret } from "./secret.ts";
import { assertWebhookAsRead, selectWebhook } from "./store.ts";
import { secretContext, type Webhook, type WebhookSecret } from "./webhook.ts";

const SECRET_BYTES = 32;

export interface WebhookDependencies extends CommitDependencies {
  readonly urlRules: EndpointRules;
  /** Random bytes from the system's generator. */
  randomBytes(count: number): Uint8Array;
  /** Encrypts with SECRETS_AES_KEY; throws if it is not configured. */
  seal(context: string, text: string): Promise<string>;
}

export interface WebhookActor {
  readonly merchantId: MerchantId;
  /** The user's membership; undefined for an API key. */
  readonly seat: Seat | undefined;
  readonly trail: Trail;
  /** The permission that the operation needs. */
  readonly permission: Permission;
}

export interface ChangeOf extends WebhookActor {
  readonly webhookId: string;
  /** The endpoint, from the storage call that authenticated the caller; undefined if it does not exist. */
  readonly read: Webhook | undefined;
}

interface WebhookChange {
  /** The endpoint to return. */
  readonly webhook: Webhook;
  readonly statements: readonly Write[];
  readonly entry: Pick<AuditEntry, "action" | "before" | "after">;
}

/** Returns the endpoint. `decide` returns undefined if there is nothing to do. */
export function changeWebhook(
  deps: WebhookDependencies,
  of: ChangeOf,
  decide: (webhook: Webhook) => WebhookChange | undefined,
): Promise<Result<Webhook, Failure>> {
  const subject = { name: "a change of a webhook", read: (tries: number) => webhookAndSeat(deps, of, tries) };
  return change(deps, subject, (current, { operationId }) => {
    const decided = decide(current.row);
    if (decided === undefined) return ok({ value: current.row });
    const statements = changeStatements(deps, { ...current, trail: of.trail }, decided, operationId);
    return ok({ value: decided.webhook, statements });
  });
}

/** The endpoint and the membership. The first attempt uses those read during authentication; each later attempt reads them again. */
export function webhookAndSeat(
  deps: WebhookDependencies,
  of: ChangeOf,
  tries: number,
): Promise<Result<RowAndSeat<Webhook>, Failure>> {
  const row = { again: () => selectWebhook(deps.db, of), missing: { code: "WEBHOOK_NOT_FOUND" } } as const;
  return currentRowAndSeat(deps, { ...of, ...row }, tries);
}

/** Aborts the batch if the endpoint or the membership has changed since it was read. */
export function assertWebhookAndSeat(deps: Pick<WebhookDependencies, "db">, { row, seat }: RowAndSeat<Webhook>) {
  return [assertWebhookAsRead(deps.db, row), ...seatHeld(deps, seat)];
}

/** The batch of a change; assertions first. */
export function changeStatements(
  deps: Pick<WebhookDependencies, "db" | "nowMs">,
  { trail, ...current }: RowAndSeat<Webhook> & Pick<WebhookActor, "trail">,
  { statements, entry }: WebhookChange,
  operationId: string,
): readonly Write[] {
  const { merchantId, id: target } = current.row;
  const audit = { id: derivedId("aud", operationId), merchantId, target, ...entry };
  return [...assertWebhookAndSeat(deps, current), ...statements, insertAudit(deps.db, trail, audit, deps.nowMs)];
}

/** The update time, always later than the previous one, because batches assert `updated_at_ms`. */
export function movedOn({ nowMs }: Pick<WebhookDependencies, "nowMs">, { updatedAtMs }: Webhook): number {
  return Math.max(nowMs, updatedAtMs + 1);
}

/** A new secret in plain text, for the only response that shows it, and its encrypted row. */
export async function newSecret(
  deps: WebhookDependencies,
  of: {
    readonly operationId: string;
    readonly webhookId: WebhookId;
    readonly createdAtMs: number;
    /** Set if the receiver has chosen the secret. */
    readonly given?: string | undefined;
  },
): Promise<{ readonly secret: string; readonly row: WebhookSecret }> {
  const { operationId, webhookId, createdAtMs } = of;
  const secret = of.given ?? webhookSecret(deps.randomBytes(SECRET_BYTES));
  const id = derivedId("whs", operationId);
  const sealed = await deps.seal(secretContext(id), secret);
  return {
    secret,
    row: { id, webhookId, sealed, preview: secretKeyPreview(secret), expiresAtMs: null, createdAtMs },
  };
}
