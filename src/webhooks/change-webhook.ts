// Every change of an endpoint: read, decide, one batch with its audit entry. The batch rests on the endpoint as it was read and on the
// person's place at that moment. Whoever lost a race reads again and decides again, five times, then 503 (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import { seatNow } from "../api-keys/change-api-key.ts";
import { commitAudited } from "../audit/commit-audited.ts";
import type { AuditEntry, Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type MerchantId, type WebhookId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Seat } from "../merchants/store.ts";
import type { Permission } from "../teams/permissions.ts";
import { assertSeat } from "../teams/store.ts";
import type { EndpointRules } from "./endpoint-url.ts";
import { secretKeyPreview, webhookSecret } from "./secret.ts";
import { assertWebhookAsRead, selectWebhook } from "./store.ts";
import { secretContext, type Webhook, type WebhookSecret } from "./webhook.ts";

const MAX_TRIES = 5;
const SECRET_BYTES = 32;

export interface WebhookEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly urlRules: EndpointRules;
  newOperationId(): string;
  /** Fresh bytes of the system's generator. */
  randomBytes(count: number): Uint8Array;
  /** Under SECRETS_AES_KEY; throws where the deployment has none. */
  seal(context: string, text: string): Promise<string>;
}

export interface WebhookActor {
  readonly merchantId: MerchantId;
  /** Of a person; a key has none. */
  readonly seat: Seat | undefined;
  readonly trail: Trail;
  /** What they need for what they do. */
  readonly permission: Permission;
}

export interface ChangeOf extends WebhookActor {
  readonly webhookId: string;
  /** As it was read with the caller; undefined when there is none. */
  readonly read: Webhook | undefined;
}

/** An endpoint and who acts on it, as they stand together. */
export interface Standing {
  readonly webhook: Webhook;
  readonly seat: Seat | undefined;
}

export interface WebhookChange {
  /** To show. */
  readonly webhook: Webhook;
  readonly statements: readonly BatchItem<"sqlite">[];
  readonly entry: Pick<AuditEntry, "action" | "before" | "after">;
}

/** `decide` is asked again with the endpoint as it then stands; undefined means that there is nothing to do. Answers the endpoint to show. */
export async function changeWebhook(
  fx: WebhookEffects,
  of: ChangeOf,
  decide: (webhook: Webhook) => WebhookChange | undefined,
): Promise<Result<Webhook, Failure>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const standing = await standingOf(fx, of, tries);
    if (!standing.ok) return standing;
    const change = decide(standing.value.webhook);
    if (change === undefined) return ok(standing.value.webhook);
    const operationId = fx.newOperationId();
    const statements = changeStatements(fx, { ...standing.value, trail: of.trail }, change, operationId);
    const committed = await commitAudited(fx, derivedId("aud", operationId), statements);
    if (committed.kind === "stands") return ok(change.webhook);
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (committed.conflict.kind !== "assertion")
      throw new Error(`a change of a webhook met ${committed.conflict.table}`);
  }
  return err({ code: "CONTENTION" });
}

/** The endpoint and the role to decide on: as they were read with the caller, or after a lost race as they are now. */
export async function standingOf(fx: WebhookEffects, of: ChangeOf, tries: number): Promise<Result<Standing, Failure>> {
  const seat = await actingSeat(fx, of, tries);
  if (!seat.ok) return seat;
  let webhook = of.read;
  if (tries > 0) {
    const rows = await readWithRetry(fx.sleep, async () => selectWebhook(fx.db, of));
    if (!rows.ok) return rows;
    webhook = rows.value[0];
  }
  return webhook === undefined ? err({ code: "WEBHOOK_NOT_FOUND" }) : ok({ webhook, seat: seat.value });
}

/** Whoever lost their place or the permission is told what they would be told at the door. */
export async function actingSeat(
  fx: WebhookEffects,
  { seat, ...actor }: WebhookActor,
  tries: number,
): Promise<Result<Seat | undefined, Failure>> {
  return tries === 0 || seat === undefined ? ok(seat) : seatNow(fx, { ...actor, seat });
}

/** Nothing is written for whoever is no longer who they were. */
export function seatHeld(fx: Pick<WebhookEffects, "db">, seat: Seat | undefined): readonly BatchItem<"sqlite">[] {
  return seat === undefined ? [] : [assertSeat(fx.db, { ...seat, id: seat.memberId })];
}

/** The batch that makes a change so; assertions first. */
export function changeStatements(
  fx: Pick<WebhookEffects, "db" | "nowMs">,
  { webhook, seat, trail }: Standing & Pick<WebhookActor, "trail">,
  { statements, entry }: WebhookChange,
  operationId: string,
): readonly BatchItem<"sqlite">[] {
  const audit = { id: derivedId("aud", operationId), merchantId: webhook.merchantId, target: webhook.id, ...entry };
  return [
    assertWebhookAsRead(fx.db, webhook),
    ...seatHeld(fx, seat),
    ...statements,
    insertAudit(fx.db, trail, audit, fx.nowMs),
  ];
}

/** `updated_at_ms` is what a batch rests on, so each change moves it on. */
export function movedOn({ nowMs }: Pick<WebhookEffects, "nowMs">, { updatedAtMs }: Webhook): number {
  return Math.max(nowMs, updatedAtMs + 1);
}

/** A secret in the clear, for the one answer that shows it, and the row that keeps it. */
export async function newSecret(
  fx: WebhookEffects,
  of: { readonly operationId: string; readonly webhookId: WebhookId; readonly createdAtMs: number },
): Promise<{ readonly secret: string; readonly row: WebhookSecret }> {
  const { operationId, webhookId, createdAtMs } = of;
  const secret = webhookSecret(fx.randomBytes(SECRET_BYTES));
  const id = derivedId("whs", operationId);
  const sealed = await fx.seal(secretContext(id), secret);
  return {
    secret,
    row: { id, webhookId, sealed, preview: secretKeyPreview(secret), expiresAtMs: null, createdAtMs },
  };
}
