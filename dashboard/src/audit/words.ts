// The words for an entry of the log: its action and its changed fields.
import type { AuditEvent } from "../api/operations.ts";

type Action = AuditEvent["action"];

/** The actions in a merchant's log. What users do with their own accounts is on their Account page. */
export const ACTIONS = {
  "merchant.created": "Created the merchant",
  "merchant.updated": "Renamed the merchant",
  "merchant.deleted": "Deleted the merchant",
  "merchant.suspended": "Suspended the merchant (operator)",
  "merchant.resumed": "Ended the suspension (operator)",
  "settings.updated": "Changed settings",
  "team.security_updated": "Changed required sign-in methods",
  "team.member_joined": "Joined the team",
  "team.member_removed": "Removed a member",
  "team.member_left": "Left the team",
  "team.role_changed": "Changed a role",
  "team.invitation_created": "Invited someone",
  "team.invitation_resent": "Sent an invitation again",
  "team.invitation_revoked": "Revoked an invitation",
  "team.invitation_accepted": "Accepted an invitation",
  "api_key.created": "Created an API key",
  "api_key.updated": "Changed an API key",
  "api_key.rotated": "Rotated an API key",
  "api_key.deleted": "Revoked an API key",
  "wallet.created": "Added a wallet",
  "wallet.updated": "Changed a wallet",
  "wallet.deleted": "Deleted a wallet",
  "wallet.frozen": "Stopped using an altered wallet",
  "wallet.disabled_by_link": "Disabled a wallet with the link in an email",
  "invoice.created": "Created an invoice",
  "invoice.updated": "Changed an invoice",
  "invoice.payment_method_activated": "Added a payment method to an invoice",
  "invoice.requoted": "Renewed a quote",
  "invoice.status_changed": "Changed an invoice's status",
  "invoice.cancelled": "Cancelled an invoice",
  "invoice.resolved": "Resolved an invoice",
  "payment.resolved": "Resolved a payment",
  "product.created": "Created a product",
  "product.updated": "Changed a product",
  "product.deleted": "Deleted a product",
  "customer.created": "Created a customer",
  "customer.updated": "Changed a customer",
  "customer.deleted": "Erased a customer",
  "image.uploaded": "Uploaded an image",
  "webhook.created": "Created an endpoint",
  "webhook.updated": "Changed an endpoint",
  "webhook.deleted": "Deleted an endpoint",
  "webhook.secret_rotated": "Rotated an endpoint's secret",
} as const satisfies Readonly<Partial<Record<Action, string>>>;

export type KnownAction = keyof typeof ACTIONS;

export function isKnownAction(action: unknown): action is KnownAction {
  return typeof action === "string" && Object.hasOwn(ACTIONS, action);
}

export function actionWords(action: Action): string {
  return isKnownAction(action) ? ACTIONS[action] : action;
}

interface Change {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

type Fact = NonNullable<AuditEvent["before"]>[string] | undefined;

/** Each field that an entry names, in the entry's order. */
export function changesOf({ before, after }: Pick<AuditEvent, "before" | "after">): readonly Change[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return fields.map((field) => ({
    field: fieldWords(field),
    before: shown(before?.[field]),
    after: shown(after?.[field]),
  }));
}

/** Names for fields whose own names are not clear enough. */
const FIELDS: Readonly<Record<string, string>> = {
  underpaidTolerancePercent: "Accepted underpayment (%)",
  underpaidToleranceMax: "Maximum underpayment",
  overpaidTolerancePercent: "Accepted overpayment (%)",
  latePaymentPolicy: "Late payments",
  lateGraceSeconds: "Grace period (seconds)",
  quorumAboveAmount: "Amount that requires two data sources",
  rawAmount: "Amount",
  allowedIps: "Allowed IP addresses",
  frameAncestors: "Sites that may embed the checkout",
};

/** Turns `requiredConfirmations` into `Required confirmations`. */
function fieldWords(field: string): string {
  const known = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  if (known !== undefined) return known;
  const words = field
    .replaceAll(/[._]/g, " ")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function shown(fact: Fact): string {
  if (fact === undefined || fact === null || fact === "") return "none";
  if (typeof fact === "boolean") return fact ? "yes" : "no";
  if (typeof fact === "object") return fact.length === 0 ? "none" : fact.join(", ");
  return String(fact);
}
