import { err } from "../../lib/result.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import { keyActor } from "../api-keys/change-api-key.ts";
import { newApiKeyBody } from "../api-keys/contract.ts";
import { keyDependencies } from "../api-keys/dependencies.ts";
import { answerOnce } from "../pipeline/answer-once.ts";
import { routesOf } from "../pipeline/routes-of.ts";
import { answerQuestion } from "./answer-question.ts";
import { authorizeBody } from "./contract.ts";
import { redirectOf } from "./question.ts";
import { readQuestionToken } from "./question-token.ts";

export const applicationRoutes = routesOf({
  tag: "API keys",
  callers: "MEMBER_OR_KEY",
  dependencies: keyDependencies,
}).post("/api/v1/merchants/merchant/:merchantId/applications", {
  operationId: "authorizeApplication",
  summary: "Give an application a key with the permissions that it asks for",
  description:
    "For the page `/api-keys/authorize`, to which shop plugins of BTCPay Server send a user. Only this response shows the secret. The key expires after an hour unless it is used.",
  permission: "api_key:create",
  needsStepUp: true,
  isIdempotent: true,
  body: authorizeBody,
  answers: [{ status: 201, description: "The key, with its secret", schema: newApiKeyBody }],
  refusals: ["PERMISSION_NOT_GRANTABLE", "LIMIT_REACHED", "AUTHORIZATION_OVER"],
  answer: async (call) => {
    const actor = keyActor(call.principal, call.trail, "api_key:create");
    if (!actor.ok) return actor;
    const { application, rights } = call.body;
    const redirect = call.body.redirect === null ? undefined : redirectOf(call.body.redirect);
    if (redirect !== undefined && !redirect.ok)
      return err({ code: "VALIDATION_FAILED", details: [{ path: "redirect", message: redirect.error }] });
    const keys = keyringOf(call.env, "API_KEY_MAC_KEY");
    if (!keys.ok) throw new Error(keys.error);
    const origin = redirect?.value.origin;
    const binding = { keys: keys.value, origin: origin ?? "", nowMs: call.nowMs };
    const question = readQuestionToken(binding, call.body.question);
    if (question === undefined) return err({ code: "AUTHORIZATION_OVER" });
    const answer = { question, application, givenTo: origin ?? null, rights };
    return answerOnce(call, answerQuestion(call.deps, actor.value, answer), { isSecret: true });
  },
});
