// Entries of the audit log (decisions 10): a closed list of actions, the actor, and the changed fields. An entry never holds a secret, but a
// fingerprint or a name of it.
import type { ApiKeyId, AuditId, MerchantId, RequestId, UserId } from "../../lib/ids.ts";

export const AUDIT_ACTIONS = [
  "merchant.created",
  "merchant.updated",
  "merchant.deleted",
  "merchant.suspended",
  "merchant.resumed",
  "settings.updated",
  "team.security_updated",
  "team.member_joined",
  "team.member_removed",
  "team.member_left",
  "team.role_changed",
  "team.invitation_created",
  "team.invitation_resent",
  "team.invitation_revoked",
  "team.invitation_accepted",
  "api_key.created",
  "api_key.updated",
  "api_key.rotated",
  "api_key.deleted",
  "wallet.created",
  "wallet.updated",
  "wallet.deleted",
  "wallet.frozen",
  "wallet.disabled_by_link",
  "invoice.created",
  "invoice.updated",
  "invoice.payment_method_activated",
  "invoice.requoted",
  "invoice.status_changed",
  "invoice.cancelled",
  "invoice.resolved",
  /** Its rows were lost when the database was put back, and written again. */
  "invoice.restored",
  "payment.resolved",
  "product.created",
  "product.updated",
  "product.deleted",
  "customer.created",
  "customer.updated",
  "customer.deleted",
  "image.uploaded",
  "webhook.created",
  "webhook.updated",
  "webhook.deleted",
  "webhook.secret_rotated",
  // changes of a user's own account; they belong to no merchant
  "user.created",
  "user.updated",
  "session.created",
  "session.revoked",
  "session.stepped_up",
  "passkey.added",
  "passkey.renamed",
  "passkey.removed",
  "passkey.counter_rolled_back",
  "totp.enabled",
  "totp.disabled",
  "totp.backup_codes_replaced",
  "email_otp.enabled",
  "email_otp.disabled",
  "identity.linked",
  "identity.unlinked",
  // the deployment
  "deployment.set_up",
  "setup_link.created",
  "operator.added",
  "operator.removed",
  "network.paused",
  "network.resumed",
  "network.reread_requested",
  "network.reread_ended",
  "deployment.restored",
  "revocation.repeated",
  "restore_finding.reviewed",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const ACTOR_KINDS = ["USER", "API_KEY", "SYSTEM"] as const;

export type Actor =
  | { readonly kind: "USER"; readonly id: UserId }
  | { readonly kind: "API_KEY"; readonly id: ApiKeyId }
  | { readonly kind: "SYSTEM"; readonly id: null };

/** Actor, IP address and id of a request; every audit entry of the request has them. */
export interface Trail {
  readonly actor: Actor;
  readonly ip: string | null;
  readonly requestId: RequestId | null;
}

/** For cron runs and other work without a request. */
export const SYSTEM_TRAIL: Trail = { actor: { kind: "SYSTEM", id: null }, ip: null, requestId: null };

/** The changed fields by name; plain JSON, never a secret. */
export type AuditFacts = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AuditEntry {
  readonly id: AuditId;
  /** Null for a change of a user's own account. */
  readonly merchantId: MerchantId | null;
  readonly action: AuditAction;
  /** The id of the changed resource. */
  readonly target: string;
  readonly before?: AuditFacts | undefined;
  readonly after?: AuditFacts | undefined;
}

/** The members of `after` that differ from `before`, with their old values: the facts of an update's entry. */
export function changedFacts(
  before: AuditFacts,
  after: AuditFacts,
): { readonly before: AuditFacts; readonly after: AuditFacts } {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const pick = (from: AuditFacts) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}
