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
    error: STATUS_NAMES[status] ?? "Error",
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
      return { status: 401, message: "The x-api-key header is missing or not a valid API key" };
    case "IP_NOT_ALLOWED":
      return { status: 403, message: "This API key may not be used from this IP address" };
    case "MERCHANT_MISMATCH":
      return { status: 403, message: "This API key does not belong to the merchant in the path" };
    case "MERCHANT_NOT_FOUND":
      return { status: 404, message: "Merchant not found" };
    case "PERMISSION_DENIED":
      return {
        status: 403,
        message: `This API key lacks the permission ${failure.permission}`,
        facts: { permission: failure.permission },
      };
    case "PUBLIC_KEY_FORBIDDEN":
      return { status: 403, message: "A public key (pk_) cannot do this; use a secret key on your server" };
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
