import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { ok } from "../../lib/result.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { readinessBody, readinessQuery } from "./contract.ts";
import { readinessDependencies } from "./dependencies.ts";
import { readinessReads, readReadiness } from "./read-readiness.ts";

export const readinessRoutes = routesOf({
  tag: "Wallets",
  callers: "MEMBER_OR_KEY",
  dependencies: readinessDependencies,
}).get("/api/v1/merchants/merchant/:merchantId/readiness", {
  operationId: "getReadiness",
  summary: "Read whether the merchant can be paid now, in which coins, and why not",
  description:
    "For each coin on each network: `canBePaid`, or the reasons, as a closed list of codes. A coin without a reason is one with which an invoice is created now. Whether payments are seen is said for a network that is being read: one on which nothing is awaited is not asked, and one that was never read has the warning NOT_YET_READ. The `canBePaid` of the whole merchant counts no test networks. Not known before an invoice is created: whether a shared address has an amount left, whether a key that other merchants use has an address left, and what limits callers from browsers. Nothing outside is asked but what a create asks: the deployment's own book of rates.",
  permission: "wallet:view",
  query: readinessQuery,
  answers: [{ status: 200, description: "Each coin, those with a wallet first", schema: readinessBody }],
  reads: ({ db, merchantId }) => readinessReads(db, merchantId),
  answer: async ({ deps, merchant, query, read }) => {
    return ok(jsonReply(200, await readReadiness(deps, { merchant, read, currency: query.currency })));
  },
});
