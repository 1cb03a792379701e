// The one map from refusals to answers; what wallets, invoices and payments refuse is in `trade-errors.ts`. Messages are for people and name what to do; `code` is what programs compare (Interface 7, decisions 1).
import type { Failure, FailureCode } from "../failures.ts";
import { answerHeaders } from "./security-headers.ts";
import { type Answer, tradeAnswer } from "./trade-errors.ts";

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
    case "RATE_LIMITED":
      return {
        status: 429,
        message: `Rate limit exceeded; try again in ${failure.retryAfterSeconds} s`,
        headers: { "retry-after": String(failure.retryAfterSeconds) },
      };
    case "IDEMPOTENCY_KEY_INVALID":
      return { status: 400, message: "Idempotency-Key must be 1 to 255 characters, sent as UTF-8" };
    case "IDEMPOTENCY_KEY_REUSED":
      return { status: 409, message: "Idempotency-Key was previously used with a different request body" };
    case "OPERATION_IN_PROGRESS":
      return {
        status: 503,
        message: "The first request with this Idempotency-Key is still running; try again with the same key",
        headers: { "retry-after": String(failure.retryAfterSeconds) },
      };
    case "LIMIT_REACHED":
      return {
        status: 422,
        message: `There are as many as there may be: the limit ${failure.name} is ${failure.limit}`,
        facts: { name: failure.name, limit: failure.limit },
      };
    case "STORAGE_UNAVAILABLE":
      return { status: 503, message: "Storage did not answer; try again", headers: RETRY_SOON };
    case "CONTENTION":
      return { status: 503, message: "Too many changes at once; try again", headers: RETRY_SOON };
    case "INTERNAL_ERROR":
      return { status: 500, message: "Something went wrong on our side; the request id finds it in the log" };
  }
  return tradeAnswer(failure);
}

function validationMessage(details: readonly { readonly path: string; readonly message: string }[]): string {
  const [first] = details;
  if (first === undefined) return "The request does not match the schema";
  const where = first.path === "" ? "" : `${first.path}: `;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  return `${where}${first.message}${more}`;
}
