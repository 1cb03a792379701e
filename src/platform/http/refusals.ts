// The error codes of each route: its own, and those of all routes of its kind. Both API references list exactly these.
import type { Failure, FailureCode } from "../failures.ts";
import { failureResponse } from "./errors.ts";
import { type RouteSpec, waitsForRestore } from "./route.ts";

/** Codes of every route, for the rate limit and for bugs. */
const ANY: readonly FailureCode[] = ["RATE_LIMITED", "INTERNAL_ERROR"];
/** Codes of a route that authenticates its caller: validation, authentication, storage (decisions 1). */
const GUARDED: readonly FailureCode[] = [
  "VALIDATION_FAILED",
  "UNAUTHORIZED",
  "SECOND_FACTOR_REQUIRED",
  "IP_NOT_ALLOWED",
  "STORAGE_UNAVAILABLE",
];
/** Codes of a merchant route (decisions 7). */
const MERCHANT: readonly FailureCode[] = [
  "MERCHANT_MISMATCH",
  "MERCHANT_NOT_FOUND",
  "PERMISSION_DENIED",
  "SECURITY_REQUIREMENT_NOT_MET",
];
/** Codes of a route that changes something: any such route may receive a body, even if it needs none. */
const CHANGING: readonly FailureCode[] = [
  "MALFORMED_JSON",
  "BODY_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "PRIVATE_KEY_REFUSED",
  "ORIGIN_NOT_ALLOWED",
];
/** Codes of a route that accepts an Idempotency-Key (decisions 6). */
const IDEMPOTENT: readonly FailureCode[] = [
  "IDEMPOTENCY_KEY_INVALID",
  "IDEMPOTENCY_KEY_REUSED",
  "OPERATION_IN_PROGRESS",
];

/** Codes of a route that may require a Turnstile token from callers with a public key. */
const CHALLENGED: readonly FailureCode[] = ["CHALLENGE_REQUIRED", "CHALLENGE_FAILED", "CHALLENGE_UNAVAILABLE"];

/** Every error code of a route, each once, its own first. Empty for a page, which shows no codes. */
export function refusalsOf(spec: RouteSpec): readonly FailureCode[] {
  if (spec.isPage) return [];
  const isGuarded = spec.callers !== "ANYBODY";
  const isMerchants = spec.callers === "MEMBER" || spec.callers === "MEMBER_OR_KEY";
  const isForKeys = spec.callers === "MEMBER_OR_KEY" || spec.callers === "KEY";
  const isChanging = spec.method !== "GET";
  return [
    ...new Set([
      ...spec.refusals,
      ...(spec.isIdempotent ? IDEMPOTENT : []),
      ...(spec.isChallenged ? CHALLENGED : []),
      ...(isChanging ? CHANGING : []).filter((code) => !(spec.isForAnyOrigin && code === "ORIGIN_NOT_ALLOWED")),
      ...(isChanging && isGuarded ? (["CONTENTION"] as const) : []),
      ...(spec.needsStepUp ? (["STEP_UP_REQUIRED"] as const) : []),
      ...(spec.isOwnerOnly ? (["OWNER_REQUIRED"] as const) : []),
      ...(spec.isOperatorOnly ? (["OPERATOR_REQUIRED"] as const) : []),
      ...(isForKeys ? (["PUBLIC_KEY_FORBIDDEN"] as const) : []),
      ...(isGuarded && !isForKeys ? (["SESSION_REQUIRED"] as const) : []),
      ...(isMerchants ? MERCHANT : []),
      ...(spec.callers === "KEY" ? (["MERCHANT_NOT_FOUND"] as const) : []),
      ...(isGuarded ? GUARDED : []).filter((code) => !(spec.callers === "KEY" && code === "SECOND_FACTOR_REQUIRED")),
      ...(waitsForRestore(spec) ? (["RESTORING"] as const) : []),
      ...ANY,
    ]),
  ];
}

/** The refusals of a page: it shows texts and no codes, so only their statuses are documented. */
export function pageRefusalsOf({ method }: RouteSpec): readonly FailureCode[] {
  const unread: readonly FailureCode[] = ["VALIDATION_FAILED", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];
  return ["ROUTE_NOT_FOUND", "RATE_LIMITED", "INTERNAL_ERROR", "RESTORING", ...(method === "GET" ? [] : unread)];
}

/** The HTTP status of a code; it does not depend on the failure's facts. */
export function refusalStatus(code: FailureCode): number {
  return failureResponse(SAMPLES[code], "").status;
}

/** One failure for each code. A code without a sample does not compile, so the catalogue is complete. */
export const SAMPLES: { readonly [C in Failure["code"]]: Extract<Failure, { code: C }> } = {
  VALIDATION_FAILED: { code: "VALIDATION_FAILED", details: [] },
  MALFORMED_JSON: { code: "MALFORMED_JSON" },
  UNSUPPORTED_MEDIA_TYPE: { code: "UNSUPPORTED_MEDIA_TYPE" },
  BODY_TOO_LARGE: { code: "BODY_TOO_LARGE" },
  ROUTE_NOT_FOUND: { code: "ROUTE_NOT_FOUND" },
  METHOD_NOT_ALLOWED: { code: "METHOD_NOT_ALLOWED", allow: ["GET"] },
  UNAUTHORIZED: { code: "UNAUTHORIZED" },
  IP_NOT_ALLOWED: { code: "IP_NOT_ALLOWED" },
  MERCHANT_MISMATCH: { code: "MERCHANT_MISMATCH" },
  MERCHANT_NOT_FOUND: { code: "MERCHANT_NOT_FOUND" },
  PERMISSION_DENIED: { code: "PERMISSION_DENIED", permission: "INVOICE_CREATE" },
  PUBLIC_KEY_FORBIDDEN: { code: "PUBLIC_KEY_FORBIDDEN" },
  SESSION_REQUIRED: { code: "SESSION_REQUIRED" },
  ORIGIN_NOT_ALLOWED: { code: "ORIGIN_NOT_ALLOWED" },
  OWNER_REQUIRED: { code: "OWNER_REQUIRED" },
  OPERATOR_REQUIRED: { code: "OPERATOR_REQUIRED" },
  NOT_SET_UP: { code: "NOT_SET_UP" },
  SETUP_LINK_INVALID: { code: "SETUP_LINK_INVALID" },
  SIGN_UP_CLOSED: { code: "SIGN_UP_CLOSED" },
  USER_NOT_FOUND: { code: "USER_NOT_FOUND" },
  OPERATOR_NOT_FOUND: { code: "OPERATOR_NOT_FOUND" },
  LAST_OPERATOR: { code: "LAST_OPERATOR" },
  TEST_ALERT_MISSING: { code: "TEST_ALERT_MISSING" },
  NETWORK_NOT_FOUND: { code: "NETWORK_NOT_FOUND" },
  REREAD_IN_PROGRESS: { code: "REREAD_IN_PROGRESS", fromHeight: 100, toHeight: 200 },
  REREAD_NOT_FOUND: { code: "REREAD_NOT_FOUND" },
  RESTORE_FINDING_NOT_FOUND: { code: "RESTORE_FINDING_NOT_FOUND" },
  MERCHANT_SUSPENDED: { code: "MERCHANT_SUSPENDED" },
  SECURITY_REQUIREMENT_NOT_MET: { code: "SECURITY_REQUIREMENT_NOT_MET", missing: ["tfa"] },
  SECOND_FACTOR_REQUIRED: { code: "SECOND_FACTOR_REQUIRED", factors: ["totp"] },
  STEP_UP_REQUIRED: { code: "STEP_UP_REQUIRED", factors: ["totp"] },
  INVALID_CODE: { code: "INVALID_CODE" },
  TOO_MANY_ATTEMPTS: { code: "TOO_MANY_ATTEMPTS", retryAfterSeconds: 60 },
  PASSKEY_REFUSED: { code: "PASSKEY_REFUSED" },
  PASSKEY_EXISTS: { code: "PASSKEY_EXISTS" },
  PASSKEY_NOT_FOUND: { code: "PASSKEY_NOT_FOUND" },
  TOTP_ALREADY_ENABLED: { code: "TOTP_ALREADY_ENABLED" },
  TOTP_NOT_ENABLED: { code: "TOTP_NOT_ENABLED" },
  FACTOR_NOT_AVAILABLE: { code: "FACTOR_NOT_AVAILABLE", factors: ["totp"] },
  SIGN_IN_REFUSED: { code: "SIGN_IN_REFUSED", reason: "the state is unknown" },
  PROVIDER_NOT_CONFIGURED: { code: "PROVIDER_NOT_CONFIGURED", provider: "google" },
  PROVIDER_UNAVAILABLE: { code: "PROVIDER_UNAVAILABLE", provider: "google" },
  IDENTITY_TAKEN: { code: "IDENTITY_TAKEN" },
  IDENTITY_NOT_FOUND: { code: "IDENTITY_NOT_FOUND" },
  SESSION_NOT_FOUND: { code: "SESSION_NOT_FOUND" },
  CONFIRMATION_MISMATCH: { code: "CONFIRMATION_MISMATCH" },
  MEMBER_NOT_FOUND: { code: "MEMBER_NOT_FOUND" },
  ALREADY_MEMBER: { code: "ALREADY_MEMBER" },
  INSUFFICIENT_RANK: { code: "INSUFFICIENT_RANK" },
  OWNER_CANNOT_LEAVE: { code: "OWNER_CANNOT_LEAVE" },
  ALREADY_OWNER: { code: "ALREADY_OWNER" },
  OWNER_LACKS_FACTOR: { code: "OWNER_LACKS_FACTOR", missing: ["tfa"] },
  INVITATION_NOT_FOUND: { code: "INVITATION_NOT_FOUND" },
  INVITATION_EXPIRED: { code: "INVITATION_EXPIRED" },
  INVITATION_EMAIL_MISMATCH: { code: "INVITATION_EMAIL_MISMATCH" },
  INVITATION_EXISTS: { code: "INVITATION_EXISTS", invitationId: undefined },
  API_KEY_NOT_FOUND: { code: "API_KEY_NOT_FOUND" },
  AUTHORIZATION_OVER: { code: "AUTHORIZATION_OVER" },
  PERMISSION_NOT_GRANTABLE: { code: "PERMISSION_NOT_GRANTABLE", permissions: ["WALLET_CREATE"] },
  PRODUCT_NOT_FOUND: { code: "PRODUCT_NOT_FOUND" },
  PRODUCT_NOT_AVAILABLE: { code: "PRODUCT_NOT_AVAILABLE" },
  PRICE_IS_FIXED: { code: "PRICE_IS_FIXED" },
  CUSTOMER_NOT_FOUND: { code: "CUSTOMER_NOT_FOUND" },
  CUSTOMER_EMAIL_EXISTS: { code: "CUSTOMER_EMAIL_EXISTS", customerId: undefined },
  IMAGE_REFUSED: { code: "IMAGE_REFUSED", reason: "it is larger than 32 KB" },
  IMAGE_NOT_FOUND: { code: "IMAGE_NOT_FOUND" },
  LINK_INVALID: { code: "LINK_INVALID" },
  CHALLENGE_REQUIRED: { code: "CHALLENGE_REQUIRED", siteKey: "0x4AAA", action: "invoice" },
  CHALLENGE_FAILED: { code: "CHALLENGE_FAILED", siteKey: "0x4AAA", action: "invoice" },
  CHALLENGE_UNAVAILABLE: { code: "CHALLENGE_UNAVAILABLE" },
  RATE_LIMITED: { code: "RATE_LIMITED", retryAfterSeconds: 60 },
  IDEMPOTENCY_KEY_INVALID: { code: "IDEMPOTENCY_KEY_INVALID" },
  IDEMPOTENCY_KEY_REUSED: { code: "IDEMPOTENCY_KEY_REUSED" },
  OPERATION_IN_PROGRESS: { code: "OPERATION_IN_PROGRESS", retryAfterSeconds: 1 },
  UNSUPPORTED_PAIR: { code: "UNSUPPORTED_PAIR", cryptocurrency: "DOGE", network: "ETH" },
  INVALID_ADDRESS: { code: "INVALID_ADDRESS", reason: "EIP-55 checksum fails" },
  INVALID_XPUB: { code: "INVALID_XPUB", reason: "the checksum fails" },
  DERIVATION_PATH_MISMATCH: { code: "DERIVATION_PATH_MISMATCH", reason: "a zpub belongs to purpose 84'" },
  XPUB_NOT_SUPPORTED: { code: "XPUB_NOT_SUPPORTED", network: "ETH" },
  PRIVATE_KEY_REFUSED: { code: "PRIVATE_KEY_REFUSED" },
  WALLET_EXISTS: { code: "WALLET_EXISTS", walletId: undefined },
  WALLET_HAS_ACTIVE_PAYMENTS: { code: "WALLET_HAS_ACTIVE_PAYMENTS", invoiceIds: ["inv_1"] },
  WALLET_NOT_FOUND: { code: "WALLET_NOT_FOUND" },
  WALLET_FROZEN: { code: "WALLET_FROZEN" },
  WALLET_IS_NOT_XPUB: { code: "WALLET_IS_NOT_XPUB" },
  INVOICE_NOT_FOUND: { code: "INVOICE_NOT_FOUND" },
  EXTERNAL_ID_EXISTS: { code: "EXTERNAL_ID_EXISTS", invoiceId: undefined },
  NO_ENABLED_WALLET: { code: "NO_ENABLED_WALLET", cryptocurrency: "USDT", network: "TRX" },
  INVOICE_NOT_PAYABLE: { code: "INVOICE_NOT_PAYABLE", status: "EXPIRED" },
  INVOICE_ENDED: { code: "INVOICE_ENDED", status: "PAID" },
  INVOICE_NOT_EDITABLE: { code: "INVOICE_NOT_EDITABLE", status: "PAID" },
  INVOICE_NOT_CANCELLABLE: { code: "INVOICE_NOT_CANCELLABLE", status: "PAID" },
  INVOICE_HAS_PAYMENTS: { code: "INVOICE_HAS_PAYMENTS" },
  TOO_MANY_ACTIVE_INVOICES: { code: "TOO_MANY_ACTIVE_INVOICES", limit: 10_000 },
  RATE_UNAVAILABLE: { code: "RATE_UNAVAILABLE" },
  CURRENCY_NOT_PRICED: { code: "CURRENCY_NOT_PRICED", currency: "LBP", isDisputed: true },
  AMOUNTS_EXHAUSTED: { code: "AMOUNTS_EXHAUSTED" },
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: { code: "ANY_AMOUNT_NEEDS_OWN_ADDRESS" },
  PUBLIC_ADDRESS_LIMIT: { code: "PUBLIC_ADDRESS_LIMIT" },
  NETWORK_NOT_WATCHED: { code: "NETWORK_NOT_WATCHED", network: "BTC" },
  INVOICE_NOT_RESOLVABLE: { code: "INVOICE_NOT_RESOLVABLE", status: "PAID" },
  NOTHING_TO_REVIEW: { code: "NOTHING_TO_REVIEW" },
  PAYMENT_NOT_FOUND: { code: "PAYMENT_NOT_FOUND" },
  PAYMENT_NOT_RESOLVABLE: { code: "PAYMENT_NOT_RESOLVABLE", status: "CONFIRMED" },
  TRANSACTION_NOT_FOUND: { code: "TRANSACTION_NOT_FOUND", network: "ETH" },
  CHAIN_UNAVAILABLE: { code: "CHAIN_UNAVAILABLE", network: "ETH" },
  NETWORK_NOT_OFFERED: { code: "NETWORK_NOT_OFFERED", networks: ["BTC"] },
  TOO_MANY_PAYMENTS: { code: "TOO_MANY_PAYMENTS", limit: 400 },
  EVENT_NOT_FOUND: { code: "EVENT_NOT_FOUND" },
  WEBHOOK_NOT_FOUND: { code: "WEBHOOK_NOT_FOUND" },
  WEBHOOK_URL_REFUSED: { code: "WEBHOOK_URL_REFUSED", reason: "the host is an IP address" },
  LIMIT_REACHED: { code: "LIMIT_REACHED", name: "webhookEndpointsPerMerchant", limit: 25 },
  WEBHOOK_INACTIVE: { code: "WEBHOOK_INACTIVE" },
  DELIVERY_NOT_FOUND: { code: "DELIVERY_NOT_FOUND" },
  REPLAY_TOO_LARGE: { code: "REPLAY_TOO_LARGE", limit: 10_000 },
  STORAGE_UNAVAILABLE: { code: "STORAGE_UNAVAILABLE" },
  RESTORING: { code: "RESTORING" },
  CONTENTION: { code: "CONTENTION" },
  INTERNAL_ERROR: { code: "INTERNAL_ERROR" },
};
