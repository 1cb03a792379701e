import { err, ok } from "../../lib/result.ts";
import { emptyReplyTo, jsonReply, replyTo } from "../../platform/http/reply.ts";
import { answerOnce } from "../pipeline/answer-once.ts";
import type { MerchantCall } from "../pipeline/call.ts";
import { routesOf } from "../pipeline/routes-of.ts";
import { weakeningRefusal } from "../protections/weakening.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import { type KeyDependencies, keyActor } from "./change-api-key.ts";
import {
  apiKeyBody,
  apiKeyListBody,
  createApiKeyBody,
  listApiKeysQuery,
  newApiKeyBody,
  rotateApiKeyBody,
  updateApiKeyBody,
} from "./contract.ts";
import { createApiKey } from "./create-api-key.ts";
import { deleteApiKey } from "./delete-api-key.ts";
import { keyDependencies } from "./dependencies.ts";
import { keyReads, listApiKeys, pageReads, updateReads } from "./list-api-keys.ts";
import { rotateApiKey } from "./rotate-api-key.ts";
import { updateApiKeyFields } from "./update-api-key.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/api-keys";
const ONE = `${BASE}/:apiKeyId`;

export const apiKeyRoutes = routesOf({ tag: "API keys", callers: "MEMBER_OR_KEY", dependencies: keyDependencies })
  .get(BASE, {
    operationId: "listApiKeys",
    summary: "List API keys, newest first",
    description: "Includes expired keys. Shows only a short form of each secret.",
    permission: "api_key:view",
    query: listApiKeysQuery,
    answers: [{ status: 200, description: "One page", schema: apiKeyListBody }],
    reads: ({ db, merchantId, request }) => pageReads(db, merchantId, request?.query),
    answer: async (call) => {
      const [rows, counts] = call.read;
      return replyTo(listApiKeys({ rows, total: counts[0]?.total ?? 0 }, call.query, call.nowMs));
    },
  })
  .post(BASE, {
    operationId: "createApiKey",
    summary: "Create an API key",
    description: "Only this response shows the secret. The key still works after you leave the team.",
    permission: "api_key:create",
    needsStepUp: true,
    isIdempotent: true,
    body: createApiKeyBody,
    answers: [{ status: 201, description: "The key, with its secret", schema: newApiKeyBody }],
    refusals: ["PERMISSION_NOT_GRANTABLE", "LIMIT_REACHED"],
    answer: async (call) => {
      const actor = keyActor(call.principal, call.trail, "api_key:create");
      if (!actor.ok) return actor;
      return answerOnce(call, createApiKey(call.deps, actor.value, call.body), { isSecret: true });
    },
  })
  .get(ONE, {
    operationId: "getApiKey",
    summary: "Read an API key, without its secret",
    permission: "api_key:view",
    answers: [{ status: 200, description: "The key", schema: apiKeyBody }],
    refusals: ["API_KEY_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => keyReads(db, merchantId, params.apiKeyId),
    answer: async (call) => {
      const [key] = call.read[0];
      return key === undefined ? err({ code: "API_KEY_NOT_FOUND" }) : ok(jsonReply(200, apiKeyBodyOf(key, call.nowMs)));
    },
  })
  .patch(ONE, {
    operationId: "updateApiKey",
    summary: "Rename an API key, or change the addresses from which it may be used",
    description: "Permissions and expiry cannot be changed; create another key instead.",
    permission: "api_key:create",
    body: updateApiKeyBody,
    answers: [{ status: 200, description: "The changed key", schema: apiKeyBody }],
    refusals: ["API_KEY_NOT_FOUND", "PERMISSION_NOT_GRANTABLE", "STEP_UP_REQUIRED"],
    reads: ({ db, merchantId, params }) => updateReads(db, merchantId, params.apiKeyId),
    answer: async (call) => {
      const actor = keyActor(call.principal, call.trail, "api_key:create");
      if (!actor.ok) return actor;
      const [[read], stewards] = call.read;
      const watch = {
        place: call.merchant.name,
        author: actor.value.email,
        readers: stewards.map(({ email }) => email),
        refusal: weakeningRefusal(call.principal, call.nowMs),
      };
      const of = { ...actor.value, apiKeyId: call.params.apiKeyId ?? "", read, watch };
      return replyTo(await updateApiKeyFields(call.deps, of, call.body), (value) => apiKeyBodyOf(value, call.nowMs));
    },
  })
  .post(`${ONE}/rotate`, {
    operationId: "rotateApiKey",
    summary: "Give an API key a new secret",
    description:
      "The new secret works at once, the old one until the overlap ends. Only this response shows the new secret.",
    permission: "api_key:create",
    needsStepUp: true,
    isIdempotent: true,
    body: rotateApiKeyBody,
    answers: [{ status: 200, description: "The key, with its new secret", schema: newApiKeyBody }],
    refusals: ["API_KEY_NOT_FOUND", "PERMISSION_NOT_GRANTABLE"],
    reads: ({ db, merchantId, params }) => keyReads(db, merchantId, params.apiKeyId),
    answer: async (call) => {
      const actor = keyActor(call.principal, call.trail, "api_key:create");
      if (!actor.ok) return actor;
      const of = { ...actor.value, ...named(call) };
      return answerOnce(call, rotateApiKey(call.deps, of, call.body.overlapHours), { isSecret: true });
    },
  })
  .delete(ONE, {
    operationId: "deleteApiKey",
    summary: "Delete an API key",
    description: "The key stops working at once.",
    permission: "api_key:delete",
    answers: [{ status: 204, description: "The key was deleted" }],
    refusals: ["API_KEY_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => keyReads(db, merchantId, params.apiKeyId),
    answer: async (call) => {
      const actor = keyActor(call.principal, call.trail, "api_key:delete");
      if (!actor.ok) return actor;
      return emptyReplyTo(await deleteApiKey(call.deps, { ...actor.value, ...named(call) }));
    },
  });

/** The key named in the path. */
function named(call: MerchantCall<KeyDependencies, ReturnType<typeof keyReads>>) {
  return { apiKeyId: call.params.apiKeyId ?? "", read: call.read[0][0] };
}
