// What each refusal of the API means to the user of the console, and what to do about it. test/unit/dashboard compares it with the catalogue.

const SIGN_IN_AGAIN = "Sign in again.";
const READ_AGAIN = "It was deleted, or belongs to another merchant. Go back to the list.";
const WAIT = "Wait a moment and try again.";

export const ERROR_TEXTS = {
  VALIDATION_FAILED: "Something in the form is not right. Correct the marked fields.",
  MALFORMED_JSON: "The console sent something that the service cannot read. Reload the page.",
  UNSUPPORTED_MEDIA_TYPE: "The console sent something that the service cannot read. Reload the page.",
  BODY_TOO_LARGE: "That is too much for one request. Shorten it; an image may be up to 32 KB.",
  ROUTE_NOT_FOUND: "The service does not know this request. Reload the page: the console may be out of date.",
  METHOD_NOT_ALLOWED: "The service does not know this request. Reload the page: the console may be out of date.",
  RATE_LIMITED: "Too many requests in a short time. Wait a minute and try again.",
  LIMIT_REACHED: "You have reached the limit for these. Delete one that you no longer need.",
  IDEMPOTENCY_KEY_INVALID: "The console sent a wrong key. Reload the page and try again.",
  IDEMPOTENCY_KEY_REUSED:
    "This was sent before with other values. Reload the page, check what was created, and try again.",
  OPERATION_IN_PROGRESS: "The first attempt is still running. Wait a moment: its result will show.",
  UNAUTHORIZED: `You are signed out. ${SIGN_IN_AGAIN}`,
  IP_NOT_ALLOWED: "This is not allowed from your address. Use another network, or change the key's allowed addresses.",
  MERCHANT_MISMATCH: "This belongs to another merchant. Switch to that merchant first.",
  MERCHANT_NOT_FOUND: "There is no such merchant, or you are not in its team. Ask its owner for an invitation.",
  PERMISSION_DENIED: "Your role does not allow this. Ask an owner or admin of the team.",
  PUBLIC_KEY_FORBIDDEN: "A public key cannot do this. Use a secret key on your server.",
  SESSION_REQUIRED: `This needs a signed-in user. ${SIGN_IN_AGAIN}`,
  ORIGIN_NOT_ALLOWED: "The change did not come from this deployment's own address. Open the console at its public URL.",
  OWNER_REQUIRED: "Only the owner can do this. Ask the owner of the team.",
  OPERATOR_REQUIRED: "Only an operator of this deployment can do this. Ask one of them.",
  NOT_SET_UP: "This deployment is not set up yet. The person who runs it creates a set-up link and opens it.",
  SETUP_LINK_INVALID: "This set-up link is wrong, used or older than 24 hours. Make a new one: npm run setup-link.",
  SIGN_UP_CLOSED:
    "There is no account with this address, and new accounts are by invitation only. Ask for an invitation, or use another address.",
  USER_NOT_FOUND: "Nobody has an account with this address. Ask them to sign in once first.",
  OPERATOR_NOT_FOUND: "This user is no longer an operator. Reload the list.",
  LAST_OPERATOR: "This is the only operator. Make another user an operator first.",
  NETWORK_NOT_FOUND: "There is no network of this name. Reload the page.",
  REREAD_IN_PROGRESS: "Another range of this network is being read again. Wait until it has ended, or end it.",
  RESTORE_FINDING_NOT_FOUND: "There is no such finding. Reload the page.",
  REREAD_NOT_FOUND: "No range of this network is being read again. Reload the page.",
  MERCHANT_SUSPENDED:
    "The operator of this deployment has suspended this merchant, so it takes no new payments. Ask the operator.",
  SECURITY_REQUIREMENT_NOT_MET:
    "The team requires a sign-in method that your account does not have. Add it on the Account page.",
  SECOND_FACTOR_REQUIRED: "You are not fully signed in. Enter your second factor.",
  STEP_UP_REQUIRED: "Confirm that it is you first. Try again and confirm your identity.",
  INVALID_CODE: "The code is wrong, used or too old. Ask for a new one, and enter it in this browser.",
  TOO_MANY_ATTEMPTS: "Too many wrong codes. Wait 15 minutes; until then even the right code is refused.",
  PASSKEY_REFUSED: "The passkey could not be verified. Start again.",
  PASSKEY_EXISTS: "This passkey is already registered. Use it, or register another device.",
  PASSKEY_NOT_FOUND: "This passkey no longer exists. Reload the list.",
  TOTP_ALREADY_ENABLED: "You already have an authenticator app. Remove it first to set up another.",
  TOTP_NOT_ENABLED: "No authenticator app is being set up. Begin again.",
  FACTOR_NOT_AVAILABLE: "This way of confirming does not count here. Choose another.",
  SIGN_IN_REFUSED: "Signing in with the provider failed. Start again in this browser.",
  PROVIDER_NOT_CONFIGURED: "This deployment does not offer that provider. Sign in another way.",
  PROVIDER_UNAVAILABLE: "The provider does not answer. Try again later, or sign in with an email code.",
  CHALLENGE_REQUIRED: "This deployment checks that visitors are people. Reload the page and try again.",
  CHALLENGE_FAILED: "The check that you are a person did not succeed. Reload the page and try again.",
  CHALLENGE_UNAVAILABLE: "The check that you are a person does not answer. Try again in a minute.",
  IDENTITY_TAKEN: "That account is linked to another user. Sign in as that user, or unlink it there first.",
  IDENTITY_NOT_FOUND: "This account is no longer linked. Reload the list.",
  SESSION_NOT_FOUND: "This session has already ended. Reload the list.",
  CONFIRMATION_MISMATCH: "That is not the merchant's name. Type it exactly as it is shown; nothing was deleted.",
  MEMBER_NOT_FOUND: "This member has left the team. Reload the list.",
  ALREADY_MEMBER: "This user is already in the team. Change their role instead.",
  INSUFFICIENT_RANK: "Your role is not above theirs. Ask a member with a higher role.",
  OWNER_CANNOT_LEAVE: "A team always has an owner. Transfer ownership first, then leave.",
  ALREADY_OWNER: "You are already the owner. Choose another member.",
  OWNER_LACKS_FACTOR: "Your own account does not have what you require of the team. Add it on the Account page first.",
  INVITATION_NOT_FOUND:
    "This invitation was revoked, accepted or replaced. Use the latest email, or ask for a new one.",
  INVITATION_EXPIRED: "This invitation is older than seven days. Ask for a new one.",
  INVITATION_EMAIL_MISMATCH: "This invitation is for another address. Sign in with the address that was invited.",
  INVITATION_EXISTS: "This address already has an invitation. Send that one again, or revoke it first.",
  API_KEY_NOT_FOUND: `There is no such API key. ${READ_AGAIN}`,
  AUTHORIZATION_OVER:
    "This request was already answered, or is older than 30 minutes. Go back to the application and ask again.",
  PERMISSION_NOT_GRANTABLE:
    "You cannot give a key permissions that you do not have. Leave them out, or ask a member who has them.",
  PRODUCT_NOT_FOUND: `There is no such product. ${READ_AGAIN}`,
  PRODUCT_NOT_AVAILABLE: "This product is not for sale. Activate it, or choose another.",
  PRICE_IS_FIXED: "The product has a fixed price. Leave amount and currency out.",
  CUSTOMER_NOT_FOUND: `There is no such customer. ${READ_AGAIN}`,
  CUSTOMER_EMAIL_EXISTS: "Another customer has this email address. Change that customer instead.",
  IMAGE_REFUSED: "The image cannot be used. Send a PNG, JPEG or WebP of at most 32 KB.",
  IMAGE_NOT_FOUND: "The image no longer exists. Upload it again.",
  UNSUPPORTED_PAIR: "This coin is not supported on this network. Choose another pair.",
  INVALID_ADDRESS: "This is not an address of the network. Copy it again from your wallet software.",
  INVALID_XPUB: "This is not the extended public key of an account. Export it again from your wallet software.",
  DERIVATION_PATH_MISMATCH:
    "Path and key do not belong together. Copy both from the same screen of your wallet software.",
  XPUB_NOT_SUPPORTED: "Only BTC and LTC take an extended public key. Use one address here.",
  PRIVATE_KEY_REFUSED:
    "This looks like a private key or recovery phrase. Nothing was stored. If it was real, move the funds now, and use a public key.",
  WALLET_EXISTS: "You have a wallet for this coin and network. Use it, or delete it first.",
  WALLET_HAS_ACTIVE_PAYMENTS:
    "Open invoices ask for money to this wallet. Disable it, wait until they have ended, then delete it.",
  WALLET_NOT_FOUND: `There is no such wallet. ${READ_AGAIN}`,
  WALLET_FROZEN:
    "The wallet's stored data was altered, so it is not used. Find out who can write to the database, and register it again.",
  WALLET_IS_NOT_XPUB: "This wallet is one address and has no list of addresses. Look at the wallet itself.",
  LINK_INVALID: "The link is wrong, used or older than seven days. Sign in and disable the wallet there.",
  INVOICE_NOT_FOUND: `There is no such invoice. ${READ_AGAIN}`,
  EXTERNAL_ID_EXISTS: "You have an invoice with this order number. Open that one, or use another number.",
  NO_ENABLED_WALLET: "There is no wallet in use for this coin. Register or enable one first.",
  INVOICE_NOT_PAYABLE:
    "The invoice takes no further payment method. Create a new one if the customer still wants to pay.",
  INVOICE_ENDED: "The invoice is closed. Reload the page to see how it ended.",
  INVOICE_NOT_EDITABLE: "The invoice is no longer awaiting payment, so it cannot be changed. Create a new one.",
  INVOICE_NOT_CANCELLABLE: "The invoice is no longer awaiting payment, so there is nothing to cancel. Reload the page.",
  INVOICE_HAS_PAYMENTS: "The invoice has received money. Wait until it is paid or expired, then decide by hand.",
  TOO_MANY_ACTIVE_INVOICES: "Too many invoices are awaiting payment. Cancel some, or raise the limit in the settings.",
  RATE_UNAVAILABLE: "There is no reliable exchange rate right now. Wait a minute and try again.",
  CURRENCY_NOT_PRICED: "No two sources agree on the rate of this currency right now. Choose another currency.",
  AMOUNTS_EXHAUSTED: "All amounts near this price are in use. Choose another coin, or wait until invoices end.",
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: "An invoice for any amount needs its own address. Choose a coin with an extended key.",
  PUBLIC_ADDRESS_LIMIT:
    "This wallet has given out all addresses it may for now. Try again in an hour, or choose another coin.",
  NETWORK_NOT_WATCHED: "This deployment does not read that network at the moment. Ask its operator.",
  PAYMENT_NOT_FOUND: `There is no such payment. ${READ_AGAIN}`,
  PAYMENT_NOT_RESOLVABLE: "The payment is credited already, or has left the chain. Reload the page.",
  INVOICE_NOT_RESOLVABLE: "The invoice is paid or being confirmed, so it needs no decision. Reload the page.",
  NOTHING_TO_REVIEW: "Someone has decided already. Reload the page.",
  TRANSACTION_NOT_FOUND: "No source knows this transaction. Check hash and network; try again once it is in a block.",
  CHAIN_UNAVAILABLE: `The network's source does not answer. ${WAIT}`,
  NETWORK_NOT_OFFERED:
    "The invoice asks for no payment on this network. Choose the network that the money was sent on.",
  TOO_MANY_PAYMENTS: "The invoice has as many payments as it can. Assign this one to another invoice, or send it back.",
  EVENT_NOT_FOUND: "There is no such event, or it is older than 90 days. Go back to the list.",
  WEBHOOK_NOT_FOUND: `There is no such endpoint. ${READ_AGAIN}`,
  WEBHOOK_URL_REFUSED: "Nothing can be delivered to this URL. Use an https URL with a public host name.",
  WEBHOOK_INACTIVE: "The endpoint is switched off. Switch it on first.",
  DELIVERY_NOT_FOUND: "There is no such delivery, or it is older than 30 days. Replay the events instead.",
  REPLAY_TOO_LARGE: "The range has too many events for one replay. Choose a shorter one.",
  STORAGE_UNAVAILABLE: `The database did not answer. ${WAIT}`,
  RESTORING: `The service was restored from an earlier copy and is completing it. ${WAIT}`,
  CONTENTION: `Someone changed the same thing at the same moment. ${WAIT}`,
  INTERNAL_ERROR: "The service made a mistake. Try again; if it persists, give the request id to the operator.",
} as const satisfies Readonly<Record<string, string>>;

type ErrorCode = keyof typeof ERROR_TEXTS;

/** Refusals whose message has a detail that our text cannot know. */
const WITH_DETAIL: readonly string[] = [
  "IMAGE_REFUSED",
  "INVALID_ADDRESS",
  "INVALID_XPUB",
  "DERIVATION_PATH_MISMATCH",
  "SIGN_IN_REFUSED",
  "WEBHOOK_URL_REFUSED",
];

/** The text for a refusal; `message` is the API's own. A code of a newer service has only that. */
export function errorText(code: string, message: string): string {
  if (!isKnown(code)) return message;
  return WITH_DETAIL.includes(code) ? `${message}. ${ERROR_TEXTS[code]}` : ERROR_TEXTS[code];
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TEXTS, code);
}
