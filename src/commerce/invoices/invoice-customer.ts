// The customer of an invoice. A public key makes a customer only for a new email, and never changes or shows one (decisions 7). What is typed on
// a product's page reaches the merchant whatever it says, but does not change a known customer.

import { derivedId, type MerchantId } from "../../lib/ids.ts";
import type { InvoiceOrigin } from "../../platform/column-values.ts";
import { type Customer, type CustomerFields, namesCustomer, newCustomer, withFields } from "../customers/customer.ts";
import { isPublicOrigin } from "./invoice.ts";

export interface AskedCustomer {
  readonly origin: InvoiceOrigin;
  readonly merchant: { readonly id: MerchantId };
  readonly invoice: CustomerFields & { readonly metadata?: Readonly<Record<string, string>> | undefined };
  /** The customer of the request's email. */
  readonly facts: { readonly customer: Customer | undefined };
}

/** The customer as they are to be; undefined where an invoice has none. */
export function customerOf(request: AskedCustomer, operationId: string): Customer | undefined {
  const { facts, invoice, merchant, origin } = request;
  const isNameless = origin === "PUBLIC_KEY" && invoice.customerEmail === undefined;
  if (!namesCustomer(invoice) || isNameless) return undefined;
  if (facts.customer === undefined) return newCustomer(derivedId("cus", operationId), merchant.id, invoice);
  return isPublicOrigin(origin) ? facts.customer : withFields(facts.customer, invoice);
}

/** Members of an invoice's metadata that a product's page writes; they go when the customer is deleted. */
export const TYPED_NAMES = ["customerName", "customerAddress", "customerPhoneNumber"] as const;

/**
 * The invoice's metadata: the request's, and of a product's page what was typed there and differs from the customer, who is not changed:
 * anybody can type anybody's email.
 */
export function metadataOf(request: AskedCustomer): Readonly<Record<string, string>> | undefined {
  const { facts, invoice, origin } = request;
  const known = facts.customer;
  if (origin !== "PRODUCT_PAGE" || known === undefined) return invoice.metadata;
  const said = { customerName: known.name, customerAddress: known.address, customerPhoneNumber: known.phoneNumber };
  const news = TYPED_NAMES.flatMap((name) => {
    const text = invoice[name];
    return text === undefined || text === said[name] ? [] : [[name, text] as const];
  });
  return news.length === 0 ? invoice.metadata : { ...invoice.metadata, ...Object.fromEntries(news) };
}
