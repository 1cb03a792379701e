import { type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { err, ok } from "../lib/result.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import {
  customerBody,
  customerListBody,
  listCustomersQuery,
  resumeBody,
  updateCustomerBody,
  upsertCustomerBody,
} from "./contract.ts";
import { customerBodyOf } from "./customer-body.ts";
import { deleteCustomer } from "./delete-customer.ts";
import { customerEffects } from "./effects.ts";
import { customerPageReads, listCustomers } from "./list-customers.ts";
import { customerReads, emailReads, resumeReads } from "./read-customer.ts";
import { resumeOf } from "./resume.ts";
import { updateCustomerDetails } from "./update-customer.ts";
import { upsertCustomer } from "./upsert-customer.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/customers";
const ONE = `${BASE}/:customerId`;

const upsert = merchantRoute({
  spec: {
    method: "POST",
    path: BASE,
    operationId: "upsertCustomer",
    tag: "Customers",
    summary: "Make a customer, or change the one who has the email",
    description:
      "What is given is taken over, what is absent stays, null clears. Without an email it is always a new one.",
    callers: "MEMBER_OR_KEY",
    permission: "customer:update",
    isForPublicKeys: false,
    isIdempotent: true,
    body: upsertCustomerBody,
    query: noQuery,
    answers: [
      { status: 201, description: "The customer, new", schema: customerBody },
      { status: 200, description: "The customer who had the email, as they now are", schema: customerBody },
    ],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: customerEffects,
  reads: ({ db, merchantId, request }) => emailReads(db, merchantId, request?.body.email),
  answer: async (call) => {
    const { merchantId } = call.principal;
    const [known] = call.read[0];
    return answerOnce(call, upsertCustomer(call.fx, { merchantId, trail: call.trail, said: call.body, known }));
  },
});

const list = merchantRoute({
  spec: {
    method: "GET",
    path: BASE,
    operationId: "listCustomers",
    tag: "Customers",
    summary: "List customers, newest first",
    callers: "MEMBER_OR_KEY",
    permission: "customer:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: listCustomersQuery,
    answers: [{ status: 200, description: "One page", schema: customerListBody }],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: customerEffects,
  reads: ({ db, merchantId, request }) => customerPageReads(db, merchantId, request?.query),
  answer: async (call) => {
    const [rows, counts] = call.read;
    const page = listCustomers({ rows, total: counts[0]?.total ?? 0 }, call.query);
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

const get = merchantRoute({
  spec: {
    method: "GET",
    path: ONE,
    operationId: "getCustomer",
    tag: "Customers",
    summary: "Read a customer",
    callers: "MEMBER_OR_KEY",
    permission: "customer:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The customer", schema: customerBody }],
    refusals: ["CUSTOMER_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: customerEffects,
  reads: ({ db, merchantId, params }) => customerReads(db, merchantId, params.customerId),
  answer: async (call) => {
    const [customer] = call.read[0];
    return customer === undefined ? err({ code: "CUSTOMER_NOT_FOUND" }) : ok(jsonReply(200, customerBodyOf(customer)));
  },
});

const resume = merchantRoute({
  spec: {
    method: "GET",
    path: `${ONE}/resume`,
    operationId: "getCustomerResume",
    tag: "Customers",
    summary: "What a customer was invoiced and has paid",
    callers: "MEMBER_OR_KEY",
    permission: "customer:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "Sums over the customer's invoices", schema: resumeBody }],
    refusals: ["CUSTOMER_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: customerEffects,
  reads: ({ db, merchantId, params }) => resumeReads(db, merchantId, params.customerId),
  answer: async (call) => {
    const [[customer], sales] = call.read;
    return customer === undefined ? err({ code: "CUSTOMER_NOT_FOUND" }) : ok(jsonReply(200, resumeOf(sales)));
  },
});

const update = merchantRoute({
  spec: {
    method: "PATCH",
    path: ONE,
    operationId: "updateCustomer",
    tag: "Customers",
    summary: "Change a customer",
    description: "What is absent stays, null clears.",
    callers: "MEMBER_OR_KEY",
    permission: "customer:update",
    isForPublicKeys: false,
    isIdempotent: false,
    body: updateCustomerBody,
    query: noQuery,
    answers: [{ status: 200, description: "The customer as they now are", schema: customerBody }],
    refusals: ["CUSTOMER_NOT_FOUND", "CUSTOMER_EMAIL_EXISTS"],
  },
  secrets: FREE_TEXT,
  effects: customerEffects,
  reads: ({ db, merchantId, params, request }) => [
    ...customerReads(db, merchantId, params.customerId),
    ...emailReads(db, merchantId, request?.body.email),
  ],
  answer: async (call) => {
    const [[customer], [holder]] = call.read;
    if (customer === undefined) return err({ code: "CUSTOMER_NOT_FOUND" });
    const changed = await updateCustomerDetails(call.fx, { read: { customer, holder }, trail: call.trail }, call.body);
    return changed.ok ? ok(jsonReply(200, customerBodyOf(changed.value))) : changed;
  },
});

const remove = merchantRoute({
  spec: {
    method: "DELETE",
    path: ONE,
    operationId: "deleteCustomer",
    tag: "Customers",
    summary: "Forget a customer and keep their invoices",
    description:
      "Email, name, address, phone number and metadata are erased. A later invoice of the email makes a new customer.",
    callers: "MEMBER_OR_KEY",
    permission: "customer:delete",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "What is left of the customer", schema: customerBody }],
    refusals: ["CUSTOMER_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: customerEffects,
  reads: ({ db, merchantId, params }) => customerReads(db, merchantId, params.customerId),
  answer: async (call) => {
    const [customer] = call.read[0];
    if (customer === undefined) return err({ code: "CUSTOMER_NOT_FOUND" });
    const deleted = await deleteCustomer(call.fx, { read: { customer, holder: undefined }, trail: call.trail });
    return deleted.ok ? ok(jsonReply(200, customerBodyOf(deleted.value))) : deleted;
  },
});

export const customerRoutes: readonly MountedRoute[] = [upsert, list, get, resume, update, remove];
