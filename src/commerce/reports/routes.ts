import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { ok } from "../../lib/result.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { totalsBody, totalsQuery } from "./contract.ts";
import { totalsReads } from "./read-totals.ts";
import { totalsBodyOf } from "./totals-body.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/reports";

export const reportRoutes = routesOf({ tag: "Reports", callers: "MEMBER_OR_KEY" }).get(`${BASE}/totals`, {
  operationId: "getTotals",
  summary: "Count invoices and add up payments by day, week or month",
  description:
    "Payments count while they are on the chain or in a mempool, at the time at which they were received (`receivedTxAt`), including late ones. An invoice counts by its current status, in the period in which it got that status. So a change may take something out of an earlier period.",
  permission: "invoice:view",
  query: totalsQuery,
  answers: [{ status: 200, description: "The totals of each period, and of all", schema: totalsBody }],
  reads: ({ db, merchantId, request }) => totalsReads(db, merchantId, request?.query),
  answer: async (call) => ok(jsonReply(200, totalsBodyOf(call.query, call.read[0]))),
});
