// The closed union of failures, each with its facts. Operations return its members, `http/errors.ts` maps each to a status and a message, and
// the reference at /docs lists the codes. Storage faults that a retry may cure are members too.
import type { CustomerId, InvitationId, InvoiceId, WalletId } from "../lib/ids.ts";
import type { LimitName } from "../lib/limits.ts";

export interface FieldProblem {
  /** Path of the field in the body or query, joined by dots; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

export type Failure =
  | TradeFailure
  // the request
  | { readonly code: "VALIDATION_FAILED"; readonly details: readonly FieldProblem[] }
  | { readonly code: "MALFORMED_JSON" }
  | { readonly code: "UNSUPPORTED_MEDIA_TYPE" }
  | { readonly code: "BODY_TOO_LARGE" }
  | { readonly code: "ROUTE_NOT_FOUND" }
  | { readonly code: "METHOD_NOT_ALLOWED"; readonly allow: readonly string[] }
  // who is calling, and what they may do
  | { readonly code: "UNAUTHORIZED" }
  | { readonly code: "IP_NOT_ALLOWED" }
  | { readonly code: "MERCHANT_MISMATCH" }
  | { readonly code: "MERCHANT_NOT_FOUND" }
  | { readonly code: "PERMISSION_DENIED"; readonly permission: string }
  | { readonly code: "PUBLIC_KEY_FORBIDDEN" }
  /** `siteKey` and `action`: for the widget that issues a token. */
  | { readonly code: "CHALLENGE_REQUIRED"; readonly siteKey: string; readonly action: string }
  | { readonly code: "CHALLENGE_FAILED"; readonly siteKey: string; readonly action: string }
  | { readonly code: "CHALLENGE_UNAVAILABLE" }
  | { readonly code: "RATE_LIMITED"; readonly retryAfterSeconds: number }
  | { readonly code: "SESSION_REQUIRED" }
  | { readonly code: "ORIGIN_NOT_ALLOWED" }
  | { readonly code: "OWNER_REQUIRED" }
  | { readonly code: "OPERATOR_REQUIRED" }
  | { readonly code: "SECURITY_REQUIREMENT_NOT_MET"; readonly missing: readonly string[] }
  /** `factors`: the factors that this user can use. */
  | { readonly code: "SECOND_FACTOR_REQUIRED"; readonly factors: readonly string[] }
  | { readonly code: "STEP_UP_REQUIRED"; readonly factors: readonly string[] }
  // sign-in, factors and identities; a failure never says which of several secrets was wrong
  | { readonly code: "INVALID_CODE" }
  | { readonly code: "TOO_MANY_ATTEMPTS"; readonly retryAfterSeconds: number }
  | { readonly code: "PASSKEY_REFUSED" }
  | { readonly code: "PASSKEY_EXISTS" }
  | { readonly code: "PASSKEY_NOT_FOUND" }
  | { readonly code: "TOTP_ALREADY_ENABLED" }
  | { readonly code: "TOTP_NOT_ENABLED" }
  | { readonly code: "FACTOR_NOT_AVAILABLE"; readonly factors: readonly string[] }
  | { readonly code: "SIGN_IN_REFUSED"; readonly reason: string }
  | { readonly code: "PROVIDER_NOT_CONFIGURED"; readonly provider: string }
  | { readonly code: "PROVIDER_UNAVAILABLE"; readonly provider: string }
  | { readonly code: "IDENTITY_TAKEN" }
  | { readonly code: "IDENTITY_NOT_FOUND" }
  | { readonly code: "SESSION_NOT_FOUND" }
  // the deployment: its set-up, its operators, who may have an account
  | { readonly code: "NOT_SET_UP" }
  | { readonly code: "SETUP_LINK_INVALID" }
  | { readonly code: "SIGN_UP_CLOSED" }
  | { readonly code: "USER_NOT_FOUND" }
  | { readonly code: "OPERATOR_NOT_FOUND" }
  | { readonly code: "LAST_OPERATOR" }
  | { readonly code: "TEST_ALERT_MISSING" }
  | { readonly code: "NETWORK_NOT_FOUND" }
  | { readonly code: "REREAD_IN_PROGRESS"; readonly fromHeight: number; readonly toHeight: number }
  | { readonly code: "REREAD_NOT_FOUND" }
  | { readonly code: "RESTORE_FINDING_NOT_FOUND" }
  // merchants, teams and keys
  | { readonly code: "CONFIRMATION_MISMATCH" }
  | { readonly code: "MERCHANT_SUSPENDED" }
  | { readonly code: "MEMBER_NOT_FOUND" }
  | { readonly code: "ALREADY_MEMBER" }
  | { readonly code: "INSUFFICIENT_RANK" }
  | { readonly code: "OWNER_CANNOT_LEAVE" }
  | { readonly code: "ALREADY_OWNER" }
  | { readonly code: "OWNER_LACKS_FACTOR"; readonly missing: readonly string[] }
  | { readonly code: "INVITATION_NOT_FOUND" }
  | { readonly code: "INVITATION_EXPIRED" }
  | { readonly code: "INVITATION_EMAIL_MISMATCH" }
  | { readonly code: "INVITATION_EXISTS"; readonly invitationId: InvitationId | undefined }
  | { readonly code: "API_KEY_NOT_FOUND" }
  | { readonly code: "PERMISSION_NOT_GRANTABLE"; readonly permissions: readonly string[] }
  | { readonly code: "AUTHORIZATION_OVER" }
  // idempotency
  | { readonly code: "IDEMPOTENCY_KEY_INVALID" }
  | { readonly code: "IDEMPOTENCY_KEY_REUSED" }
  | { readonly code: "OPERATION_IN_PROGRESS"; readonly retryAfterSeconds: number }
  /** `name`: the limit's name in docs/limits.md. */
  | { readonly code: "LIMIT_REACHED"; readonly name: LimitName; readonly limit: number }
  // outages of a service that the operation needed; safe to repeat
  | { readonly code: "STORAGE_UNAVAILABLE"; readonly retryAfterSeconds?: number }
  /** The database was restored, and what it lost is not recovered yet. */
  | { readonly code: "RESTORING" }
  | { readonly code: "CONTENTION" }
  | { readonly code: "INTERNAL_ERROR" };

/** Failures of products, customers, wallets, invoices, payments and webhooks. */
export type TradeFailure =
  // products, customers and images
  | { readonly code: "PRODUCT_NOT_FOUND" }
  | { readonly code: "PRODUCT_NOT_AVAILABLE" }
  | { readonly code: "PRICE_IS_FIXED" }
  | { readonly code: "CUSTOMER_NOT_FOUND" }
  | { readonly code: "CUSTOMER_EMAIL_EXISTS"; readonly customerId: CustomerId | undefined }
  | { readonly code: "IMAGE_REFUSED"; readonly reason: string }
  | { readonly code: "IMAGE_NOT_FOUND" }
  | { readonly code: "LINK_INVALID" }
  // wallets
  | { readonly code: "UNSUPPORTED_PAIR"; readonly cryptocurrency: string; readonly network: string }
  | { readonly code: "INVALID_ADDRESS"; readonly reason: string }
  | { readonly code: "INVALID_XPUB"; readonly reason: string }
  | { readonly code: "DERIVATION_PATH_MISMATCH"; readonly reason: string }
  | { readonly code: "XPUB_NOT_SUPPORTED"; readonly network: string }
  | { readonly code: "PRIVATE_KEY_REFUSED" }
  | { readonly code: "WALLET_EXISTS"; readonly walletId: WalletId | undefined }
  | { readonly code: "WALLET_HAS_ACTIVE_PAYMENTS"; readonly invoiceIds: readonly InvoiceId[] }
  | { readonly code: "WALLET_NOT_FOUND" }
  | { readonly code: "WALLET_FROZEN" }
  | { readonly code: "WALLET_IS_NOT_XPUB" }
  // invoices
  | { readonly code: "INVOICE_NOT_FOUND" }
  | { readonly code: "EXTERNAL_ID_EXISTS"; readonly invoiceId: InvoiceId | undefined }
  | { readonly code: "NO_ENABLED_WALLET"; readonly cryptocurrency: string; readonly network: string }
  | { readonly code: "INVOICE_NOT_PAYABLE"; readonly status: string }
  | { readonly code: "INVOICE_ENDED"; readonly status: string }
  | { readonly code: "INVOICE_NOT_EDITABLE"; readonly status: string }
  | { readonly code: "INVOICE_NOT_CANCELLABLE"; readonly status: string }
  | { readonly code: "INVOICE_HAS_PAYMENTS" }
  | { readonly code: "TOO_MANY_ACTIVE_INVOICES"; readonly limit: number }
  | { readonly code: "RATE_UNAVAILABLE" }
  | { readonly code: "CURRENCY_NOT_PRICED"; readonly currency: string; readonly isDisputed: boolean }
  | { readonly code: "AMOUNTS_EXHAUSTED" }
  | { readonly code: "ANY_AMOUNT_NEEDS_OWN_ADDRESS" }
  | { readonly code: "PUBLIC_ADDRESS_LIMIT" }
  | { readonly code: "NETWORK_NOT_WATCHED"; readonly network: string }
  // payments
  | { readonly code: "INVOICE_NOT_RESOLVABLE"; readonly status: string }
  | { readonly code: "NOTHING_TO_REVIEW" }
  | { readonly code: "PAYMENT_NOT_FOUND" }
  | { readonly code: "PAYMENT_NOT_RESOLVABLE"; readonly status: string }
  | { readonly code: "TRANSACTION_NOT_FOUND"; readonly network: string }
  | { readonly code: "CHAIN_UNAVAILABLE"; readonly network: string }
  /** `networks`: the networks on which the invoice can be paid. */
  | { readonly code: "NETWORK_NOT_OFFERED"; readonly networks: readonly string[] }
  | { readonly code: "TOO_MANY_PAYMENTS"; readonly limit: number }
  // events and webhooks
  | { readonly code: "EVENT_NOT_FOUND" }
  | { readonly code: "WEBHOOK_NOT_FOUND" }
  | { readonly code: "WEBHOOK_URL_REFUSED"; readonly reason: string }
  | { readonly code: "WEBHOOK_INACTIVE" }
  | { readonly code: "DELIVERY_NOT_FOUND" }
  | { readonly code: "REPLAY_TOO_LARGE"; readonly limit: number };

export type FailureCode = Failure["code"];
