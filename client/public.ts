// What a web page may do with a public key: create invoices, read any invoice whose id it knows, add payment methods, and list products.
import type * as Api from "./api-types.ts";
import { callsOf, type EdgetillOptions } from "./calls.ts";
import { pagesOf } from "./pages.ts";
import type { CallOptions } from "./request.ts";
import { type NewInvoice, pageAt } from "./resources.ts";

type ServersOnly = "externalId" | "metadata" | "expiresInSeconds";

/**
 * An invoice that a page may create, with at most one payment method. If it names a product, the price and currency are the product's. Without a
 * product the visitor chooses the price.
 */
export type NewPublicInvoice = NewInvoice & { readonly [Name in ServersOnly]?: never };

/** Options of one call from a page. */
export interface PublicCallOptions extends CallOptions {
  /** After a refusal with the code CHALLENGE_REQUIRED: the token from the Turnstile widget. It is valid for one new invoice. */
  readonly turnstileToken?: string | undefined;
}

/** One operation of the API that is open to public keys, by its operationId. */
export type PublicCall = <Name extends keyof Api.PublicOperations>(
  name: Name,
  parts: Name extends "createInvoice"
    ? { readonly body: NewPublicInvoice }
    : Omit<Api.PublicOperations[Name], "answer">,
  options: PublicCallOptions | undefined,
) => Promise<Api.PublicOperations[Name]["answer"]>;

/** For browsers: anyone may read a public key, and this is all that it can do. Answers contain neither customers nor the merchant's notes. */
export class EdgetillPublic {
  readonly invoices: ReturnType<typeof publicInvoices>;
  readonly products: ReturnType<typeof publicProducts>;

  /** Throws a TypeError for a secret key, which a page would expose to everyone. */
  constructor(options: EdgetillOptions) {
    if (!options.apiKey.startsWith("pk_")) throw new TypeError("EdgetillPublic takes a public key (pk_)");
    const { callPublic } = callsOf(options);
    this.invoices = publicInvoices(callPublic);
    this.products = publicProducts(callPublic);
  }
}

const publicInvoices = (call: PublicCall) => ({
  /** Send the visitor to the `checkoutUrl` of the answer. An `idempotencyKey` for each order makes it safe to press the button twice. */
  create: (body: NewPublicInvoice, options?: PublicCallOptions) => call("createInvoice", { body }, options),
  /** The current state of any of the merchant's invoices whose id the page knows. */
  get: (invoiceId: string, options?: PublicCallOptions) => call("getInvoice", { params: { invoiceId } }, options),
  /** The active payment methods, and those that the customer can pick. */
  listPaymentMethods: (invoiceId: string, options?: PublicCallOptions) =>
    call("listPaymentMethods", { params: { invoiceId } }, options),
  /** Locks the rate and returns an address or an amount. Another call with the same pair returns the same method. */
  addPaymentMethod: (invoiceId: string, body: Api.ActivatePaymentMethodBody, options?: PublicCallOptions) =>
    call("activatePaymentMethod", { params: { invoiceId }, body }, options),
});

const publicProducts = (call: PublicCall) => ({
  /** Products for sale, newest first. */
  list: (query: Api.ListProductsQuery = {}, options?: PublicCallOptions) =>
    pagesOf((cursor) => call("listProducts", { query: pageAt(query, cursor) }, options)),
  get: (productId: string, options?: PublicCallOptions) => call("getProduct", { params: { productId } }, options),
});
