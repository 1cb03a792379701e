// The one map from failures to error responses; those of products, wallets, invoices, payments and webhooks are in `trade-errors.ts`.
// A message says what is wrong and what to do; programs compare `code` (Interface 7, decisions 1).
import type { Failure, FailureCode } from "../failures.ts";
import { answerHeaders } from "./security-headers.ts";
import { type Answer, type Answers, TRADE_ANSWERS } from "./trade-errors.ts";

interface ErrorBody {
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

/** The response to a failure: status, JSON envelope and headers. `own`: further headers, which replace headers of the same name. */
export function failureResponse(
  failure: Failure,
  requestId: string,
  own: Readonly<Record<string, string>> = {},
): Response {
  const { status, message, facts, headers } = answerTo(failure);
  const envelope: ErrorBody = {
    statusCode: status,
    message,
    // The interface names this code as the value of `error`; it is in `code` as well (decisions 1).
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

/** For temporary failures: the caller should try again after one second. */
const RETRY_SOON = { "retry-after": "1" } as const;

/** The answer to a failure, before it is wrapped in the envelope. */
export function answerTo<C extends FailureCode>(failure: Extract<Failure, { code: C }> & { readonly code: C }): Answer {
  // A separate variable, so that the compiler connects the response function with the type of its failure.
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
  UNSUPPORTED_MEDIA_TYPE: () => ({
    status: 415,
    message: "Send the body with the header content-type: application/json",
  }),
  BODY_TOO_LARGE: () => ({ status: 413, message: "The body is too large: at most 64 KiB are accepted" }),
  ROUTE_NOT_FOUND: () => ({ status: 404, message: "There is no route at this path; see the API reference at /docs" }),
  METHOD_NOT_ALLOWED: (failure) => ({
    status: 405,
    message: `This path does not support this method; use ${failure.allow.join(", ")}`,
    headers: { allow: failure.allow.join(", ") },
  }),
  UNAUTHORIZED: () => ({
    status: 401,
    message: "Authentication is required: send a valid API key in the x-api-key header, or sign in",
  }),
  IP_NOT_ALLOWED: () => ({
    status: 403,
    message: "This API key is not allowed from this IP address; change its allowedIps or use another key",
  }),
  MERCHANT_MISMATCH: () => ({
    status: 403,
    message: "This API key does not belong to the merchant in the path",
  }),
  MERCHANT_NOT_FOUND: () => ({ status: 404, message: "Merchant not found" }),
  PERMISSION_DENIED: (failure) => ({
    status: 403,
    message: `This request needs the permission ${failure.permission}`,
    facts: { permission: failure.permission },
  }),
  PUBLIC_KEY_FORBIDDEN: () => ({
    status: 403,
    message: "A public key (pk_) cannot do this; use a secret key on your server",
  }),
  SESSION_REQUIRED: () => ({
    status: 403,
    message: "This request needs a signed-in user; API keys are not accepted here",
  }),
  ORIGIN_NOT_ALLOWED: () => ({
    status: 403,
    message: "A change from a browser must come from this service's own origin; send that origin in the Origin header",
  }),
  OPERATOR_REQUIRED: () => ({ status: 403, message: "Only an operator of this deployment can do this" }),
  NOT_SET_UP: () => ({
    status: 503,
    message:
      "This deployment is not set up yet: its operator makes a set-up link with `npm run setup-link` and opens it",
    headers: { "retry-after": "60" },
  }),
  SETUP_LINK_INVALID: () => ({
    status: 404,
    message: "The set-up link is unknown, expired or already used; make a new one with `npm run setup-link`",
  }),
  SIGN_UP_CLOSED: () => ({
    status: 403,
    message: "There is no account with this email address, and new accounts are made by invitation only",
  }),
  USER_NOT_FOUND: () => ({ status: 404, message: "No user has this email address; they must sign in once first" }),
  OPERATOR_NOT_FOUND: () => ({ status: 404, message: "Operator not found" }),
  LAST_OPERATOR: () => ({
    status: 409,
    message: "This is the last operator; make another user an operator first",
  }),
  TEST_ALERT_MISSING: () => ({
    status: 409,
    message: "No test alert was accepted with the present settings of mail and of the receiver; send one first",
  }),
  NETWORK_NOT_FOUND: () => ({ status: 404, message: "There is no network with this name" }),
  REREAD_IN_PROGRESS: (failure) => ({
    status: 409,
    message: `Blocks ${failure.fromHeight} to ${failure.toHeight} of this network are being read again; wait until that has finished, or end it`,
  }),
  RESTORE_FINDING_NOT_FOUND: () => ({ status: 404, message: "There is no such finding of a restore" }),
  REREAD_NOT_FOUND: () => ({ status: 404, message: "No blocks of this network are being read again" }),
  MERCHANT_SUSPENDED: () => ({
    status: 403,
    message: "This merchant is suspended by the operator of this service and takes no new payments; ask the operator",
  }),
  OWNER_REQUIRED: () => ({ status: 403, message: "Only the owner can do this" }),
  SECURITY_REQUIREMENT_NOT_MET: (failure) => ({
    status: 403,
    message: `Your team requires security settings that your account does not have: ${failure.missing.join(", ")}. Add them under /api/v1/me`,
    facts: { missing: failure.missing },
  }),
  SECOND_FACTOR_REQUIRED: (failure) => ({
    status: 403,
    message: "The sign-in is not complete: send a second factor to /api/v1/auth/second-factor/verify",
    facts: { factors: failure.factors },
  }),
  STEP_UP_REQUIRED: (failure) => ({
    status: 403,
    message: "Confirm your identity again: call /api/v1/auth/step-up/start, then /api/v1/auth/step-up/verify",
    facts: { factors: failure.factors },
  }),
  INVALID_CODE: () => ({ status: 401, message: "The code is wrong, expired or already used; use a new one" }),
  TOO_MANY_ATTEMPTS: (failure) => ({
    status: 429,
    message: `Too many wrong codes; try again in ${failure.retryAfterSeconds} s`,
    headers: { "retry-after": String(failure.retryAfterSeconds) },
  }),
  PASSKEY_REFUSED: () => ({
    status: 401,
    message: "The passkey could not be verified; start again with a new challenge",
  }),
  PASSKEY_EXISTS: () => ({ status: 409, message: "This passkey is already registered" }),
  PASSKEY_NOT_FOUND: () => ({ status: 404, message: "Passkey not found" }),
  TOTP_ALREADY_ENABLED: () => ({ status: 409, message: "An authenticator app is already set up; remove it first" }),
  TOTP_NOT_ENABLED: () => ({ status: 409, message: "No authenticator app is set up" }),
  FACTOR_NOT_AVAILABLE: (failure) => ({
    status: 422,
    message: `This factor cannot be used here; use one of these: ${failure.factors.join(", ")}`,
    facts: { factors: failure.factors },
  }),
  SIGN_IN_REFUSED: (failure) => ({ status: 400, message: `Sign-in failed: ${failure.reason}` }),
  PROVIDER_NOT_CONFIGURED: (failure) => ({
    status: 422,
    message: `Sign-in with ${failure.provider} is not available on this deployment`,
  }),
  PROVIDER_UNAVAILABLE: (failure) => ({
    status: 503,
    message: `The sign-in provider ${failure.provider} could not be reached or gave an invalid response; try again`,
    headers: RETRY_SOON,
  }),
  IDENTITY_TAKEN: () => ({ status: 409, message: "This identity is linked to another account" }),
  IDENTITY_NOT_FOUND: () => ({ status: 404, message: "No such identity is linked to your account" }),
  SESSION_NOT_FOUND: () => ({ status: 404, message: "Session not found" }),
  CONFIRMATION_MISMATCH: () => ({
    status: 422,
    message: "The confirmation does not match the merchant's name; nothing was deleted",
  }),
  MEMBER_NOT_FOUND: () => ({ status: 404, message: "Member not found" }),
  ALREADY_MEMBER: () => ({ status: 409, message: "This user is already a member of the team" }),
  INSUFFICIENT_RANK: () => ({
    status: 403,
    message:
      "Your role must be higher than the other user's current role and their new role; to make a member OWNER, transfer the ownership",
  }),
  OWNER_CANNOT_LEAVE: () => ({ status: 403, message: "The owner cannot leave the team; transfer the ownership first" }),
  ALREADY_OWNER: () => ({
    status: 409,
    message: "You are already the owner; choose another member",
  }),
  OWNER_LACKS_FACTOR: (failure) => ({
    status: 422,
    message: `This would lock you out, because your own account does not have ${failure.missing.join(", ")}; add that first`,
    facts: { missing: failure.missing },
  }),
  INVITATION_NOT_FOUND: () => ({ status: 404, message: "Invitation not found" }),
  INVITATION_EXPIRED: () => ({ status: 410, message: "The invitation has expired; ask for a new one" }),
  INVITATION_EMAIL_MISMATCH: () => ({
    status: 403,
    message: "The invitation was sent to another email address; sign in with that address to accept it",
  }),
  INVITATION_EXISTS: (failure) => ({
    status: 409,
    message: "This email address already has a pending invitation; resend or revoke it",
    ...(failure.invitationId === undefined ? {} : { facts: { invitationId: failure.invitationId } }),
  }),
  API_KEY_NOT_FOUND: () => ({ status: 404, message: "API key not found" }),
  AUTHORIZATION_OVER: () => ({
    status: 409,
    message:
      "This request of an application was already answered, or is older than 30 minutes; ask again in the application",
  }),
  PERMISSION_NOT_GRANTABLE: (failure) => ({
    status: 403,
    message: `Your role or this kind of key does not allow these permissions: ${failure.permissions.join(", ")}`,
    facts: { permissions: failure.permissions },
  }),
  CHALLENGE_REQUIRED: ({ siteKey, action }) => ({
    status: 403,
    message: "This deployment asks browsers for a Turnstile token: send it in the header cf-turnstile-response",
    facts: { siteKey, action },
  }),
  CHALLENGE_FAILED: ({ siteKey, action }) => ({
    status: 403,
    message: "The Turnstile token is wrong, expired or already used; let the widget make a new one",
    facts: { siteKey, action },
  }),
  CHALLENGE_UNAVAILABLE: () => ({
    status: 503,
    message: "The Turnstile token could not be verified; try again",
    headers: RETRY_SOON,
  }),
  RATE_LIMITED: (failure) => ({
    status: 429,
    message: `Rate limit exceeded; try again in ${failure.retryAfterSeconds} s`,
    headers: { "retry-after": String(failure.retryAfterSeconds) },
  }),
  IDEMPOTENCY_KEY_INVALID: () => ({
    status: 400,
    message: "Idempotency-Key must have 1 to 255 characters in UTF-8",
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
    message: `The limit ${failure.name} is reached: at most ${failure.limit} are allowed`,
    facts: { name: failure.name, limit: failure.limit },
  }),
  STORAGE_UNAVAILABLE: ({ retryAfterSeconds = 1 }) => ({
    status: 503,
    message: "The storage did not respond; try again",
    headers: { "retry-after": String(retryAfterSeconds) },
  }),
  RESTORING: () => ({
    status: 503,
    message: "The deployment's database was restored, and what it lost is being recovered; try again in a minute",
    headers: { "retry-after": "30" },
  }),
  CONTENTION: () => ({ status: 503, message: "Too many concurrent changes; try again", headers: RETRY_SOON }),
  INTERNAL_ERROR: () => ({
    status: 500,
    message: "An internal error occurred; report it with the requestId",
  }),
};

function validationMessage(details: readonly { readonly path: string; readonly message: string }[]): string {
  const [first] = details;
  if (first === undefined) return "The request does not match the schema";
  const where = first.path === "" ? "" : `${first.path}: `;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  return `${where}${first.message}${more}`;
}
