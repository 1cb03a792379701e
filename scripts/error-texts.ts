// What each error code means and what its caller does, in words for people: no part of the Worker. The compiler asks for every code.
import type { FailureCode } from "../src/platform/failures.ts";

export interface ErrorText {
  /** Why the request was refused. */
  readonly means: string;
  /** What to do about it. */
  readonly remedy: string;
}

type Texts = Readonly<Partial<Record<FailureCode, ErrorText>>>;

const WAIT = "Wait as long as `Retry-After` says, then repeat the request";
/** A link to another guide. */
const guide = (name: string) => `[${name}.md](${name}.md)`;
const READ_THE_LIST = "Read the list again: it was deleted, or the id belongs to another merchant";

const REQUEST = {
  VALIDATION_FAILED: {
    means: "A field of the body or a parameter of the query is missing, unknown or wrong",
    remedy: "Correct what `details` names: each has the `path` of a field and a `message`",
  },
  MALFORMED_JSON: { means: "The body is not JSON, or not UTF-8", remedy: "Send the output of a JSON library" },
  UNSUPPORTED_MEDIA_TYPE: {
    means: "The body has another content type",
    remedy: "Send the header `content-type: application/json`",
  },
  BODY_TOO_LARGE: { means: "The body has more than 64 KiB", remedy: "Send less; an image may have 32 KB" },
  ROUTE_NOT_FOUND: { means: "No route has this path", remedy: "Compare the path with the reference at `/docs`" },
  METHOD_NOT_ALLOWED: {
    means: "The path exists, but not with this method",
    remedy: "Use a method that the header `Allow` names",
  },
  RATE_LIMITED: {
    means: "You sent too many requests, or did this one thing too often",
    remedy: `${WAIT}. The limits are in [docs/limits.md](../limits.md)`,
  },
  LIMIT_REACHED: {
    means: "You have as many as you may have",
    remedy: "Look `name` up in [docs/limits.md](../limits.md): delete something, wait, or change the setting it names",
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
    remedy: `${WAIT} with the same key: it gets the first one's answer`,
  },
} as const satisfies Texts;

const ACCESS = {
  UNAUTHORIZED: {
    means: "There is no valid API key and no valid session. A deleted or expired key counts as wrong",
    remedy: "Send the header `x-api-key`, or sign in",
  },
  IP_NOT_ALLOWED: {
    means: "The API key may be used from certain IP addresses only",
    remedy: "Add your server's address to the key's `allowedIps`, or send from one that is there",
  },
  MERCHANT_MISMATCH: {
    means: "The API key belongs to another merchant than the one in the path",
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
    remedy: "Send the header `Origin` with the deployment's origin; browsers do so by themselves",
  },
  OWNER_REQUIRED: { means: "Only the owner can do this", remedy: "Ask the owner" },
  OPERATOR_REQUIRED: {
    means: "Only those who run the deployment can do this",
    remedy: "Ask an operator to do it, or to make you one",
  },
  SECURITY_REQUIREMENT_NOT_MET: {
    means: "The team demands something of its members that your account lacks: `missing` names it",
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
} as const satisfies Texts;

const DEPLOYMENT = {
  NOT_SET_UP: {
    means: "Nobody has redeemed a set-up link yet, so the deployment serves nothing else",
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
    means: "It is the only operator",
    remedy: "Make another user an operator first: `POST /api/v1/operator/operators`",
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
    remedy: "Nothing: it has ended, or somebody else ended it",
  },
  MERCHANT_SUSPENDED: {
    means:
      "An operator has suspended the merchant, so it makes no new invoices and gives payers no new address or amount; existing payments are still found",
    remedy: "Ask whoever runs the deployment. A stored answer is still replayed under its `Idempotency-Key`",
  },
} as const satisfies Texts;

const SIGN_IN = {
  INVALID_CODE: {
    means: "The code is wrong, used or expired, or was asked for in another browser",
    remedy: "Ask for a new code and enter it in the browser that asked",
  },
  TOO_MANY_ATTEMPTS: {
    means: "Too many wrong codes were entered",
    remedy: "Wait as long as `Retry-After` says; until then the right code is refused, too",
  },
  PASSKEY_REFUSED: {
    means: "The passkey's answer could not be verified",
    remedy: "Start again: the options work once, and for a short time",
  },
  PASSKEY_EXISTS: { means: "This passkey is registered already", remedy: "Use it, or register another" },
  PASSKEY_NOT_FOUND: { means: "Your account has no such passkey", remedy: "Read the list of your passkeys again" },
  TOTP_ALREADY_ENABLED: {
    means: "Your account has an authenticator app",
    remedy: "Remove it first to set up another: `DELETE /api/v1/me/totp`",
  },
  TOTP_NOT_ENABLED: {
    means: "Your account has no authenticator app, or setting it up was not begun",
    remedy: "Begin with `POST /api/v1/me/totp`",
  },
  FACTOR_NOT_AVAILABLE: {
    means: "This kind of factor cannot be used here by your account",
    remedy: "Give one of those that `factors` names",
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
    means: "Google or GitHub did not answer as it should",
    remedy: "Try again after `Retry-After`, or sign in with a mailed code",
  },
  CHALLENGE_REQUIRED: {
    means: "The deployment asks browsers for a Turnstile token, and the request of a public key has none",
    remedy: "Show the widget with `siteKey` and `action`, and send its token in `cf-turnstile-response`",
  },
  CHALLENGE_FAILED: {
    means: "The Turnstile token is wrong, older than 5 minutes, used already, or of another page or action",
    remedy: "Reset the widget and send its new token with the same `Idempotency-Key`",
  },
  CHALLENGE_UNAVAILABLE: {
    means: "Turnstile did not judge the token; nothing was created",
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
} as const satisfies Texts;

const TEAM = {
  CONFIRMATION_MISMATCH: {
    means: "The name that confirms a deletion is not the merchant's name",
    remedy: "Send the merchant's name exactly as it is shown; nothing was deleted",
  },
  MEMBER_NOT_FOUND: { means: "The team has no such member", remedy: "Read the list of members again" },
  ALREADY_MEMBER: { means: "This user is a member already", remedy: "Change the member's role instead" },
  INSUFFICIENT_RANK: {
    means: "Your role is not above the member's present role and the new one",
    remedy: "Ask a member with a higher role; `OWNER` is given by a transfer of ownership only",
  },
  OWNER_CANNOT_LEAVE: { means: "A team always has an owner", remedy: "Transfer the ownership, then leave" },
  ALREADY_OWNER: { means: "You named yourself as the new owner", remedy: "Name another member" },
  OWNER_LACKS_FACTOR: {
    means: "You cannot demand of the team what your own account lacks: `missing` names it",
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
  PERMISSION_NOT_GRANTABLE: {
    means: "Your role lacks the permissions that `permissions` names, or this kind of key cannot have them",
    remedy: "Leave them out, or ask a member who has them",
  },
} as const satisfies Texts;

const CATALOGUE = {
  PRODUCT_NOT_FOUND: { means: "There is no such product", remedy: READ_THE_LIST },
  PRODUCT_NOT_AVAILABLE: {
    means: "The product is not for sale",
    remedy: "Set its `isActive` to true, or name another product",
  },
  PRICE_IS_FIXED: {
    means: "A public key named another price or currency than the product's",
    remedy: "Leave `rawAmount` and `currency` out",
  },
  CUSTOMER_NOT_FOUND: { means: "There is no such customer", remedy: READ_THE_LIST },
  CUSTOMER_EMAIL_EXISTS: {
    means: "Another customer has this email address; `customerId` names them",
    remedy: "Change that customer instead",
  },
  IMAGE_REFUSED: {
    means: "The image is too large, is not PNG, JPEG or WebP, or could not be fetched; the message says which",
    remedy: "Send a PNG, JPEG or WebP of at most 32 KB",
  },
  IMAGE_NOT_FOUND: {
    means: "There is no image of this name. One that nothing uses is removed after 7 days",
    remedy: "Upload it again and use it at once",
  },
} as const satisfies Texts;

const WALLETS = {
  UNSUPPORTED_PAIR: {
    means: "This cryptocurrency is not supported on this network",
    remedy: `Use a pair of the table in ${guide("wallets")}`,
  },
  INVALID_ADDRESS: {
    means: "The text is not an address of this network; the message says what it looks like",
    remedy: "Copy the address anew from your wallet software",
  },
  INVALID_XPUB: {
    means: "The text is not the extended public key of an account; the message says what is wrong",
    remedy: "Export the key of the account from your wallet software: it starts with xpub, ypub or zpub",
  },
  DERIVATION_PATH_MISMATCH: {
    means: "The path does not belong to this key or this network; the message says what was expected",
    remedy: "Copy path and key from the same screen of your wallet software",
  },
  XPUB_NOT_SUPPORTED: {
    means: "Only BTC and LTC take an extended public key",
    remedy: "Register a `DIRECT_WALLET` with one address",
  },
  PRIVATE_KEY_REFUSED: {
    means: "A field holds what looks like a private key or a recovery phrase. Nothing was stored",
    remedy: "If it was real, consider it exposed and move the funds; send a public key or an address",
  },
  WALLET_EXISTS: {
    means: "You have a wallet for this cryptocurrency and network; `walletId` names it",
    remedy: "Use it, or delete it first to replace it",
  },
  WALLET_HAS_ACTIVE_PAYMENTS: {
    means: "Invoices that wait for payment ask for money to this wallet; `invoiceIds` names at most ten of them",
    remedy: "Disable the wallet, wait until these invoices have ended, then delete it",
  },
  WALLET_NOT_FOUND: { means: "There is no such wallet", remedy: READ_THE_LIST },
  WALLET_FROZEN: {
    means: "The wallet's stored row was changed by something else than Edgetill, so it is not used any more",
    remedy: "Find out who can write to the database; delete the wallet and register it again",
  },
  WALLET_IS_NOT_XPUB: {
    means: "The wallet is one address, so it has no list of addresses",
    remedy: "Ask this of an `XPUB_WALLET` only",
  },
  LINK_INVALID: {
    means: "The link of a mail about a wallet is wrong, used or older than seven days",
    remedy: "Sign in and disable the wallet there",
  },
} as const satisfies Texts;

const INVOICES = {
  INVOICE_NOT_FOUND: { means: "There is no such invoice", remedy: READ_THE_LIST },
  EXTERNAL_ID_EXISTS: {
    means: "You have an invoice with this `externalId`; `invoiceId` names it",
    remedy: "Use that invoice, or send another `externalId`",
  },
  NO_ENABLED_WALLET: {
    means: "You have no wallet for this pair, or it is disabled or not in use yet (`usableFrom`)",
    remedy: "Register or enable the wallet, or name another pair",
  },
  INVOICE_NOT_PAYABLE: {
    means: "The invoice has ended, or its payment is being confirmed: it takes no further payment method",
    remedy: "Create a new invoice if the customer still wants to pay",
  },
  INVOICE_ENDED: {
    means: "The invoice is paid or cancelled: its page gets no live updates any more",
    remedy: "Read the invoice once more and close the connection",
  },
  INVOICE_NOT_EDITABLE: {
    means: "The invoice does not wait for payment any more",
    remedy: "Create a new invoice; only one in `AWAITING_PAYMENT` can be changed",
  },
  INVOICE_NOT_CANCELLABLE: {
    means: "The invoice does not wait for payment any more",
    remedy: "Leave it; only one in `AWAITING_PAYMENT` can be cancelled",
  },
  INVOICE_HAS_PAYMENTS: {
    means: "The invoice has received money",
    remedy: `Wait until it is paid or has expired, then decide by hand: ${guide("resolving-by-hand")}`,
  },
  TOO_MANY_ACTIVE_INVOICES: {
    means: "As many invoices wait for payment as the setting `maxActiveInvoices` allows",
    remedy: "Cancel some, wait until some expire, or raise the setting",
  },
  RATE_UNAVAILABLE: {
    means: "There is no exchange rate that two sources agree on and that is at most five minutes old",
    remedy: `${WAIT}. An invoice that was created keeps its place; only its payment method waits`,
  },
  AMOUNTS_EXHAUSTED: {
    means:
      "Invoices that share an address are distinguished by their amounts, and all amounts near this price are in use",
    remedy: "Pick another payment method, wait until invoices end, or use an extended public key",
  },
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: {
    means: "An invoice over any amount (`rawAmount` 0) cannot share an address with others",
    remedy: "Use a wallet with an extended public key, or name an amount",
  },
  PUBLIC_ADDRESS_LIMIT: {
    means: "Browsers were given as many new addresses of this wallet as they may have before one is paid",
    remedy: "Pick another payment method, try again in an hour, or create the invoice on your server",
  },
  NETWORK_NOT_WATCHED: {
    means:
      "The deployment does not read this network, so it would not see a payment: it has no chain source, its source fails, or an operator has paused it",
    remedy: `Offer another network, and ask the operator: ${guide("watching-chains")}`,
  },
} as const satisfies Texts;

const PAYMENTS = {
  PAYMENT_NOT_FOUND: { means: "There is no such payment", remedy: READ_THE_LIST },
  PAYMENT_NOT_RESOLVABLE: {
    means: "The payment is credited already, or has left the chain",
    remedy: "Decide only about payments in `UNMATCHED`; one in `IGNORED` can still be assigned",
  },
  INVOICE_NOT_RESOLVABLE: {
    means: "The invoice is paid, or its payment is being confirmed",
    remedy:
      "Accept only what is in `AWAITING_PAYMENT`, `EXPIRED`, `UNDERPAID` or `CANCELLED`, or waits because nothing could price its money",
  },
  NOTHING_TO_REVIEW: {
    means: "The invoice's `needsReview` is false",
    remedy: "Nothing: another user has decided, or there was nothing to decide",
  },
  TRANSACTION_NOT_FOUND: {
    means: "No source knows the transaction, or it is in no block yet",
    remedy: "Check hash and network; try again once it is in a block",
  },
  CHAIN_UNAVAILABLE: {
    means: "No source of the network could answer",
    remedy: `${WAIT}; \`/healthz\` shows since when a network fails`,
  },
  NETWORK_NOT_OFFERED: {
    means: "The invoice asks for no payment on this network; `networks` names those it asks on",
    remedy: "Name the network on which the payment was sent, if it is one of them",
  },
  TOO_MANY_PAYMENTS: {
    means: "The invoice has as many payments as can be assigned to one",
    remedy: "Assign the payment to another invoice, or send the money back",
  },
} as const satisfies Texts;

const WEBHOOKS = {
  EVENT_NOT_FOUND: {
    means: "There is no such event, or it is older than 90 days",
    remedy: "Begin with `after=0` again, and act once for each event's id",
  },
  WEBHOOK_NOT_FOUND: { means: "There is no such endpoint", remedy: READ_THE_LIST },
  WEBHOOK_URL_REFUSED: {
    means: "Nothing can be delivered to this URL; the message says why",
    remedy: "Use an https URL on port 443 with a public host name",
  },
  WEBHOOK_INACTIVE: {
    means: "The endpoint is switched off",
    remedy: 'Switch it on first: `PATCH` it with `{"isActive": true}`',
  },
  DELIVERY_NOT_FOUND: {
    means: "There is no such delivery, or its last attempt is older than 30 days",
    remedy: "Use `replay` for events of the last 90 days",
  },
  REPLAY_TOO_LARGE: {
    means: "The range has more events than one replay sends",
    remedy: "Replay several shorter ranges, or name fewer `types`",
  },
} as const satisfies Texts;

const OUTAGES = {
  STORAGE_UNAVAILABLE: { means: "The database did not answer", remedy: WAIT },
  RESTORING: {
    means: "The deployment's database was put back to an earlier minute, and what it lost is being brought back",
    remedy: WAIT,
  },
  CONTENTION: { means: "Others changed the same thing at the same moment, several times", remedy: WAIT },
  INTERNAL_ERROR: {
    means: "The service made a mistake",
    remedy:
      "Repeat a `GET`, or a change that has an `Idempotency-Key`; give `requestId` to the operator if it persists",
  },
} as const satisfies Texts;

/** The codes by subject, in the order of the page. */
export const ERROR_GROUPS = {
  "The request itself": REQUEST,
  "Who is calling": ACCESS,
  "The deployment": DEPLOYMENT,
  "Signing in and your account": SIGN_IN,
  "Merchant, team and API keys": TEAM,
  "Products, customers and images": CATALOGUE,
  Wallets: WALLETS,
  Invoices: INVOICES,
  "Payments and decisions by hand": PAYMENTS,
  "Events and webhooks": WEBHOOKS,
  "Failures of the service": OUTAGES,
} as const satisfies Readonly<Record<string, Texts>>;

/** Each code with its text: the compiler asks for those that no group has. */
export const ERROR_TEXTS: { readonly [C in FailureCode]: ErrorText } = {
  ...REQUEST,
  ...ACCESS,
  ...DEPLOYMENT,
  ...SIGN_IN,
  ...TEAM,
  ...CATALOGUE,
  ...WALLETS,
  ...INVOICES,
  ...PAYMENTS,
  ...WEBHOOKS,
  ...OUTAGES,
};
