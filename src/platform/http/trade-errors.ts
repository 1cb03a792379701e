// The responses to failures of products, customers, wallets, invoices, payments and webhooks: the other half of the map in `errors.ts`.
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Failure, TradeFailure } from "../failures.ts";

export interface Answer {
  readonly status: ContentfulStatusCode;
  readonly message: string;
  /** Further members for the envelope. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response to each failure by its code. A code without a response does not compile. */
export type Answers<F extends Failure> = { readonly [C in F["code"]]: (failure: Extract<F, { code: C }>) => Answer };

export const TRADE_ANSWERS: Answers<TradeFailure> = {
  PRODUCT_NOT_FOUND: () => ({ status: 404, message: "Product not found" }),
  PRODUCT_NOT_AVAILABLE: () => ({ status: 422, message: "The product is not active" }),
  PRICE_IS_FIXED: () => ({
    status: 400,
    message: "A public key must use the product's own price and currency: leave out rawAmount and currency",
  }),
  CUSTOMER_NOT_FOUND: () => ({ status: 404, message: "Customer not found" }),
  CUSTOMER_EMAIL_EXISTS: (failure) => ({
    status: 409,
    message: "Another customer already has this email address",
    ...(failure.customerId === undefined ? {} : { facts: { customerId: failure.customerId } }),
  }),
  IMAGE_REFUSED: (failure) => ({ status: 400, message: `The image was refused: ${failure.reason}` }),
  IMAGE_NOT_FOUND: () => ({ status: 404, message: "Image not found" }),
  LINK_INVALID: () => ({ status: 404, message: "The link is invalid, expired or already used" }),
  UNSUPPORTED_PAIR: (failure) => ({
    status: 400,
    message: `${failure.cryptocurrency} on ${failure.network} is not supported`,
  }),
  INVALID_ADDRESS: (failure) => ({ status: 400, message: `Invalid address: ${failure.reason}` }),
  INVALID_XPUB: (failure) => ({ status: 400, message: `Invalid extended public key: ${failure.reason}` }),
  DERIVATION_PATH_MISMATCH: (failure) => ({
    status: 400,
    message: `The derivation path does not match the key: ${failure.reason}`,
  }),
  XPUB_NOT_SUPPORTED: (failure) => ({
    status: 400,
    message: `XPUB_WALLET is accepted only for BTC and LTC, not on ${failure.network}`,
  }),
  PRIVATE_KEY_REFUSED: () => ({
    status: 400,
    message:
      "This looks like a private key or seed phrase. Edgetill never accepts one: nothing was stored. If it was real, consider it exposed and move the funds",
  }),
  WALLET_EXISTS: (failure) => ({
    status: 409,
    message: "A wallet for this cryptocurrency and network already exists; delete it before you register another",
    ...(failure.walletId === undefined ? {} : { facts: { walletId: failure.walletId } }),
  }),
  WALLET_HAS_ACTIVE_PAYMENTS: (failure) => ({
    status: 409,
    message: "Cannot delete a wallet with active payments",
    facts: { invoiceIds: failure.invoiceIds },
  }),
  WALLET_NOT_FOUND: () => ({ status: 404, message: "Wallet not found" }),
  WALLET_FROZEN: () => ({
    status: 409,
    message: "The wallet is frozen because its stored data failed the integrity check; delete it and register it again",
  }),
  WALLET_IS_NOT_XPUB: () => ({ status: 400, message: "Only an XPUB_WALLET has derived addresses" }),
  INVOICE_NOT_FOUND: () => ({ status: 404, message: "Invoice not found" }),
  EXTERNAL_ID_EXISTS: (failure) => ({
    status: 409,
    message: "An invoice with this externalId already exists",
    ...(failure.invoiceId === undefined ? {} : { facts: { invoiceId: failure.invoiceId } }),
  }),
  NO_ENABLED_WALLET: (failure) => ({
    status: 422,
    message: `The merchant has no enabled wallet for ${failure.cryptocurrency} on ${failure.network}`,
  }),
  INVOICE_NOT_PAYABLE: (failure) => ({
    status: 422,
    message: `A payment method cannot be chosen for an invoice in status ${failure.status}`,
  }),
  INVOICE_ENDED: (failure) => ({
    status: 422,
    message: `An invoice in status ${failure.status} has no live updates: it no longer changes`,
  }),
  INVOICE_NOT_EDITABLE: (failure) => ({
    status: 422,
    message: `An invoice in status ${failure.status} cannot be changed; its status must be AWAITING_PAYMENT`,
  }),
  INVOICE_NOT_CANCELLABLE: (failure) => ({
    status: 422,
    message: `An invoice in status ${failure.status} cannot be cancelled; its status must be AWAITING_PAYMENT`,
  }),
  INVOICE_HAS_PAYMENTS: () => ({ status: 422, message: "An invoice that has received money cannot be cancelled" }),
  TOO_MANY_ACTIVE_INVOICES: (failure) => ({
    status: 422,
    message: `The merchant has reached its limit of ${failure.limit} active invoices; cancel some, or wait until some are paid or expire`,
  }),
  RATE_UNAVAILABLE: () => ({
    status: 503,
    message: "No reliable exchange rate is available at the moment; try again",
    headers: { "retry-after": "30" },
  }),
  CURRENCY_NOT_PRICED: ({ currency, isDisputed }) => ({
    status: 422,
    message: isDisputed
      ? `Rates of ${currency} are more than 3 % apart, as official and street rates are; use another currency`
      : `Fewer than two sources price ${currency} at the moment; use another currency`,
  }),
  AMOUNTS_EXHAUSTED: () => ({
    status: 409,
    message:
      "All distinguishable amounts at this price are in use on the wallet's address; choose another payment method, or try again later",
  }),
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: () => ({
    status: 422,
    message: "An any-amount invoice needs its own address; choose a payment method of an XPUB_WALLET",
  }),
  PUBLIC_ADDRESS_LIMIT: () => ({
    status: 409,
    message:
      "Too many addresses that browsers requested from this wallet are still unpaid; choose another payment method, or try again in an hour",
  }),
  NETWORK_NOT_WATCHED: (failure) => ({
    status: 503,
    message: `${failure.network} is not being read at the moment, so a payment would not be seen; choose another payment method, or try again later`,
    headers: { "retry-after": "60" },
  }),
  INVOICE_NOT_RESOLVABLE: (failure) => ({
    status: 422,
    message: `An invoice in status ${failure.status} cannot be accepted; its status must be AWAITING_PAYMENT, EXPIRED, UNDERPAID or CANCELLED`,
  }),
  NOTHING_TO_REVIEW: () => ({ status: 422, message: "This invoice has nothing to review" }),
  PAYMENT_NOT_FOUND: () => ({ status: 404, message: "Payment not found" }),
  PAYMENT_NOT_RESOLVABLE: (failure) => ({
    status: 422,
    message: `A payment in status ${failure.status} cannot be resolved: UNMATCHED ones can be assigned or ignored, IGNORED ones only assigned`,
  }),
  TRANSACTION_NOT_FOUND: (failure) => ({
    status: 404,
    message: `This transaction was not found in a block of ${failure.network}; check the hash, or try again later`,
  }),
  CHAIN_UNAVAILABLE: (failure) => ({
    status: 503,
    message: `No chain source of ${failure.network} is available at the moment; try again`,
    headers: { "retry-after": "30" },
  }),
  NETWORK_NOT_OFFERED: (failure) => ({
    status: 422,
    message: `The invoice cannot be paid on this network${failure.networks.length === 0 ? "" : `; use ${failure.networks.join(", ")}`}`,
  }),
  TOO_MANY_PAYMENTS: (failure) => ({
    status: 422,
    message: `The invoice already has ${failure.limit} payments, the most that an invoice can have`,
  }),
  EVENT_NOT_FOUND: () => ({ status: 404, message: "Event not found; events are kept for 90 days" }),
  WEBHOOK_NOT_FOUND: () => ({ status: 404, message: "Webhook endpoint not found" }),
  WEBHOOK_URL_REFUSED: (failure) => ({
    status: 400,
    message: `Webhooks cannot be sent to this URL: ${failure.reason}`,
  }),
  WEBHOOK_INACTIVE: () => ({
    status: 422,
    message: "The endpoint is not active; first set isActive to true with PATCH",
  }),
  DELIVERY_NOT_FOUND: () => ({ status: 404, message: "Delivery not found; deliveries are kept for 30 days" }),
  REPLAY_TOO_LARGE: (failure) => ({
    status: 422,
    message: `More than ${failure.limit} events match; replay a shorter range or fewer types`,
  }),
};
