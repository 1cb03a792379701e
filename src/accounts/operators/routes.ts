import { ok } from "../../lib/result.ts";
import { emptyReplyTo, jsonReply, replyTo } from "../../platform/http/reply.ts";
import { routesOf } from "../pipeline/routes-of.ts";
import { teamDependencies } from "../teams/dependencies.ts";
import { addOperator } from "./add-operator.ts";
import { addOperatorBody, operatorBody, operatorListBody } from "./contract.ts";
import { listOperators, operatorReads } from "./list-operators.ts";
import { operatorBodyOf } from "./operator-body.ts";
import { removeOperator } from "./remove-operator.ts";

const OPERATORS = "/api/v1/operator/operators";

/** These paths are in the public reference, so callers who are not operators get 403 rather than 404. */
export const operatorRoutes = routesOf({
  tag: "Deployment",
  callers: "USER",
  isOperatorOnly: true,
  dependencies: teamDependencies,
})
  .get(OPERATORS, {
    operationId: "listOperators",
    summary: "List the operators of the deployment",
    description: "An operator runs the deployment. It is not a role in a team, and gives access to no merchant's data.",
    answers: [{ status: 200, description: "All operators, oldest first", schema: operatorListBody }],
    reads: ({ db }) => operatorReads(db),
    answer: async (call) => ok(jsonReply(200, listOperators(call.read[0]))),
  })
  .post(OPERATORS, {
    operationId: "addOperator",
    summary: "Make a user an operator",
    description: "For a user who already is one, the answer is the same and nothing changes.",
    needsStepUp: true,
    body: addOperatorBody,
    answers: [{ status: 200, description: "The operator", schema: operatorBody }],
    refusals: ["USER_NOT_FOUND"],
    answer: async (call) => {
      const { user: actor } = call.principal;
      return replyTo(
        await addOperator(call.deps, { email: call.body.email, actor, trail: call.trail }),
        operatorBodyOf,
      );
    },
  })
  .delete(`${OPERATORS}/:userId`, {
    operationId: "removeOperator",
    endsAccess: true,
    summary: "Make an operator an ordinary user",
    description: "They keep their account and their team memberships. The last operator cannot be removed.",
    needsStepUp: true,
    answers: [{ status: 204, description: "No longer an operator" }],
    refusals: ["OPERATOR_NOT_FOUND", "LAST_OPERATOR"],
    answer: async (call) => {
      const { user: actor } = call.principal;
      return emptyReplyTo(
        await removeOperator(call.deps, { userId: call.params.userId ?? "", actor, trail: call.trail }),
      );
    },
  });
