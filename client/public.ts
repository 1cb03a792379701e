// What a web page may do with a public key: sell, and follow the invoice that it sold.
import type * as Api from "./api-types.ts";
import { callsOf, type EdgetillOptions } from "./calls.ts";
import { pagesOf } from "./pages.ts";
import type { CallOptions } from "./request.ts";
import { type NewInvoice, pageAt } from "./resources.ts";

type ServersOnly = "externalId" | "metadata" | "expiresInSeconds";

/**
 * An invoice that a page may ask for, with at most one payment method. Name a product: its price and currency then count. Without one the
 * visitor names the price.
 */
export type NewPublicInvoice = NewInvoice & { readonly [Name in ServersOnly]?: never };

/** Of one call of a page. */
export interface PublicCallOptions extends CallOptions {
  /** Where a refusal had the code CHALLENGE_REQUIRED: what the Turnstile widget gave. It pays for one new invoice. */
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

/** For browsers: a public key may be read by everybody, and can do only this. Answers show no customer and nothing of the merchant's notes. */
export class EdgetillPublic {
  readonly invoices: ReturnType<typeof publicInvoices>;
  readonly products: ReturnType<typeof publicProducts>;

  /** Throws a TypeError for a secret key: in a page it would be everybody's. */
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
  /** As it is now; any invoice of the merchant whose id the page knows. */
  get: (invoiceId: string, options?: PublicCallOptions) => call("getInvoice", { params: { invoiceId } }, options),
  /** Active ones, and those that can be picked. */
  listPaymentMethods: (invoiceId: string, options?: PublicCallOptions) =>
    call("listPaymentMethods", { params: { invoiceId } }, options),
  /** Locks the rate and gives an address or an amount; the same pair again gives the same. */
  addPaymentMethod: (invoiceId: string, body: Api.ActivatePaymentMethodBody, options?: PublicCallOptions) =>
    call("activatePaymentMethod", { params: { invoiceId }, body }, options),
});

const publicProducts = (call: PublicCall) => ({
  /** Those that are for sale, newest first. */
  list: (query: Api.ListProductsQuery = {}, options?: PublicCallOptions) =>
    pagesOf((cursor) => call("listProducts", { query: pageAt(query, cursor) }, options)),
  get: (productId: string, options?: PublicCallOptions) => call("getProduct", { params: { productId } }, options),
});
