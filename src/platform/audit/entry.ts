// Entries of the audit log (decisions 10): the action, the actor, and the changed fields. An entry never contains a secret, only the secret's name or
// a fingerprint.
import type { ApiKeyId, AuditId, MerchantId, RequestId, UserId } from "../../lib/ids.ts";
import type { AuditAction } from "../column-values.ts";

export const ACTOR_KINDS = ["USER", "API_KEY", "SYSTEM"] as const;

export type Actor =
  | { readonly kind: "USER"; readonly id: UserId }
  | { readonly kind: "API_KEY"; readonly id: ApiKeyId }
  | { readonly kind: "SYSTEM"; readonly id: null };

/** The actor, the IP address and the id of a request; all audit entries of the request have them. */
export interface Trail {
  readonly actor: Actor;
  readonly ip: string | null;
  readonly requestId: RequestId | null;
}

/** The trail of cron runs and other work without a request. */
export const SYSTEM_TRAIL: Trail = { actor: { kind: "SYSTEM", id: null }, ip: null, requestId: null };

/** The changed fields by name; plain JSON, never a secret. */
export type AuditFacts = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AuditEntry {
  readonly id: AuditId;
  /** Null for a change to a user's own account or to the deployment. */
  readonly merchantId: MerchantId | null;
  readonly action: AuditAction;
  /** The id of the changed resource. */
  readonly target: string;
  readonly before?: AuditFacts | undefined;
  readonly after?: AuditFacts | undefined;
}

/** The members of `after` that differ from `before`, with their old values: the facts of an entry about an update. */
export function changedFacts(
  before: AuditFacts,
  after: AuditFacts,
): { readonly before: AuditFacts; readonly after: AuditFacts } {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const pick = (from: AuditFacts) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}
