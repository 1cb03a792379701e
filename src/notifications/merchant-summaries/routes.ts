import type { Statements } from "../../accounts/auth/authenticate.ts";
import type { CallOf } from "../../accounts/pipeline/call.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { accountDependencies } from "../../accounts/sessions/dependencies.ts";
import { setSuspension } from "../../accounts/suspension/change-suspension.ts";
import type { Result } from "../../lib/result.ts";
import { isoTimeOrNull } from "../../lib/time.ts";
import type { Failure } from "../../platform/failures.ts";
import { type Reply, replyTo } from "../../platform/http/reply.ts";
import { merchantSummaryListBody, merchantSummaryQuery, suspensionBody } from "./contract.ts";
import { listMerchantSummaries } from "./list-merchant-summaries.ts";

const MERCHANTS = "/api/v1/operator/merchants";
const SUSPENSION = `${MERCHANTS}/:merchantId/suspension`;

/** What operators may see and do with merchants, without access to a merchant's data: no money, no customers. */
export const merchantSummaryRoutes = routesOf({
  tag: "Deployment",
  callers: "USER",
  isOperatorOnly: true,
  dependencies: accountDependencies,
})
  .get(MERCHANTS, {
    operationId: "listMerchantSummaries",
    summary: "List the merchants of the deployment, newest first",
    description:
      "Shows how many invoices each created in the last 24 hours and how many deliveries are due, but no amounts and no customers.",
    query: merchantSummaryQuery,
    answers: [{ status: 200, description: "One page", schema: merchantSummaryListBody }],
    answer: async ({ deps, query }) => {
      return replyTo(await listMerchantSummaries(deps, query));
    },
  })
  .post(SUSPENSION, {
    operationId: "suspendMerchant",
    summary: "Suspend a merchant, so that it creates no new invoices",
    description:
      "From now on it creates no invoices (403 MERCHANT_SUSPENDED for its servers, public keys and product pages), and payers of its invoices get no further address or amount. Everything can still be read, and payments to addresses and amounts that payers already have are found, credited and reported as before. Nothing changes if it is already suspended.",
    needsStepUp: true,
    answers: [{ status: 200, description: "When it was suspended", schema: suspensionBody }],
    refusals: ["MERCHANT_NOT_FOUND"],
    answer: (call) => suspended(call, true),
  })
  .delete(SUSPENSION, {
    operationId: "resumeMerchant",
    summary: "End a merchant's suspension",
    description: "Nothing changes if it is not suspended.",
    needsStepUp: true,
    answers: [{ status: 200, description: "The merchant is not suspended", schema: suspensionBody }],
    refusals: ["MERCHANT_NOT_FOUND"],
    answer: (call) => suspended(call, false),
  });

async function suspended(
  { deps, params, principal, trail }: CallOf<"USER", unknown, unknown, Statements, Parameters<typeof setSuspension>[0]>,
  isSuspended: boolean,
): Promise<Result<Reply, Failure>> {
  const { merchantId = "" } = params;
  const done = await setSuspension(deps, { merchantId, isSuspended, actor: principal.user, trail });
  return replyTo(done, ({ id, suspendedAtMs }) => ({ id, suspendedAt: isoTimeOrNull(suspendedAtMs) }));
}
