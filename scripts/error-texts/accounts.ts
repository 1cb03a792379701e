// Texts for errors in a request itself, for errors of the deployment, and for errors about users, their permissions and their teams.
import { type ErrorTexts, READ_THE_LIST, WAIT } from "./error-text.ts";

export const REQUEST = {
  VALIDATION_FAILED: {
    means: "A field of the body or a parameter of the query is missing, unknown or wrong",
    remedy: "Correct what `details` names: each entry has the `path` of a field and a `message`",
  },
  MALFORMED_JSON: { means: "The body is not JSON, or not UTF-8", remedy: "Send the output of a JSON library" },
  UNSUPPORTED_MEDIA_TYPE: {
    means: "The body has the wrong content type",
    remedy: "Send the header `content-type: application/json`",
  },
  BODY_TOO_LARGE: { means: "The body is larger than 64 KiB", remedy: "Send less; an image may have 32 KB" },
  ROUTE_NOT_FOUND: { means: "No route has this path", remedy: "Compare the path with the reference at `/docs`" },
  METHOD_NOT_ALLOWED: {
    means: "The path exists, but not with this method",
    remedy: "Use a method that the header `Allow` names",
  },
  RATE_LIMITED: {
    means: "You sent too many requests, or repeated this operation too often",
    remedy: `${WAIT}. The limits are in [docs/limits.md](../limits.md)`,
  },
  LIMIT_REACHED: {
    means: "You have reached a limit; `name` says which",
    remedy:
      "Look up `name` in [docs/limits.md](../limits.md), then delete something, wait, or change the setting that is given there",
  },
  IDEMPOTENCY_KEY_INVALID: {
    means: "The `Idempotency-Key` has more than 255 characters, or is not UTF-8",
    remedy: "Send a shorter key, such as the number of your order",
  },
  IDEMPOTENCY_KEY_REUSED: {
    means: "The `Idempotency-Key` was used for another request in the last 24 hours",
    remedy: "Give each new request a key of its own; repeat a request with exactly the same body",
  },
  OPERATION_IN_PROGRESS: {
    means: "The first request with this `Idempotency-Key` has not ended",
    remedy: `${WAIT} with the same key: it gets the first request's answer`,
  },
} as const satisfies ErrorTexts;

export const ACCESS = {
  UNAUTHORIZED: {
    means: "There is no valid API key and no valid session. A deleted or expired key counts as wrong",
    remedy: "Send the header `x-api-key`, or sign in",
  },
  IP_NOT_ALLOWED: {
    means: "The API key may be used from certain IP addresses only",
    remedy: "Add your server's address to the key's `allowedIps`, or send from one on that list",
  },
  MERCHANT_MISMATCH: {
    means: "The API key does not belong to the merchant in the path",
    remedy: "Use the merchant id that belongs to the key",
  },
  MERCHANT_NOT_FOUND: {
    means: "There is no such merchant, or you are not a member of its team",
    remedy: "Check the id; ask the owner for an invitation",
  },
  PERMISSION_DENIED: {
    means: "Your role, or your API key, lacks the permission that `permission` names",
    remedy: "Ask an owner or admin for a higher role, or create a key that has the permission",
  },
  PUBLIC_KEY_FORBIDDEN: {
    means: "A public key (`pk_`) cannot do this, or cannot send one of these fields",
    remedy: "Send the request from your server with a secret key (`sk_`)",
  },
  SESSION_REQUIRED: {
    means: "An API key cannot do this",
    remedy: "Sign in as a user and use the session's cookie",
  },
  ORIGIN_NOT_ALLOWED: {
    means: "A change in a session did not come from the deployment's own origin",
    remedy: "Send the header `Origin` with the deployment's origin; browsers do so automatically",
  },
  OWNER_REQUIRED: { means: "Only the owner can do this", remedy: "Ask the owner" },
  OPERATOR_REQUIRED: {
    means: "Only those who run the deployment can do this",
    remedy: "Ask an operator to do it, or to make you one",
  },
  SECURITY_REQUIREMENT_NOT_MET: {
    means: "The team requires something of its members that your account lacks: `missing` names it",
    remedy: "Add it under `/api/v1/me`, then repeat the request",
  },
  SECOND_FACTOR_REQUIRED: {
    means: "The sign-in is not complete: a second factor is due",
    remedy: "Call `/api/v1/auth/second-factor/start`, then `/verify` with one of `factors`",
  },
  STEP_UP_REQUIRED: {
    means: "The change is sensitive, and your last proof of a factor is older than five minutes",
    remedy: "Call `/api/v1/auth/step-up/start`, then `/verify` with one of `factors`, then repeat the request",
  },
} as const satisfies ErrorTexts;

export const DEPLOYMENT = {
  NOT_SET_UP: {
    means: "No one has redeemed a set-up link yet, and until then the deployment serves only its set-up",
    remedy: "Run `npm run setup-link` and open the link that it prints ([Deploying](../operations/deploy.md))",
  },
  SETUP_LINK_INVALID: {
    means: "The set-up link is unknown, used, replaced by a newer one, or older than 24 hours",
    remedy: "Run `npm run setup-link` again",
  },
  SIGN_UP_CLOSED: {
    means: "No account has this address, no invitation waits for it, and `SIGN_UP` lets only invited people in",
    remedy: "Ask the owner or an admin of a team for an invitation, or sign in with another address",
  },
  USER_NOT_FOUND: {
    means: "No user has this email address",
    remedy: "Ask them to sign in once; where sign-up is closed, invite them to a team first",
  },
  OPERATOR_NOT_FOUND: { means: "There is no operator with this id", remedy: "Read the list of operators again" },
  LAST_OPERATOR: {
    means: "This user is the only operator",
    remedy: "Make another user an operator first: `POST /api/v1/operator/operators`",
  },
  TEST_ALERT_MISSING: {
    means: "No test alert was accepted with the present settings of mail and of the receiver, so none can have arrived",
    remedy: "Send one: `POST /api/v1/operator/alerts/test`; its answer says why it was not accepted",
  },
  NETWORK_NOT_FOUND: {
    means: "No network has this name",
    remedy: "Take the name from `GET /api/v1/operator/networks`",
  },
  REREAD_IN_PROGRESS: {
    means: "Another range of this network is being read again",
    remedy: "Wait until it has ended, or end it: `DELETE /api/v1/operator/networks/{network}/reread`",
  },
  RESTORE_FINDING_NOT_FOUND: {
    means: "No import after a restore has a finding with this id",
    remedy: "Take the id from the list of findings",
  },
  REREAD_NOT_FOUND: {
    means: "No range of this network is being read again",
    remedy: "Nothing: it has ended, or someone else ended it",
  },
  MERCHANT_SUSPENDED: {
    means:
      "An operator has suspended the merchant, so it makes no new invoices and gives payers no new address or amount; existing payments are still found",
    remedy: "Ask the deployment's operator. A stored answer is still replayed under its `Idempotency-Key`",
  },
} as const satisfies ErrorTexts;

export const SIGN_IN = {
  INVALID_CODE: {
    means: "The code is wrong, used or expired, or was asked for in another browser",
    remedy: "Ask for a new code and enter it in the browser that asked",
  },
  TOO_MANY_ATTEMPTS: {
    means: "Too many wrong codes were entered",
    remedy: "Wait as long as `Retry-After` says; until then even the right code is refused",
  },
  PASSKEY_REFUSED: {
    means: "The passkey's answer could not be verified",
    remedy: "Start again: the options work once, and for a short time",
  },
  PASSKEY_EXISTS: { means: "This passkey is already registered", remedy: "Use it, or register another" },
  PASSKEY_NOT_FOUND: { means: "Your account has no such passkey", remedy: "Read the list of your passkeys again" },
  TOTP_ALREADY_ENABLED: {
    means: "Your account has an authenticator app",
    remedy: "Remove it first to set up another: `DELETE /api/v1/me/totp`",
  },
  TOTP_NOT_ENABLED: {
    means: "Your account has no authenticator app, or its setup was not started",
    remedy: "Begin with `POST /api/v1/me/totp`",
  },
  FACTOR_NOT_AVAILABLE: {
    means: "Your account cannot use this kind of factor here",
    remedy: "Use one of the kinds that `factors` names",
  },
  SIGN_IN_REFUSED: {
    means: "Signing in with Google or GitHub failed; the message says why",
    remedy: "Start again, in the same browser",
  },
  PROVIDER_NOT_CONFIGURED: {
    means: "This deployment does not offer that provider",
    remedy: "Sign in another way, or have the operator set `SIGN_IN_PROVIDERS`, or `MAIL_PROVIDER` for mailed codes",
  },
  PROVIDER_UNAVAILABLE: {
    means: "Google or GitHub did not answer properly",
    remedy: "Try again after `Retry-After`, or sign in with a mailed code",
  },
  CHALLENGE_REQUIRED: {
    means: "The deployment asks browsers for a Turnstile token, and the request with a public key has none",
    remedy: "Show the widget with `siteKey` and `action`, and send its token in `cf-turnstile-response`",
  },
  CHALLENGE_FAILED: {
    means: "The Turnstile token is wrong, older than 5 minutes, already used, or for another page or action",
    remedy: "Reset the widget and send its new token with the same `Idempotency-Key`",
  },
  CHALLENGE_UNAVAILABLE: {
    means: "Turnstile could not check the token; nothing was created",
    remedy: "Try again after `Retry-After` with the same `Idempotency-Key`",
  },
  IDENTITY_TAKEN: {
    means: "This Google or GitHub account is linked to another user",
    remedy: "Sign in as that user, or unlink it there first",
  },
  IDENTITY_NOT_FOUND: { means: "Your account has no such identity", remedy: "Read the list of your identities again" },
  SESSION_NOT_FOUND: {
    means: "You have no such session",
    remedy: "Read the list of your sessions again: it may have ended",
  },
} as const satisfies ErrorTexts;

export const TEAM = {
  CONFIRMATION_MISMATCH: {
    means: "The name that confirms a deletion is not the merchant's name",
    remedy: "Send the merchant's name exactly as it is shown; nothing was deleted",
  },
  MEMBER_NOT_FOUND: { means: "The team has no such member", remedy: "Read the list of members again" },
  ALREADY_MEMBER: { means: "This user is already a member", remedy: "Change the member's role instead" },
  INSUFFICIENT_RANK: {
    means: "Your role is not above the member's current role and the new one",
    remedy: "Ask a member with a higher role; only a transfer of ownership makes an `OWNER`",
  },
  OWNER_CANNOT_LEAVE: { means: "A team always has an owner", remedy: "Transfer the ownership, then leave" },
  ALREADY_OWNER: { means: "You named yourself as the new owner", remedy: "Name another member" },
  OWNER_LACKS_FACTOR: {
    means: "You cannot require something of the team that your own account lacks: `missing` names it",
    remedy: "Add it to your account first",
  },
  INVITATION_NOT_FOUND: {
    means: "There is no such invitation: it was revoked, or accepted, or replaced by a newer mail",
    remedy: "Use the newest mail, or ask for a new invitation",
  },
  INVITATION_EXPIRED: { means: "The invitation is older than seven days", remedy: "Ask for a new one" },
  INVITATION_EMAIL_MISMATCH: {
    means: "The invitation is for another email address",
    remedy: "Sign in with the address that was invited",
  },
  INVITATION_EXISTS: {
    means: "This address has a pending invitation; `invitationId` names it",
    remedy: "Send that one again, or revoke it first",
  },
  API_KEY_NOT_FOUND: { means: "There is no such API key", remedy: READ_THE_LIST },
  AUTHORIZATION_OVER: {
    means: "The application's request was already answered, is older than 30 minutes, or is for another address",
    remedy: "Go back to the application, and let it ask again",
  },
  PERMISSION_NOT_GRANTABLE: {
    means: "Your role lacks the permissions that `permissions` names, or a key of this kind cannot have them",
    remedy: "Leave them out, or ask a member who has them",
  },
} as const satisfies ErrorTexts;
