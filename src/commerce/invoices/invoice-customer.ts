// The customer of an invoice. A public key creates a customer only for a new email, and never changes or shows an existing one (decisions 7). Text
// typed on a product page always reaches the merchant, but does not change an existing customer.

import { derivedId, type MerchantId } from "../../lib/ids.ts";
import type { InvoiceOrigin } from "../../platform/column-values.ts";
import {
  type Customer,
  type CustomerFields,
  namesCustomer,
  newCustomer,
  TYPED_NAMES,
  withFields,
} from "../customers/customer.ts";
import { isPublicOrigin } from "../invoice-records/invoice.ts";

export interface AskedCustomer {
  readonly origin: InvoiceOrigin;
  readonly merchant: { readonly id: MerchantId };
  readonly invoice: CustomerFields & { readonly metadata?: Readonly<Record<string, string>> | undefined };
  /** The existing customer with the email in the request. */
  readonly facts: { readonly customer: Customer | undefined };
}

/** The customer to store; undefined if the invoice has no customer. */
export function customerOf(request: AskedCustomer, operationId: string, nowMs: number): Customer | undefined {
  const { facts, invoice, merchant, origin } = request;
  const isNameless = origin === "PUBLIC_KEY" && invoice.customerEmail === undefined;
  if (!namesCustomer(invoice) || isNameless) return undefined;
  const { customer } = facts;
  if (customer === undefined)
    return newCustomer({ id: derivedId("cus", operationId), merchantId: merchant.id }, invoice, nowMs);
  return isPublicOrigin(origin) ? customer : withFields(customer, invoice, nowMs);
}

/**
 * The invoice's metadata: that of the request, plus what was typed on a product page and differs from the existing customer. The customer is not
 * changed, because anyone can type another person's email.
 */
export function metadataOf(request: AskedCustomer): Readonly<Record<string, string>> | undefined {
  const { facts, invoice, origin } = request;
  const known = facts.customer;
  if (origin !== "PRODUCT_PAGE" || known === undefined) return invoice.metadata;
  const said = { customerName: known.name, customerAddress: known.address, customerPhoneNumber: known.phoneNumber };
  const typed = TYPED_NAMES.flatMap((name) => {
    const text = invoice[name];
    return text === undefined || text === said[name] ? [] : [[name, text] as const];
  });
  return typed.length === 0 ? invoice.metadata : { ...invoice.metadata, ...Object.fromEntries(typed) };
}
