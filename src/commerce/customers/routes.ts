import type { MerchantPrincipal } from "../../accounts/auth/principal.ts";
import { answerOnce } from "../../accounts/pipeline/answer-once.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { seatOf } from "../../accounts/teams/check-seat.ts";
import { err, ok } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { jsonReply, replyTo } from "../../platform/http/reply.ts";
import {
  customerBody,
  customerListBody,
  listCustomersQuery,
  locatedCustomerBody,
  salesSummaryBody,
  updateCustomerBody,
  upsertCustomerBody,
} from "./contract.ts";
import { customerBodyOf, locatedCustomerBodyOf } from "./customer-body.ts";
import { deleteCustomer } from "./delete-customer.ts";
import { customerDependencies } from "./dependencies.ts";
import { customerPageReads, listCustomers } from "./list-customers.ts";
import { customerReads, emailReads, locatedReads, salesSummaryReads } from "./read-customer.ts";
import { salesSummaryOf } from "./sales-summary.ts";
import { updateCustomerDetails } from "./update-customer.ts";
import { upsertCustomer } from "./upsert-customer.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/customers";
const ONE = `${BASE}/:customerId`;

export const customerRoutes = routesOf({
  tag: "Customers",
  callers: "MEMBER_OR_KEY",
  dependencies: customerDependencies,
})
  .post(BASE, {
    operationId: "upsertCustomer",
    summary: "Create a customer, or update the one with this email",
    description:
      "Given fields are stored, absent fields keep their values, and null clears a field. Without an email, a new customer is always created.",
    permission: "customer:update",
    isIdempotent: true,
    body: upsertCustomerBody,
    answers: [
      { status: 201, description: "The new customer", schema: customerBody },
      { status: 200, description: "The existing customer with this email, updated", schema: customerBody },
    ],
    reads: ({ db, merchantId, request }) => emailReads(db, merchantId, request?.body.email),
    answer: async (call) => {
      const { merchantId } = call.principal;
      const [known] = call.read[0];
      const request = { merchantId, said: call.body, known, ...actingIn(call) };
      return answerOnce(call, upsertCustomer(call.deps, request));
    },
  })
  .get(BASE, {
    operationId: "listCustomers",
    summary: "List customers, newest first",
    permission: "customer:view",
    query: listCustomersQuery,
    answers: [{ status: 200, description: "One page", schema: customerListBody }],
    reads: ({ db, merchantId, request }) => customerPageReads(db, merchantId, request?.query),
    answer: async (call) => {
      const [rows, counts] = call.read;
      return replyTo(listCustomers({ rows, total: counts[0]?.total ?? 0 }, call.query));
    },
  })
  .get(ONE, {
    operationId: "getCustomer",
    summary: "Read a customer and the location of their last checkout visit",
    permission: "customer:view",
    answers: [{ status: 200, description: "The customer", schema: locatedCustomerBody }],
    refusals: ["CUSTOMER_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => locatedReads(db, merchantId, params.customerId),
    answer: async (call) => {
      const [[customer], [location]] = call.read;
      if (customer === undefined) return err({ code: "CUSTOMER_NOT_FOUND" });
      return ok(jsonReply(200, locatedCustomerBodyOf(customer, location)));
    },
  })
  .get(`${ONE}/resume`, {
    operationId: "getCustomerResume",
    summary: "Read a customer's totals: invoiced and paid",
    permission: "customer:view",
    answers: [{ status: 200, description: "Sums over the customer's invoices", schema: salesSummaryBody }],
    refusals: ["CUSTOMER_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => salesSummaryReads(db, merchantId, params.customerId),
    answer: async (call) => {
      const [[customer], sales] = call.read;
      return customer === undefined ? err({ code: "CUSTOMER_NOT_FOUND" }) : ok(jsonReply(200, salesSummaryOf(sales)));
    },
  })
  .patch(ONE, {
    operationId: "updateCustomer",
    summary: "Update a customer",
    description: "Absent fields keep their values, and null clears a field.",
    permission: "customer:update",
    body: updateCustomerBody,
    answers: [{ status: 200, description: "The updated customer", schema: customerBody }],
    refusals: ["CUSTOMER_NOT_FOUND", "CUSTOMER_EMAIL_EXISTS"],
    reads: ({ db, merchantId, params, request }) => [
      ...customerReads(db, merchantId, params.customerId),
      ...emailReads(db, merchantId, request?.body.email),
    ],
    answer: async (call) => {
      const [[customer], [holder]] = call.read;
      if (customer === undefined) return err({ code: "CUSTOMER_NOT_FOUND" });
      const of = { read: { customer, holder }, ...actingIn(call) };
      return replyTo(await updateCustomerDetails(call.deps, of, call.body), customerBodyOf);
    },
  })
  .delete(ONE, {
    operationId: "deleteCustomer",
    summary: "Delete a customer's personal data and keep their invoices",
    description:
      "Email, name, address, phone number, metadata and location are erased. A later invoice with the same email creates a new customer.",
    permission: "customer:delete",
    answers: [{ status: 200, description: "The customer without personal data", schema: customerBody }],
    refusals: ["CUSTOMER_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => customerReads(db, merchantId, params.customerId),
    answer: async (call) => {
      const [customer] = call.read[0];
      if (customer === undefined) return err({ code: "CUSTOMER_NOT_FOUND" });
      const acting = { trail: call.trail, seat: seatOf(call.principal), permission: "customer:delete" } as const;
      return replyTo(
        await deleteCustomer(call.deps, { read: { customer, holder: undefined }, ...acting }),
        customerBodyOf,
      );
    },
  });

function actingIn({ trail, principal }: { readonly trail: Trail; readonly principal: MerchantPrincipal }) {
  return { trail, seat: seatOf(principal), permission: "customer:update" } as const;
}
