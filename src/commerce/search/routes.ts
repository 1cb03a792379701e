import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import type { Permission } from "../../accounts/roles/permissions.ts";
import { ok } from "../../lib/result.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { searchBody, searchQuery } from "./contract.ts";
import { searchReads } from "./read-found.ts";
import { foundCustomerBody, foundInvoiceBody, foundPaymentBody } from "./search-body.ts";

export const searchRoutes = routesOf({ tag: "Search", callers: "MEMBER_OR_KEY" }).get(
  "/api/v1/merchants/merchant/:merchantId/search",
  {
    operationId: "search",
    summary: "Find invoices, customers and payments by what is known about them",
    description:
      "Finds items that have, for each word of the text, a word that equals it or begins with it. A search therefore costs the same for any number of invoices. Each kind is shown only to callers who may view it.",
    permission: ["invoice:view", "customer:view", "payment:view"],
    query: searchQuery,
    answers: [{ status: 200, description: "What was found, by kind", schema: searchBody }],
    reads: ({ db, merchantId, isPublicKeyClaimed, request }) =>
      searchReads(db, merchantId, isPublicKeyClaimed ? undefined : request?.query.q),
    answer: async (call) => {
      const [invoices, customers, payments] = call.read;
      const maySee = (permission: Permission) => call.principal.permissions.has(permission);
      return ok(
        jsonReply(200, {
          ...(maySee("invoice:view") ? { invoices: invoices.map(foundInvoiceBody) } : {}),
          ...(maySee("customer:view") ? { customers: customers.map(foundCustomerBody) } : {}),
          ...(maySee("payment:view") ? { payments: payments.map(foundPaymentBody) } : {}),
        }),
      );
    },
  },
);
