// Values that columns hold. They are declared here, next to the tables, because rules in every part of the service use them.

export const INVOICE_STATUSES = [
  "AWAITING_PAYMENT",
  "PENDING_CONFIRMATION",
  "PAID",
  "OVERPAID",
  "UNDERPAID",
  "EXPIRED",
  "CANCELLED",
] as const;

export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** How an invoice was created: by a merchant's server or member, by a browser with a public key, or through the form on a product page. */
export const INVOICE_ORIGINS = ["API", "PUBLIC_KEY", "PRODUCT_PAGE"] as const;

export type InvoiceOrigin = (typeof INVOICE_ORIGINS)[number];

/**
 * A merchant's rank at an address that several merchants registered. 1: reserved for a signature that proves control of it; nothing assigns it yet.
 * 2: enough money was confirmed there, and at least a tenth of the highest amount of any merchant there, because anyone can pay a little to an
 * address. 3: all other merchants.
 */
export type Rank = 1 | 2 | 3;

/** The actions in the audit log (decisions 10); the list is closed. */
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
  /** The invoice's rows were lost when the database was restored, and were written again. */
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
  // changes to a user's own account; they belong to no merchant
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
  "alerts.proved",
  "alerts.dismissed",
  "network.paused",
  "network.resumed",
  "network.reread_requested",
  "network.reread_ended",
  "deployment.restored",
  "revocation.repeated",
  "restore_finding.reviewed",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];
