// What each refusal of the API means to the user of the console, and what to do about it. test/unit/dashboard compares it with the catalogue.
import type { LimitName } from "../../../src/lib/limits.ts";

const SIGN_IN_AGAIN = "Sign in again.";
const READ_AGAIN = "It was deleted, or belongs to another merchant. Go back to the list.";
const WAIT = "Wait a moment and try again.";

export const ERROR_TEXTS = {
  VALIDATION_FAILED: "Some fields are not valid. Correct the marked fields.",
  MALFORMED_JSON: "The service could not read the request. Reload the page and try again.",
  UNSUPPORTED_MEDIA_TYPE: "The service could not read the request. Reload the page and try again.",
  BODY_TOO_LARGE: "The request is too large. Shorten the text, or use an image of at most 32 KB.",
  ROUTE_NOT_FOUND: "The service does not support this request. The console may be out of date: reload the page.",
  METHOD_NOT_ALLOWED: "The service does not support this request. The console may be out of date: reload the page.",
  RATE_LIMITED: "Too many requests in a short time. Wait a minute and try again.",
  LIMIT_REACHED: "You have reached a limit. Try again later, or remove something that you no longer need.",
  IDEMPOTENCY_KEY_INVALID: "The console sent an invalid request key. Reload the page and try again.",
  IDEMPOTENCY_KEY_REUSED:
    "This request was already sent with different values. Reload the page and check what was created before you try again.",
  OPERATION_IN_PROGRESS: "The first attempt is still in progress. Wait a moment, then check the result.",
  UNAUTHORIZED: `You are signed out. ${SIGN_IN_AGAIN}`,
  IP_NOT_ALLOWED: "Your IP address is not allowed. Use another network, or change the key's allowed IP addresses.",
  MERCHANT_MISMATCH: "This belongs to another merchant. Switch to that merchant first.",
  MERCHANT_NOT_FOUND: "This merchant does not exist, or you are not in its team. Ask its owner for an invitation.",
  PERMISSION_DENIED: "Your role does not allow this. Ask an owner or admin of the team.",
  PUBLIC_KEY_FORBIDDEN: "A public key cannot do this. Use a secret key on your server.",
  SESSION_REQUIRED: `This needs a signed-in user. ${SIGN_IN_AGAIN}`,
  ORIGIN_NOT_ALLOWED:
    "The request did not come from this deployment's own address. Open the console at its public URL.",
  OWNER_REQUIRED: "Only the owner can do this. Ask the owner of the team.",
  OPERATOR_REQUIRED: "Only an operator of this deployment can do this. Ask an operator.",
  NOT_SET_UP: "This deployment is not set up yet. Ask the person who runs it to open a set-up link.",
  SETUP_LINK_INVALID:
    "This set-up link is invalid, was already used, or is older than 24 hours. Create a new one: npm run setup-link.",
  SIGN_UP_CLOSED:
    "There is no account with this address, and new accounts are by invitation only. Ask for an invitation, or use another address.",
  USER_NOT_FOUND: "No user has this email address. Ask them to sign in once first.",
  OPERATOR_NOT_FOUND: "This user is no longer an operator. Reload the list.",
  LAST_OPERATOR: "This is the only operator. Make another user an operator first.",
  TEST_ALERT_MISSING: "No test alert was accepted yet. Send one first.",
  NETWORK_NOT_FOUND: "This network does not exist. Reload the page.",
  REREAD_IN_PROGRESS: "Another range of this network is being rescanned. Wait until it has finished, or stop it.",
  RESTORE_FINDING_NOT_FOUND: "This finding no longer exists. Reload the page.",
  REREAD_NOT_FOUND: "No rescan of this network is running. Reload the page.",
  MERCHANT_SUSPENDED:
    "The operator of this deployment has suspended this merchant, so it cannot create invoices. Contact the operator.",
  SECURITY_REQUIREMENT_NOT_MET:
    "The team requires a sign-in method that your account does not have. Add it on the Account page.",
  SECOND_FACTOR_REQUIRED: "You are not fully signed in. Enter your second factor.",
  STEP_UP_REQUIRED: "This change requires you to confirm your identity. Try again and confirm it.",
  INVALID_CODE: "The code is wrong, expired or already used. Request a new one, and enter it in this browser.",
  TOO_MANY_ATTEMPTS: "Too many wrong codes. Wait 15 minutes: until then, even the right code is refused.",
  PASSKEY_REFUSED: "The passkey could not be verified. Start again.",
  PASSKEY_EXISTS: "This passkey is already registered. Use it, or register another device.",
  PASSKEY_NOT_FOUND: "This passkey no longer exists. Reload the list.",
  TOTP_ALREADY_ENABLED: "You already have an authenticator app. Remove it first to set up another.",
  TOTP_NOT_ENABLED: "No authenticator app set-up is in progress. Start again.",
  FACTOR_NOT_AVAILABLE: "This method of confirmation is not accepted here. Choose another.",
  SIGN_IN_REFUSED: "Signing in with the provider failed. Start again in this browser.",
  PROVIDER_NOT_CONFIGURED: "This deployment does not offer that provider. Sign in another way.",
  PROVIDER_UNAVAILABLE: "The provider is not responding. Try again later, or sign in with an email code.",
  CHALLENGE_REQUIRED: "Human verification is required. Reload the page and try again.",
  CHALLENGE_FAILED: "Human verification failed. Reload the page and try again.",
  CHALLENGE_UNAVAILABLE: "Human verification is not responding. Try again in a minute.",
  IDENTITY_TAKEN: "That account is linked to another user. Sign in as that user, or unlink it there first.",
  IDENTITY_NOT_FOUND: "This account is no longer linked. Reload the list.",
  SESSION_NOT_FOUND: "This session has already ended. Reload the list.",
  CONFIRMATION_MISMATCH: "That is not the merchant's name, so nothing was deleted. Type it exactly as shown.",
  MEMBER_NOT_FOUND: "This member has left the team. Reload the list.",
  ALREADY_MEMBER: "This user is already in the team. Change their role instead.",
  INSUFFICIENT_RANK: "Your role is not above theirs. Ask a member with a higher role.",
  OWNER_CANNOT_LEAVE: "A team must have an owner. Transfer ownership before you leave.",
  ALREADY_OWNER: "You are already the owner. Choose another member.",
  OWNER_LACKS_FACTOR:
    "Your own account does not have this sign-in method. Add it on the Account page before you require it.",
  INVITATION_NOT_FOUND:
    "This invitation was revoked, accepted or replaced. Use the latest email, or ask for a new one.",
  INVITATION_EXPIRED: "This invitation is older than seven days. Ask for a new one.",
  INVITATION_EMAIL_MISMATCH: "This invitation is for another address. Sign in with the address that was invited.",
  INVITATION_EXISTS: "This address already has an invitation. Send that one again, or revoke it first.",
  API_KEY_NOT_FOUND: `This API key was not found. ${READ_AGAIN}`,
  AUTHORIZATION_OVER:
    "This request was already answered, or is older than 30 minutes. Go back to the application and start again.",
  PERMISSION_NOT_GRANTABLE:
    "You cannot give a key permissions that you do not have. Remove them, or ask a member who has them.",
  PRODUCT_NOT_FOUND: `This product was not found. ${READ_AGAIN}`,
  PRODUCT_NOT_AVAILABLE: "This product is not for sale. Put it on sale, or choose another.",
  PRICE_IS_FIXED: "The product has a fixed price. Remove the amount and currency.",
  CUSTOMER_NOT_FOUND: `This customer was not found. ${READ_AGAIN}`,
  CUSTOMER_EMAIL_EXISTS: "Another customer already has this email address. Edit that customer instead.",
  IMAGE_REFUSED: "This image cannot be used. Upload a PNG, JPEG or WebP of at most 32 KB.",
  IMAGE_NOT_FOUND: "The image no longer exists. Upload it again.",
  UNSUPPORTED_PAIR: "This coin is not supported on this network. Choose another coin or network.",
  INVALID_ADDRESS: "This is not a valid address on the network. Copy it again from your wallet software.",
  INVALID_XPUB: "This is not an account-level extended public key. Export it again from your wallet software.",
  DERIVATION_PATH_MISMATCH:
    "The path and the key do not match. Copy both from the same screen of your wallet software.",
  XPUB_NOT_SUPPORTED: "Only BTC and LTC wallets can use an extended public key. Enter a single address instead.",
  PRIVATE_KEY_REFUSED:
    "This looks like a private key or recovery phrase. Nothing was stored. If it was real, move the funds now, and use a public key.",
  WALLET_EXISTS: "You already have a wallet for this coin and network. Use it, or delete it first.",
  WALLET_HAS_ACTIVE_PAYMENTS: "Open invoices use this wallet. Disable it, wait until they are closed, then delete it.",
  WALLET_NOT_FOUND: `This wallet was not found. ${READ_AGAIN}`,
  WALLET_FROZEN:
    "This wallet was altered in the database, so it is not used. Find out who can write to the database, then add the wallet again.",
  WALLET_IS_NOT_XPUB: "This wallet has a single address, so there is no list. The wallet's page shows the address.",
  LINK_INVALID:
    "This link is invalid, was already used, or is older than seven days. Sign in and disable the wallet in the console.",
  INVOICE_NOT_FOUND: `This invoice was not found. ${READ_AGAIN}`,
  EXTERNAL_ID_EXISTS: "An invoice with this order number already exists. Open that one, or use another number.",
  NO_ENABLED_WALLET: "You have no active wallet for this coin. Add or enable one first.",
  INVOICE_NOT_PAYABLE:
    "No more payment methods can be added to this invoice. Create a new invoice if the customer still wants to pay.",
  INVOICE_ENDED: "The invoice is closed. Reload the page to see its status.",
  INVOICE_NOT_EDITABLE: "The invoice is no longer awaiting payment, so it cannot be changed. Create a new one.",
  INVOICE_NOT_CANCELLABLE: "The invoice is no longer awaiting payment, so there is nothing to cancel. Reload the page.",
  INVOICE_HAS_PAYMENTS: "The invoice has received money. Wait until it is paid or expired, then resolve it manually.",
  TOO_MANY_ACTIVE_INVOICES: "Too many invoices are awaiting payment. Cancel some, or raise the limit in the settings.",
  RATE_UNAVAILABLE: "There is no reliable exchange rate right now. Wait a minute and try again.",
  CURRENCY_NOT_PRICED: "No two rate sources agree on this currency right now. Choose another currency.",
  AMOUNTS_EXHAUSTED:
    "Every unique amount near this price is in use. Choose another coin, or wait until other invoices close.",
  ANY_AMOUNT_NEEDS_OWN_ADDRESS:
    "An invoice without a fixed amount needs its own address. Choose a coin whose wallet has an extended key.",
  PUBLIC_ADDRESS_LIMIT:
    "This wallet cannot issue more addresses right now. Try again in an hour, or choose another coin.",
  NETWORK_NOT_WATCHED: "This deployment is not watching that network right now. Ask its operator.",
  PAYMENT_NOT_FOUND: `This payment was not found. ${READ_AGAIN}`,
  PAYMENT_NOT_RESOLVABLE: "The payment was already credited, or is no longer on the chain. Reload the page.",
  INVOICE_NOT_RESOLVABLE: "The invoice is paid or being confirmed, so there is nothing to decide. Reload the page.",
  NOTHING_TO_REVIEW: "Someone else has already decided this. Reload the page.",
  TRANSACTION_NOT_FOUND:
    "This transaction was not found. Check the hash and the network, and try again once it is in a block.",
  CHAIN_UNAVAILABLE: `The network's data source is not responding. ${WAIT}`,
  NETWORK_NOT_OFFERED:
    "The invoice does not ask for payment on this network. Choose the network the money was sent on.",
  TOO_MANY_PAYMENTS:
    "The invoice has the maximum number of payments. Assign this one to another invoice, or send it back.",
  EVENT_NOT_FOUND: "This event does not exist, or is older than 90 days. Go back to the list.",
  WEBHOOK_NOT_FOUND: `This endpoint was not found. ${READ_AGAIN}`,
  WEBHOOK_URL_REFUSED: "Events cannot be delivered to this URL. Use an https URL with a public host name.",
  WEBHOOK_INACTIVE: "The endpoint is turned off. Turn it on first.",
  DELIVERY_NOT_FOUND: "This delivery does not exist, or is older than 30 days. Replay the events instead.",
  REPLAY_TOO_LARGE: "The range has too many events for one replay. Choose a shorter range.",
  STORAGE_UNAVAILABLE: `The database did not respond. ${WAIT}`,
  RESTORING: `The service is being restored from a backup. ${WAIT}`,
  CONTENTION: `Someone else made a change at the same time. ${WAIT}`,
  INTERNAL_ERROR: "The service failed. Try again; if the problem persists, give the request ID to the operator.",
} as const satisfies Readonly<Record<string, string>>;

type ErrorCode = keyof typeof ERROR_TEXTS;

/** Refusals whose message has details that our text cannot include. */
const WITH_DETAIL: readonly string[] = [
  "IMAGE_REFUSED",
  "INVALID_ADDRESS",
  "INVALID_XPUB",
  "DERIVATION_PATH_MISMATCH",
  "SIGN_IN_REFUSED",
  "WEBHOOK_URL_REFUSED",
];

/** LIMIT_REACHED, by the name of the limit: what a user of the console can do about it. */
const LIMIT_TEXTS: Readonly<Partial<Record<LimitName, (limit: string) => string>>> = {
  webhookEndpointsPerMerchant: (limit) =>
    `You have reached the limit of ${limit} endpoints. Delete one that you no longer need.`,
  keysPerMerchant: (limit) => `You have reached the limit of ${limit} API keys. Revoke one that you no longer need.`,
  imagesPerMerchant: (limit) =>
    `You have reached the limit of ${limit} images. Remove one from a product: unused images are deleted after 7 days.`,
  imageBytesPerMerchant: () =>
    "Your images have reached the limit for their total size. Remove one from a product: unused images are deleted after 7 days.",
  merchantsMadePerUserAndDay: (limit) =>
    `You have reached the limit of ${limit} new merchants a day. Try again tomorrow.`,
  membersJoinedPerMerchantAndDay: (limit) =>
    `The team has reached the limit of ${limit} new members a day. Try again tomorrow.`,
};

type Facts = Readonly<Record<string, unknown>>;

/** The text for a refusal, whose `message` and `facts` come from the API. For a code that only a newer service knows, it is `message`. */
export function errorText(code: string, message: string, facts: Facts = {}): string {
  if (!isKnown(code)) return message;
  if (code === "LIMIT_REACHED") return limitText(facts) ?? ERROR_TEXTS[code];
  return WITH_DETAIL.includes(code) ? `${message}. ${ERROR_TEXTS[code]}` : ERROR_TEXTS[code];
}

function limitText({ name, limit }: Facts): string | undefined {
  const texts: Readonly<Record<string, ((limit: string) => string) | undefined>> = LIMIT_TEXTS;
  if (typeof name !== "string" || typeof limit !== "number" || !Object.hasOwn(texts, name)) return undefined;
  return texts[name]?.(limit.toLocaleString("en"));
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TEXTS, code);
}
