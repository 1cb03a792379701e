// The answers to refusals of the trade itself: products, customers, wallets, invoices. The other half of the map in `errors.ts`.
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Failure, TradeFailure } from "../failures.ts";

export interface Answer {
  readonly status: ContentfulStatusCode;
  readonly message: string;
  /** Additive members of the envelope. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to each failure by its code: the compiler asks for every member. */
export type Answers<F extends Failure> = { readonly [C in F["code"]]: (failure: Extract<F, { code: C }>) => Answer };

export const TRADE_ANSWERS: Answers<TradeFailure> = {
  PRODUCT_NOT_FOUND: () => ({ status: 404, message: "Product not found" }),
  PRODUCT_NOT_AVAILABLE: () => ({ status: 422, message: "The product is not active" }),
  PRICE_IS_FIXED: () => ({
    status: 400,
    message: "A public key asks the product's price in its currency: leave rawAmount and currency out",
  }),
  CUSTOMER_NOT_FOUND: () => ({ status: 404, message: "Customer not found" }),
  CUSTOMER_EMAIL_EXISTS: (failure) => ({
    status: 409,
    message: "Another customer has this email",
    ...(failure.customerId === undefined ? {} : { facts: { customerId: failure.customerId } }),
  }),
  IMAGE_REFUSED: (failure) => ({ status: 400, message: `The image was not taken: ${failure.reason}` }),
  IMAGE_NOT_FOUND: () => ({ status: 404, message: "Image not found" }),
  LINK_INVALID: () => ({ status: 404, message: "The link is wrong, used or expired" }),
  UNSUPPORTED_PAIR: (failure) => ({
    status: 400,
    message: `${failure.cryptocurrency} on ${failure.network} is not supported`,
  }),
  INVALID_ADDRESS: (failure) => ({ status: 400, message: `Invalid address: ${failure.reason}` }),
  INVALID_XPUB: (failure) => ({ status: 400, message: `Invalid extended public key: ${failure.reason}` }),
  DERIVATION_PATH_MISMATCH: (failure) => ({ status: 400, message: `Derivation path does not fit: ${failure.reason}` }),
  XPUB_NOT_SUPPORTED: (failure) => ({
    status: 400,
    message: `XPUB_WALLET is accepted only for BTC and LTC, not on ${failure.network}`,
  }),
  PRIVATE_KEY_REFUSED: () => ({
    status: 400,
    message:
      "This looks like a private key or seed phrase. Edgetill never takes one: nothing was stored. If it was real, consider it exposed and move the funds",
  }),
  WALLET_EXISTS: (failure) => ({
    status: 409,
    message: "A wallet for this cryptocurrency and network exists already; delete it first to rotate",
    ...(failure.walletId === undefined ? {} : { facts: { walletId: failure.walletId } }),
  }),
  WALLET_HAS_ACTIVE_PAYMENTS: () => ({ status: 409, message: "Cannot delete a wallet with active payments" }),
  WALLET_NOT_FOUND: () => ({ status: 404, message: "Wallet not found" }),
  WALLET_FROZEN: () => ({
    status: 409,
    message: "The stored wallet fails its integrity check and is frozen; delete it and register it again",
  }),
  WALLET_IS_NOT_XPUB: () => ({ status: 400, message: "Only an XPUB_WALLET has derived addresses" }),
  INVOICE_NOT_FOUND: () => ({ status: 404, message: "Invoice not found" }),
  EXTERNAL_ID_EXISTS: (failure) => ({
    status: 409,
    message: "An invoice with this externalId exists already",
    ...(failure.invoiceId === undefined ? {} : { facts: { invoiceId: failure.invoiceId } }),
  }),
  NO_ENABLED_WALLET: (failure) => ({
    status: 422,
    message: `There is no enabled wallet for ${failure.cryptocurrency} on ${failure.network}`,
  }),
  INVOICE_NOT_PAYABLE: (failure) => ({
    status: 422,
    message: `An invoice in ${failure.status} takes no payment method`,
  }),
  INVOICE_ENDED: (failure) => ({ status: 422, message: `The page of an invoice in ${failure.status} changes no more` }),
  INVOICE_NOT_EDITABLE: (failure) => ({
    status: 422,
    message: `An invoice in ${failure.status} cannot be changed; only AWAITING_PAYMENT can`,
  }),
  INVOICE_NOT_CANCELLABLE: (failure) => ({
    status: 422,
    message: `An invoice in ${failure.status} cannot be cancelled; only AWAITING_PAYMENT can`,
  }),
  INVOICE_HAS_PAYMENTS: () => ({ status: 422, message: "An invoice that has received money cannot be cancelled" }),
  TOO_MANY_ACTIVE_INVOICES: (failure) => ({
    status: 422,
    message: `The merchant has ${failure.limit} active invoices, its limit`,
  }),
  RATE_UNAVAILABLE: () => ({
    status: 503,
    message: "No trustworthy exchange rate is available right now",
    headers: { "retry-after": "30" },
  }),
  AMOUNTS_EXHAUSTED: () => ({
    status: 409,
    message: "Every distinguishable amount at this price is in use on the wallet's address",
  }),
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: () => ({
    status: 422,
    message: "An any-amount invoice needs an address of its own: a direct wallet cannot take it",
  }),
  PUBLIC_ADDRESS_LIMIT: () => ({
    status: 409,
    message:
      "Browsers were given as many addresses of this wallet as may lie past the last one that was paid; pick another method, or try again in an hour",
  }),
  NETWORK_NOT_WATCHED: (failure) => ({
    status: 503,
    message: `No chain source is configured for ${failure.network}`,
    headers: { "retry-after": "60" },
  }),
  INVOICE_NOT_RESOLVABLE: (failure) => ({
    status: 422,
    message: `An invoice in ${failure.status} cannot be accepted; AWAITING_PAYMENT, EXPIRED, UNDERPAID and CANCELLED can`,
  }),
  NOTHING_TO_REVIEW: () => ({ status: 422, message: "Nothing of this invoice waits for a review" }),
  PAYMENT_NOT_FOUND: () => ({ status: 404, message: "Payment not found" }),
  PAYMENT_NOT_RESOLVABLE: (failure) => ({
    status: 422,
    message: `Nothing can be decided about a payment in ${failure.status}: only UNMATCHED ones are assigned or ignored, IGNORED ones assigned`,
  }),
  TRANSACTION_NOT_FOUND: (failure) => ({
    status: 404,
    message: `No source knows this transaction on ${failure.network}, or it is in no block yet; try again later`,
  }),
  CHAIN_UNAVAILABLE: (failure) => ({
    status: 503,
    message: `No chain source of ${failure.network} could answer right now`,
    headers: { "retry-after": "30" },
  }),
  NETWORK_NOT_OFFERED: (failure) => ({
    status: 422,
    message: `The invoice is not paid on this network${failure.networks.length === 0 ? "" : `, but on ${failure.networks.join(", ")}`}`,
  }),
  TOO_MANY_PAYMENTS: (failure) => ({ status: 422, message: `An invoice has at most ${failure.limit} payments` }),
  EVENT_NOT_FOUND: () => ({ status: 404, message: "Event not found; events are kept for 90 days" }),
  WEBHOOK_NOT_FOUND: () => ({ status: 404, message: "Webhook endpoint not found" }),
  WEBHOOK_URL_REFUSED: (failure) => ({ status: 400, message: `The URL cannot be delivered to: ${failure.reason}` }),
  WEBHOOK_INACTIVE: () => ({
    status: 422,
    message: "The endpoint is not active; switch it on first with PATCH isActive",
  }),
  DELIVERY_NOT_FOUND: () => ({ status: 404, message: "Delivery not found; deliveries are kept for 30 days" }),
  REPLAY_TOO_LARGE: (failure) => ({
    status: 422,
    message: `More than ${failure.limit} events match; replay a shorter range or fewer types`,
  }),
};
