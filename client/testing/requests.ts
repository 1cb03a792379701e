// The requests that the fake accepts, parsed by the service's own contracts.
import type * as z from "zod";
import { listCustomersQuery, updateCustomerBody, upsertCustomerBody } from "../../src/commerce/customers/contract.ts";
import {
  createInvoiceBody,
  listInvoicesQuery,
  pairBody,
  resolveInvoiceBody,
  updateInvoiceBody,
} from "../../src/commerce/invoices/contract.ts";
import { listPaymentsQuery, resolvePaymentBody } from "../../src/commerce/payments/contract.ts";
import { createProductBody, listProductsQuery, updateProductBody } from "../../src/commerce/products/contract.ts";
import { lazily } from "../../src/lib/lazily.ts";
import { createWebhookBody, updateWebhookBody } from "../../src/notifications/webhooks/contract.ts";
import { listEventsQuery } from "../../src/platform/events/contract.ts";
import { validate } from "../../src/platform/http/validate.ts";
import { allowed } from "./refusal.ts";

/** Schemas by operationId, each built on first use. */
export const BODIES = {
  createInvoice: lazily(createInvoiceBody),
  updateInvoice: lazily(updateInvoiceBody),
  resolveInvoice: lazily(resolveInvoiceBody),
  activatePaymentMethod: lazily(pairBody),
  resolvePayment: lazily(resolvePaymentBody),
  createProduct: lazily(createProductBody),
  updateProduct: lazily(updateProductBody),
  upsertCustomer: lazily(upsertCustomerBody),
  updateCustomer: lazily(updateCustomerBody),
  createWebhook: lazily(createWebhookBody),
  updateWebhook: lazily(updateWebhookBody),
};
export const QUERIES = {
  listInvoices: lazily(listInvoicesQuery),
  listPayments: lazily(listPaymentsQuery),
  listProducts: lazily(listProductsQuery),
  listCustomers: lazily(listCustomersQuery),
  listEvents: lazily(listEventsQuery),
};

/** The parsed type of a body. */
export type Body<Name extends keyof typeof BODIES> = z.output<ReturnType<(typeof BODIES)[Name]>>;
export type Query<Name extends keyof typeof QUERIES> = z.output<ReturnType<(typeof QUERIES)[Name]>>;

/** Parses a request by its schema. Throws VALIDATION_FAILED with every problem. `given`: undefined without a body. */
export function checked<T>(schema: () => z.ZodType<T>, given: unknown): T {
  return allowed(validate(schema(), given));
}
