// The one map from refusals to answers. Messages are for people and name what to do; `code` is what programs compare (Interface 7, decisions 1).
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Failure, FailureCode } from "../failures.ts";
import { answerHeaders } from "./security-headers.ts";

interface Answer {
  readonly status: ContentfulStatusCode;
  readonly message: string;
  /** Additive members of the envelope. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ErrorBody {
  readonly statusCode: number;
  readonly message: string;
  readonly error: string;
  readonly code: FailureCode;
  readonly requestId: string;
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** The answer to a failure: status, JSON envelope and headers, `own` ones beside them. */
export function failureResponse(
  failure: Failure,
  requestId: string,
  own: Readonly<Record<string, string>> = {},
): Response {
  const { status, message, facts, headers } = answerTo(failure);
  const envelope: ErrorBody = {
    statusCode: status,
    message,
    // The one code that the interface wants in both places (decisions 1).
    error: failure.code === "SECURITY_REQUIREMENT_NOT_MET" ? failure.code : (STATUS_NAMES[status] ?? "Error"),
    code: failure.code,
    requestId,
    ...facts,
  };
  return new Response(JSON.stringify(envelope), {
    status,
    headers: answerHeaders(requestId, { "content-type": "application/json; charset=utf-8", ...headers, ...own }),
  });
}

/** Seconds after which a caller should try again what failed for a passing reason. */
const RETRY_SOON = { "retry-after": "1" } as const;

function answerTo(failure: Failure): Answer {
  switch (failure.code) {
    case "VALIDATION_FAILED":
      return { status: 400, message: validationMessage(failure.details), facts: { details: failure.details } };
    case "MALFORMED_JSON":
      return { status: 400, message: "The body is not valid JSON in UTF-8" };
    case "UNSUPPORTED_MEDIA_TYPE":
      return { status: 415, message: "The body must be sent as content-type: application/json" };
    case "BODY_TOO_LARGE":
      return { status: 413, message: "The body is larger than 64 KiB" };
    case "ROUTE_NOT_FOUND":
      return { status: 404, message: "There is nothing at this path; the reference is at /docs" };
    case "METHOD_NOT_ALLOWED":
      return {
        status: 405,
        message: `This path takes ${failure.allow.join(", ")}`,
        headers: { allow: failure.allow.join(", ") },
      };
    case "UNAUTHORIZED":
      return {
        status: 401,
        message: "The x-api-key header is missing or not a valid API key, and nobody is signed in",
      };
    case "IP_NOT_ALLOWED":
      return { status: 403, message: "This API key may not be used from this IP address" };
    case "MERCHANT_MISMATCH":
      return { status: 403, message: "This API key does not belong to the merchant in the path" };
    case "MERCHANT_NOT_FOUND":
      return { status: 404, message: "Merchant not found" };
    case "PERMISSION_DENIED":
      return {
        status: 403,
        message: `This needs the permission ${failure.permission}`,
        facts: { permission: failure.permission },
      };
    case "PUBLIC_KEY_FORBIDDEN":
      return { status: 403, message: "A public key (pk_) cannot do this; use a secret key on your server" };
    case "SESSION_REQUIRED":
      return { status: 403, message: "This needs a person's session; an API key cannot do it" };
    case "ORIGIN_NOT_ALLOWED":
      return {
        status: 403,
        message: "A change in a session must come from our own origin: send it as the header Origin",
      };
    case "OWNER_REQUIRED":
      return { status: 403, message: "Only the owner can do this" };
    case "SECURITY_REQUIREMENT_NOT_MET":
      return {
        status: 403,
        message: `The team demands what your account lacks: ${failure.missing.join(", ")}. Add it under /api/v1/me`,
        facts: { missing: failure.missing },
      };
    case "SECOND_FACTOR_REQUIRED":
      return {
        status: 403,
        message: "Give the second factor first: /api/v1/auth/second-factor/verify",
        facts: { factors: failure.factors },
      };
    case "STEP_UP_REQUIRED":
      return {
        status: 403,
        message: "Prove again that it is you: /api/v1/auth/step-up/start, then /api/v1/auth/step-up/verify",
        facts: { factors: failure.factors },
      };
    case "INVALID_CODE":
      return { status: 401, message: "The code is wrong, used or expired; use a new one" };
    case "TOO_MANY_ATTEMPTS":
      return {
        status: 429,
        message: `Too many wrong codes; try again in ${failure.retryAfterSeconds} s`,
        headers: { "retry-after": String(failure.retryAfterSeconds) },
      };
    case "PASSKEY_REFUSED":
      return { status: 401, message: "The passkey's answer was not accepted" };
    case "PASSKEY_EXISTS":
      return { status: 409, message: "This passkey is registered already" };
    case "PASSKEY_NOT_FOUND":
      return { status: 404, message: "Passkey not found" };
    case "TOTP_ALREADY_ENABLED":
      return { status: 409, message: "An authenticator app is set up already; remove it first" };
    case "TOTP_NOT_ENABLED":
      return { status: 409, message: "No authenticator app is set up" };
    case "FACTOR_NOT_AVAILABLE":
      return {
        status: 422,
        message: `This factor cannot be used here; what can: ${failure.factors.join(", ")}`,
        facts: { factors: failure.factors },
      };
    case "SIGN_IN_REFUSED":
      return { status: 400, message: `Signing in failed: ${failure.reason}` };
    case "PROVIDER_NOT_CONFIGURED":
      return { status: 422, message: `This deployment has no sign-in with ${failure.provider}` };
    case "PROVIDER_UNAVAILABLE":
      return {
        status: 503,
        message: `The sign-in provider ${failure.provider} did not answer as it should; try again`,
        headers: RETRY_SOON,
      };
    case "IDENTITY_TAKEN":
      return { status: 409, message: "This identity is linked to another account" };
    case "IDENTITY_NOT_FOUND":
      return { status: 404, message: "No such identity is linked" };
    case "SESSION_NOT_FOUND":
      return { status: 404, message: "Session not found" };
    case "CONFIRMATION_MISMATCH":
      return { status: 422, message: "The name typed again is not the merchant's name; nothing was deleted" };
    case "MEMBER_NOT_FOUND":
      return { status: 404, message: "Member not found" };
    case "ALREADY_MEMBER":
      return { status: 409, message: "This person is a member of the team already" };
    case "INSUFFICIENT_RANK":
      return {
        status: 403,
        message:
          "Your role must be above both the present and the new role of the other person; OWNER passes by a transfer of ownership only",
      };
    case "OWNER_CANNOT_LEAVE":
      return { status: 403, message: "The owner cannot leave: transfer the ownership first" };
    case "ALREADY_OWNER":
      return { status: 409, message: "You are the owner already; transfer the ownership to another member" };
    case "OWNER_LACKS_FACTOR":
      return {
        status: 422,
        message: `You would lock yourself out: your own account lacks ${failure.missing.join(", ")}`,
        facts: { missing: failure.missing },
      };
    case "INVITATION_NOT_FOUND":
      return { status: 404, message: "Invitation not found" };
    case "INVITATION_EXPIRED":
      return { status: 410, message: "The invitation has expired; ask for a new one" };
    case "INVITATION_EMAIL_MISMATCH":
      return { status: 403, message: "The invitation is for another email address than that of this account" };
    case "INVITATION_EXISTS":
      return {
        status: 409,
        message: "This person has a pending invitation already; resend or revoke it",
        ...(failure.invitationId === undefined ? {} : { facts: { invitationId: failure.invitationId } }),
      };
    case "API_KEY_NOT_FOUND":
      return { status: 404, message: "API key not found" };
    case "PERMISSION_NOT_GRANTABLE":
      return {
        status: 403,
        message: `You cannot grant ${failure.permissions.join(", ")} to such a key`,
        facts: { permissions: failure.permissions },
      };
    case "PRODUCT_NOT_FOUND":
      return { status: 404, message: "Product not found" };
    case "PRODUCT_NOT_AVAILABLE":
      return { status: 422, message: "The product is not active" };
    case "CUSTOMER_NOT_FOUND":
      return { status: 404, message: "Customer not found" };
    case "CUSTOMER_EMAIL_EXISTS":
      return {
        status: 409,
        message: "Another customer has this email",
        ...(failure.customerId === undefined ? {} : { facts: { customerId: failure.customerId } }),
      };
    case "IMAGE_REFUSED":
      return { status: 400, message: `The image was not taken: ${failure.reason}` };
    case "IMAGE_NOT_FOUND":
      return { status: 404, message: "Image not found" };
    case "LINK_INVALID":
      return { status: 404, message: "The link is wrong, used or expired" };
    case "RATE_LIMITED":
      return {
        status: 429,
        message: `Rate limit exceeded; try again in ${failure.retryAfterSeconds} s`,
        headers: { "retry-after": String(failure.retryAfterSeconds) },
      };
    case "IDEMPOTENCY_KEY_INVALID":
      return { status: 400, message: "Idempotency-Key must have 1 to 255 characters" };
    case "IDEMPOTENCY_KEY_REUSED":
      return { status: 409, message: "Idempotency-Key was previously used with a different request body" };
    case "OPERATION_IN_PROGRESS":
      return {
        status: 503,
        message: "The first request with this Idempotency-Key is still running; try again with the same key",
        headers: { "retry-after": String(failure.retryAfterSeconds) },
      };
    case "UNSUPPORTED_PAIR":
      return { status: 400, message: `${failure.cryptocurrency} on ${failure.network} is not supported` };
    case "INVALID_ADDRESS":
      return { status: 400, message: `Invalid address: ${failure.reason}` };
    case "INVALID_XPUB":
      return { status: 400, message: `Invalid extended public key: ${failure.reason}` };
    case "DERIVATION_PATH_MISMATCH":
      return { status: 400, message: `Derivation path does not fit: ${failure.reason}` };
    case "XPUB_NOT_SUPPORTED":
      return { status: 400, message: `XPUB_WALLET is accepted only for BTC and LTC, not on ${failure.network}` };
    case "PRIVATE_KEY_REFUSED":
      return {
        status: 400,
        message:
          "This looks like a private key or seed phrase. Edgetill never takes one: nothing was stored. If it was real, consider it exposed and move the funds",
      };
    case "WALLET_EXISTS":
      return {
        status: 409,
        message: "A wallet for this cryptocurrency and network exists already; delete it first to rotate",
        ...(failure.walletId === undefined ? {} : { facts: { walletId: failure.walletId } }),
      };
    case "WALLET_HAS_ACTIVE_PAYMENTS":
      return { status: 409, message: "Cannot delete a wallet with active payments" };
    case "WALLET_NOT_FOUND":
      return { status: 404, message: "Wallet not found" };
    case "WALLET_FROZEN":
      return {
        status: 409,
        message: "The stored wallet fails its integrity check and is frozen; delete it and register it again",
      };
    case "WALLET_IS_NOT_XPUB":
      return { status: 400, message: "Only an XPUB_WALLET has derived addresses" };
    case "INVOICE_NOT_FOUND":
      return { status: 404, message: "Invoice not found" };
    case "EXTERNAL_ID_EXISTS":
      return {
        status: 409,
        message: "An invoice with this externalId exists already",
        ...(failure.invoiceId === undefined ? {} : { facts: { invoiceId: failure.invoiceId } }),
      };
    case "NO_ENABLED_WALLET":
      return { status: 422, message: `There is no enabled wallet for ${failure.cryptocurrency} on ${failure.network}` };
    case "INVOICE_NOT_PAYABLE":
      return { status: 422, message: `An invoice in ${failure.status} takes no payment method` };
    case "INVOICE_NOT_EDITABLE":
      return { status: 422, message: `An invoice in ${failure.status} cannot be changed; only AWAITING_PAYMENT can` };
    case "INVOICE_NOT_CANCELLABLE":
      return { status: 422, message: `An invoice in ${failure.status} cannot be cancelled; only AWAITING_PAYMENT can` };
    case "INVOICE_HAS_PAYMENTS":
      return { status: 422, message: "An invoice that has received money cannot be cancelled" };
    case "TOO_MANY_ACTIVE_INVOICES":
      return { status: 422, message: `The merchant has ${failure.limit} active invoices, its limit` };
    case "RATE_UNAVAILABLE":
      return {
        status: 503,
        message: "No trustworthy exchange rate is available right now",
        headers: { "retry-after": "30" },
      };
    case "AMOUNTS_EXHAUSTED":
      return { status: 409, message: "Every distinguishable amount at this price is in use on the wallet's address" };
    case "ANY_AMOUNT_NEEDS_OWN_ADDRESS":
      return {
        status: 422,
        message: "An any-amount invoice needs an address of its own: a direct wallet cannot take it",
      };
    case "KEY_SHARED":
      return {
        status: 409,
        message: "This extended key belongs to another wallet; too many of its addresses are unpaid",
      };
    case "PUBLIC_ADDRESS_LIMIT":
      return { status: 409, message: "Too many unpaid invoices from public keys hold an address of this wallet" };
    case "NETWORK_NOT_WATCHED":
      return {
        status: 503,
        message: `No chain source is configured for ${failure.network}`,
        headers: { "retry-after": "60" },
      };
    case "STORAGE_UNAVAILABLE":
      return { status: 503, message: "Storage did not answer; try again", headers: RETRY_SOON };
    case "CONTENTION":
      return { status: 503, message: "Too many changes at once; try again", headers: RETRY_SOON };
    case "INTERNAL_ERROR":
      return { status: 500, message: "Something went wrong on our side; the request id finds it in the log" };
  }
}

function validationMessage(details: readonly { readonly path: string; readonly message: string }[]): string {
  const [first] = details;
  if (first === undefined) return "The request does not match the schema";
  const where = first.path === "" ? "" : `${first.path}: `;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  return `${where}${first.message}${more}`;
}
