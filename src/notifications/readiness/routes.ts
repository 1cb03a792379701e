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
    "For each coin on each network: `canBePaid`, or the reasons, as a closed list of codes. An invoice can be created now with any coin that has no reasons. Whether payments are seen is known for networks that are being read: a network on which no invoice waits is not checked, and one that was never read has the warning NOT_YET_READ. The `canBePaid` of the whole merchant ignores test networks. Some conditions are only checked when an invoice is created: whether a shared address has an amount left, whether a key that other merchants use has an address left, and the limits for browsers. No outside service is asked; the rates are the stored ones that are used when an invoice is created.",
  permission: "wallet:view",
  query: readinessQuery,
  answers: [{ status: 200, description: "Each coin, those with a wallet first", schema: readinessBody }],
  reads: ({ db, merchantId }) => readinessReads(db, merchantId),
  answer: async ({ deps, merchant, query, read }) => {
    return ok(jsonReply(200, await readReadiness(deps, { merchant, read, currency: query.currency })));
  },
});
