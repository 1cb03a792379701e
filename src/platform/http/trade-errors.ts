// The answers to refusals of the trade itself: products, customers, wallets, invoices. The other half of the map in `errors.ts`.
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { TradeFailure } from "../failures.ts";

export interface Answer {
  readonly status: ContentfulStatusCode;
  readonly message: string;
  /** Additive members of the envelope. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function tradeAnswer(failure: TradeFailure): Answer {
  switch (failure.code) {
    case "PRODUCT_NOT_FOUND":
      return { status: 404, message: "Product not found" };
    case "PRODUCT_NOT_AVAILABLE":
      return { status: 422, message: "The product is not active" };
    case "PRICE_IS_FIXED":
      return {
        status: 400,
        message: "A public key asks the product's price in its currency: leave rawAmount and currency out",
      };
    case "CUSTOMER_NOT_FOUND":
      return { status: 404, message: "Customer not found" };
    case "CUSTOMER_EMAIL_EXISTS":
      return {
        status: 409,
        message: "Another customer has this email",
        ...(failure.customerId === undefined ? {} : { facts: { customerId: failure.customerId } }),
      };
    case "IMAGE_REFUSED":
      return { status: 400, message: `The image was not taken: ${failure.reason}` };
    case "IMAGE_NOT_FOUND":
      return { status: 404, message: "Image not found" };
    case "LINK_INVALID":
      return { status: 404, message: "The link is wrong, used or expired" };
    case "UNSUPPORTED_PAIR":
      return { status: 400, message: `${failure.cryptocurrency} on ${failure.network} is not supported` };
    case "INVALID_ADDRESS":
      return { status: 400, message: `Invalid address: ${failure.reason}` };
    case "INVALID_XPUB":
      return { status: 400, message: `Invalid extended public key: ${failure.reason}` };
    case "DERIVATION_PATH_MISMATCH":
      return { status: 400, message: `Derivation path does not fit: ${failure.reason}` };
    case "XPUB_NOT_SUPPORTED":
      return { status: 400, message: `XPUB_WALLET is accepted only for BTC and LTC, not on ${failure.network}` };
    case "PRIVATE_KEY_REFUSED":
      return {
        status: 400,
        message:
          "This looks like a private key or seed phrase. Edgetill never takes one: nothing was stored. If it was real, consider it exposed and move the funds",
      };
    case "WALLET_EXISTS":
      return {
        status: 409,
        message: "A wallet for this cryptocurrency and network exists already; delete it first to rotate",
        ...(failure.walletId === undefined ? {} : { facts: { walletId: failure.walletId } }),
      };
    case "WALLET_HAS_ACTIVE_PAYMENTS":
      return { status: 409, message: "Cannot delete a wallet with active payments" };
    case "WALLET_NOT_FOUND":
      return { status: 404, message: "Wallet not found" };
    case "WALLET_FROZEN":
      return {
        status: 409,
        message: "The stored wallet fails its integrity check and is frozen; delete it and register it again",
      };
    case "WALLET_IS_NOT_XPUB":
      return { status: 400, message: "Only an XPUB_WALLET has derived addresses" };
    case "INVOICE_NOT_FOUND":
      return { status: 404, message: "Invoice not found" };
    case "EXTERNAL_ID_EXISTS":
      return {
        status: 409,
        message: "An invoice with this externalId exists already",
        ...(failure.invoiceId === undefined ? {} : { facts: { invoiceId: failure.invoiceId } }),
      };
    case "NO_ENABLED_WALLET":
      return { status: 422, message: `There is no enabled wallet for ${failure.cryptocurrency} on ${failure.network}` };
    case "INVOICE_NOT_PAYABLE":
      return { status: 422, message: `An invoice in ${failure.status} takes no payment method` };
    case "INVOICE_ENDED":
      return { status: 422, message: `The page of an invoice in ${failure.status} changes no more` };
    case "INVOICE_NOT_EDITABLE":
      return { status: 422, message: `An invoice in ${failure.status} cannot be changed; only AWAITING_PAYMENT can` };
    case "INVOICE_NOT_CANCELLABLE":
      return { status: 422, message: `An invoice in ${failure.status} cannot be cancelled; only AWAITING_PAYMENT can` };
    case "INVOICE_HAS_PAYMENTS":
      return { status: 422, message: "An invoice that has received money cannot be cancelled" };
    case "TOO_MANY_ACTIVE_INVOICES":
      return { status: 422, message: `The merchant has ${failure.limit} active invoices, its limit` };
    case "RATE_UNAVAILABLE":
      return {
        status: 503,
        message: "No trustworthy exchange rate is available right now",
        headers: { "retry-after": "30" },
      };
    case "AMOUNTS_EXHAUSTED":
      return { status: 409, message: "Every distinguishable amount at this price is in use on the wallet's address" };
    case "ANY_AMOUNT_NEEDS_OWN_ADDRESS":
      return {
        status: 422,
        message: "An any-amount invoice needs an address of its own: a direct wallet cannot take it",
      };
    case "PUBLIC_ADDRESS_LIMIT":
      return {
        status: 409,
        message:
          "Browsers were given as many addresses of this wallet as may lie past the last one that was paid; pick another method, or try again in an hour",
      };
    case "NETWORK_NOT_WATCHED":
      return {
        status: 503,
        message: `No chain source is configured for ${failure.network}`,
        headers: { "retry-after": "60" },
      };
    case "INVOICE_NOT_RESOLVABLE":
      return {
        status: 422,
        message: `An invoice in ${failure.status} cannot be accepted; AWAITING_PAYMENT, EXPIRED, UNDERPAID and CANCELLED can`,
      };
    case "NOTHING_TO_REVIEW":
      return { status: 422, message: "Nothing of this invoice waits for a review" };
    case "PAYMENT_NOT_FOUND":
      return { status: 404, message: "Payment not found" };
    case "PAYMENT_NOT_RESOLVABLE":
      return {
        status: 422,
        message: `Nothing can be decided about a payment in ${failure.status}: only UNMATCHED ones are assigned or ignored, IGNORED ones assigned`,
      };
    case "TRANSACTION_NOT_FOUND":
      return {
        status: 404,
        message: `No source knows this transaction on ${failure.network}, or it is in no block yet; try again later`,
      };
    case "CHAIN_UNAVAILABLE":
      return {
        status: 503,
        message: `No chain source of ${failure.network} could answer right now`,
        headers: { "retry-after": "30" },
      };
    case "NETWORK_NOT_OFFERED":
      return {
        status: 422,
        message: `The invoice is not paid on this network${failure.networks.length === 0 ? "" : `, but on ${failure.networks.join(", ")}`}`,
      };
    case "TOO_MANY_PAYMENTS":
      return { status: 422, message: `An invoice has at most ${failure.limit} payments` };
    case "EVENT_NOT_FOUND":
      return { status: 404, message: "Event not found; events are kept for 90 days" };
    case "WEBHOOK_NOT_FOUND":
      return { status: 404, message: "Webhook endpoint not found" };
    case "WEBHOOK_URL_REFUSED":
      return { status: 400, message: `The URL cannot be delivered to: ${failure.reason}` };
    case "WEBHOOK_INACTIVE":
      return { status: 422, message: "The endpoint is not active; switch it on first with PATCH isActive" };
    case "DELIVERY_NOT_FOUND":
      return { status: 404, message: "Delivery not found; deliveries are kept for 30 days" };
    case "REPLAY_TOO_LARGE":
      return { status: 422, message: `More than ${failure.limit} events match; replay a shorter range or fewer types` };
  }
}
