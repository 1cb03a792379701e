// Texts for errors about a merchant's sales and payments, about events, and for failures of the service.
import { type ErrorTexts, guide, READ_THE_LIST, WAIT } from "./error-text.ts";

export const CATALOGUE = {
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
    means: "There is no image with this name. An unused image is removed after 7 days",
    remedy: "Upload it again and use it at once",
  },
} as const satisfies ErrorTexts;

export const WALLETS = {
  UNSUPPORTED_PAIR: {
    means: "This cryptocurrency is not supported on this network",
    remedy: `Use a pair from the table in ${guide("wallets")}`,
  },
  INVALID_ADDRESS: {
    means: "The text is not an address of this network; the message says what it looks like",
    remedy: "Copy the address again from your wallet software",
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
    means: "Invoices that wait for payment use this wallet; `invoiceIds` names at most ten of them",
    remedy: "Disable the wallet, wait until these invoices have ended, then delete it",
  },
  WALLET_NOT_FOUND: { means: "There is no such wallet", remedy: READ_THE_LIST },
  WALLET_FROZEN: {
    means: "Something other than Edgetill changed the wallet's stored row, so it is no longer used",
    remedy: "Find out who can write to the database; delete the wallet and register it again",
  },
  WALLET_IS_NOT_XPUB: {
    means: "The wallet is a single address, so it has no list of addresses",
    remedy: "Use this only with an `XPUB_WALLET`",
  },
  LINK_INVALID: {
    means: "The link from a mail about a wallet is invalid, used or older than seven days",
    remedy: "Sign in and disable the wallet there",
  },
} as const satisfies ErrorTexts;

export const INVOICES = {
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
    means: "The invoice has ended, or its payment is being confirmed: it accepts no further payment method",
    remedy: "Create a new invoice if the customer still wants to pay",
  },
  INVOICE_ENDED: {
    means: "The invoice is paid or cancelled: its page no longer gets live updates",
    remedy: "Read the invoice once more and close the connection",
  },
  INVOICE_NOT_EDITABLE: {
    means: "The invoice no longer waits for payment",
    remedy: "Create a new invoice; only an invoice in `AWAITING_PAYMENT` can be changed",
  },
  INVOICE_NOT_CANCELLABLE: {
    means: "The invoice no longer waits for payment",
    remedy: "Nothing: only an invoice in `AWAITING_PAYMENT` can be cancelled",
  },
  INVOICE_HAS_PAYMENTS: {
    means: "The invoice has received money",
    remedy: `Wait until it is paid or has expired, then decide by hand: ${guide("resolving-by-hand")}`,
  },
  TOO_MANY_ACTIVE_INVOICES: {
    means: "The number of invoices that wait for payment has reached the setting `maxActiveInvoices`",
    remedy: "Cancel some, wait until some expire, or raise the setting",
  },
  RATE_UNAVAILABLE: {
    means: "There is no exchange rate that two sources agree on and that is at most five minutes old",
    remedy: `${WAIT}. An invoice that was already created stays valid; only its payment method has to wait`,
  },
  CURRENCY_NOT_PRICED: {
    means:
      "At the moment, fewer than two of our sources have a rate for the invoice's currency, or their rates are more than 3 % apart",
    remedy: "Use another currency; if a source is only temporarily down, try again later",
  },
  AMOUNTS_EXHAUSTED: {
    means:
      "Invoices that share an address are distinguished by their amounts, and all amounts near this price are in use",
    remedy: "Pick another payment method, wait until invoices end, or use an extended public key",
  },
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: {
    means: "An invoice for any amount (`rawAmount` 0) cannot share an address with others",
    remedy: "Use a wallet with an extended public key, or name an amount",
  },
  PUBLIC_ADDRESS_LIMIT: {
    means: "Browsers have already been given the maximum number of unpaid new addresses from this wallet",
    remedy: "Pick another payment method, try again in an hour, or create the invoice on your server",
  },
  NETWORK_NOT_WATCHED: {
    means:
      "The deployment does not read this network, so it would not see a payment: it has no chain source, its source fails, or an operator has paused it",
    remedy: `Offer another network, and ask the operator: ${guide("watching-chains")}`,
  },
} as const satisfies ErrorTexts;

export const PAYMENTS = {
  PAYMENT_NOT_FOUND: { means: "There is no such payment", remedy: READ_THE_LIST },
  PAYMENT_NOT_RESOLVABLE: {
    means: "The payment is already credited, or has left the chain",
    remedy: "Decide only about payments in `UNMATCHED`; one in `IGNORED` can still be assigned",
  },
  INVOICE_NOT_RESOLVABLE: {
    means: "The invoice is paid, or its payment is being confirmed",
    remedy:
      "Accept only an invoice in `AWAITING_PAYMENT`, `EXPIRED`, `UNDERPAID` or `CANCELLED`, or one that waits because its payment could not be priced",
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
    remedy: `${WAIT}; \`/healthz\` shows since when a network has been failing`,
  },
  NETWORK_NOT_OFFERED: {
    means: "The invoice cannot be paid on this network; `networks` names those on which it can",
    remedy: "Name the network on which the payment was sent, if it is one of them",
  },
  TOO_MANY_PAYMENTS: {
    means: "The invoice already has the maximum number of payments",
    remedy: "Assign the payment to another invoice, or send the money back",
  },
} as const satisfies ErrorTexts;

export const WEBHOOKS = {
  EVENT_NOT_FOUND: {
    means: "There is no such event, or it is older than 90 days",
    remedy: "Start again with `after=0`, and process each event id only once",
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
} as const satisfies ErrorTexts;

export const OUTAGES = {
  STORAGE_UNAVAILABLE: { means: "The database did not answer", remedy: WAIT },
  RESTORING: {
    means: "The deployment's database was restored to an earlier minute, and what it lost is being recovered",
    remedy: WAIT,
  },
  CONTENTION: { means: "Other requests kept changing the same object at the same time", remedy: WAIT },
  INTERNAL_ERROR: {
    means: "The service failed in an unexpected way",
    remedy:
      "Repeat a `GET`, or a change that has an `Idempotency-Key`; give `requestId` to the operator if it persists",
  },
} as const satisfies ErrorTexts;
