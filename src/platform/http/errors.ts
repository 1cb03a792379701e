// The one map from refusals to answers; what wallets, invoices and payments refuse is in `trade-errors.ts`. Messages are for people and name what to do; `code` is what programs compare (Interface 7, decisions 1).
import type { Failure, FailureCode } from "../failures.ts";
import { answerHeaders } from "./security-headers.ts";
import { type Answer, type Answers, TRADE_ANSWERS } from "./trade-errors.ts";

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

function answerTo<C extends FailureCode>(failure: Extract<Failure, { code: C }> & { readonly code: C }): Answer {
  // By itself, so that the compiler ties the answer to its failure.
  const code: C = failure.code;
  return ANSWERS[code](failure);
}

const ANSWERS: Answers<Failure> = {
  ...TRADE_ANSWERS,
  VALIDATION_FAILED: (failure) => ({
    status: 400,
    message: validationMessage(failure.details),
    facts: { details: failure.details },
  }),
  MALFORMED_JSON: () => ({ status: 400, message: "The body is not valid JSON in UTF-8" }),
  UNSUPPORTED_MEDIA_TYPE: () => ({ status: 415, message: "The body must be sent as content-type: application/json" }),
  BODY_TOO_LARGE: () => ({ status: 413, message: "The body is larger than 64 KiB" }),
  ROUTE_NOT_FOUND: () => ({ status: 404, message: "There is nothing at this path; the reference is at /docs" }),
  METHOD_NOT_ALLOWED: (failure) => ({
    status: 405,
    message: `This path takes ${failure.allow.join(", ")}`,
    headers: { allow: failure.allow.join(", ") },
  }),
  UNAUTHORIZED: () => ({
    status: 401,
    message: "The x-api-key header is missing or not a valid API key, and nobody is signed in",
  }),
  IP_NOT_ALLOWED: () => ({ status: 403, message: "This API key may not be used from this IP address" }),
  MERCHANT_MISMATCH: () => ({ status: 403, message: "This API key does not belong to the merchant in the path" }),
  MERCHANT_NOT_FOUND: () => ({ status: 404, message: "Merchant not found" }),
  PERMISSION_DENIED: (failure) => ({
    status: 403,
    message: `This needs the permission ${failure.permission}`,
    facts: { permission: failure.permission },
  }),
  PUBLIC_KEY_FORBIDDEN: () => ({
    status: 403,
    message: "A public key (pk_) cannot do this; use a secret key on your server",
  }),
  SESSION_REQUIRED: () => ({ status: 403, message: "This needs a person's session; an API key cannot do it" }),
  ORIGIN_NOT_ALLOWED: () => ({
    status: 403,
    message: "A change in a session must come from our own origin: send it as the header Origin",
  }),
  OWNER_REQUIRED: () => ({ status: 403, message: "Only the owner can do this" }),
  SECURITY_REQUIREMENT_NOT_MET: (failure) => ({
    status: 403,
    message: `The team demands what your account lacks: ${failure.missing.join(", ")}. Add it under /api/v1/me`,
    facts: { missing: failure.missing },
  }),
  SECOND_FACTOR_REQUIRED: (failure) => ({
    status: 403,
    message: "Give the second factor first: /api/v1/auth/second-factor/verify",
    facts: { factors: failure.factors },
  }),
  STEP_UP_REQUIRED: (failure) => ({
    status: 403,
    message: "Prove again that it is you: /api/v1/auth/step-up/start, then /api/v1/auth/step-up/verify",
    facts: { factors: failure.factors },
  }),
  INVALID_CODE: () => ({ status: 401, message: "The code is wrong, used or expired; use a new one" }),
  TOO_MANY_ATTEMPTS: (failure) => ({
    status: 429,
    message: `Too many wrong codes; try again in ${failure.retryAfterSeconds} s`,
    headers: { "retry-after": String(failure.retryAfterSeconds) },
  }),
  PASSKEY_REFUSED: () => ({ status: 401, message: "The passkey's answer was not accepted" }),
  PASSKEY_EXISTS: () => ({ status: 409, message: "This passkey is registered already" }),
  PASSKEY_NOT_FOUND: () => ({ status: 404, message: "Passkey not found" }),
  TOTP_ALREADY_ENABLED: () => ({ status: 409, message: "An authenticator app is set up already; remove it first" }),
  TOTP_NOT_ENABLED: () => ({ status: 409, message: "No authenticator app is set up" }),
  FACTOR_NOT_AVAILABLE: (failure) => ({
    status: 422,
    message: `This factor cannot be used here; what can: ${failure.factors.join(", ")}`,
    facts: { factors: failure.factors },
  }),
  SIGN_IN_REFUSED: (failure) => ({ status: 400, message: `Signing in failed: ${failure.reason}` }),
  PROVIDER_NOT_CONFIGURED: (failure) => ({
    status: 422,
    message: `This deployment has no sign-in with ${failure.provider}`,
  }),
  PROVIDER_UNAVAILABLE: (failure) => ({
    status: 503,
    message: `The sign-in provider ${failure.provider} did not answer as it should; try again`,
    headers: RETRY_SOON,
  }),
  IDENTITY_TAKEN: () => ({ status: 409, message: "This identity is linked to another account" }),
  IDENTITY_NOT_FOUND: () => ({ status: 404, message: "No such identity is linked" }),
  SESSION_NOT_FOUND: () => ({ status: 404, message: "Session not found" }),
  CONFIRMATION_MISMATCH: () => ({
    status: 422,
    message: "The name typed again is not the merchant's name; nothing was deleted",
  }),
  MEMBER_NOT_FOUND: () => ({ status: 404, message: "Member not found" }),
  ALREADY_MEMBER: () => ({ status: 409, message: "This person is a member of the team already" }),
  INSUFFICIENT_RANK: () => ({
    status: 403,
    message:
      "Your role must be above both the present and the new role of the other person; OWNER passes by a transfer of ownership only",
  }),
  OWNER_CANNOT_LEAVE: () => ({ status: 403, message: "The owner cannot leave: transfer the ownership first" }),
  ALREADY_OWNER: () => ({
    status: 409,
    message: "You are the owner already; transfer the ownership to another member",
  }),
  OWNER_LACKS_FACTOR: (failure) => ({
    status: 422,
    message: `You would lock yourself out: your own account lacks ${failure.missing.join(", ")}`,
    facts: { missing: failure.missing },
  }),
  INVITATION_NOT_FOUND: () => ({ status: 404, message: "Invitation not found" }),
  INVITATION_EXPIRED: () => ({ status: 410, message: "The invitation has expired; ask for a new one" }),
  INVITATION_EMAIL_MISMATCH: () => ({
    status: 403,
    message: "The invitation is for another email address than that of this account",
  }),
  INVITATION_EXISTS: (failure) => ({
    status: 409,
    message: "This person has a pending invitation already; resend or revoke it",
    ...(failure.invitationId === undefined ? {} : { facts: { invitationId: failure.invitationId } }),
  }),
  API_KEY_NOT_FOUND: () => ({ status: 404, message: "API key not found" }),
  PERMISSION_NOT_GRANTABLE: (failure) => ({
    status: 403,
    message: `You cannot grant ${failure.permissions.join(", ")} to such a key`,
    facts: { permissions: failure.permissions },
  }),
  RATE_LIMITED: (failure) => ({
    status: 429,
    message: `Rate limit exceeded; try again in ${failure.retryAfterSeconds} s`,
    headers: { "retry-after": String(failure.retryAfterSeconds) },
  }),
  IDEMPOTENCY_KEY_INVALID: () => ({
    status: 400,
    message: "Idempotency-Key must be 1 to 255 characters, sent as UTF-8",
  }),
  IDEMPOTENCY_KEY_REUSED: () => ({
    status: 409,
    message: "Idempotency-Key was previously used with a different request body",
  }),
  OPERATION_IN_PROGRESS: (failure) => ({
    status: 503,
    message: "The first request with this Idempotency-Key is still running; try again with the same key",
    headers: { "retry-after": String(failure.retryAfterSeconds) },
  }),
  LIMIT_REACHED: (failure) => ({
    status: 422,
    message: `There are as many as there may be: the limit ${failure.name} is ${failure.limit}`,
    facts: { name: failure.name, limit: failure.limit },
  }),
  STORAGE_UNAVAILABLE: () => ({ status: 503, message: "Storage did not answer; try again", headers: RETRY_SOON }),
  CONTENTION: () => ({ status: 503, message: "Too many changes at once; try again", headers: RETRY_SOON }),
  INTERNAL_ERROR: () => ({
    status: 500,
    message: "Something went wrong on our side; the request id finds it in the log",
  }),
};

function validationMessage(details: readonly { readonly path: string; readonly message: string }[]): string {
  const [first] = details;
  if (first === undefined) return "The request does not match the schema";
  const where = first.path === "" ? "" : `${first.path}: `;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  return `${where}${first.message}${more}`;
}
