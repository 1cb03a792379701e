import { answerOnce } from "../../accounts/pipeline/answer-once.ts";
import type { MerchantCall } from "../../accounts/pipeline/call.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import type { Permission } from "../../accounts/roles/permissions.ts";
import { seatOf } from "../../accounts/teams/check-seat.ts";
import { err, ok } from "../../lib/result.ts";
import { emptyReplyTo, jsonReply, replyTo } from "../../platform/http/reply.ts";
import type { WebhookActor, WebhookDependencies } from "./change-webhook.ts";
import {
  createWebhookBody,
  newWebhookBody,
  pingBody,
  updateWebhookBody,
  webhookBody,
  webhookListBody,
} from "./contract.ts";
import { createWebhook } from "./create-webhook.ts";
import { deleteWebhook } from "./delete-webhook.ts";
import { webhookDependencies } from "./dependencies.ts";
import { existingReads, webhookListReads, webhookReads } from "./read-webhook.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { sendPing } from "./send-ping.ts";
import { updateWebhook } from "./update-webhook.ts";
import { webhookBodyOf } from "./webhook-body.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/webhooks";
const ONE = `${BASE}/:webhookId`;

export const webhookRoutes = routesOf({ tag: "Webhooks", callers: "MEMBER_OR_KEY", dependencies: webhookDependencies })
  .post(BASE, {
    operationId: "createWebhook",
    summary: "Register a webhook endpoint",
    description: "Only this response shows the secret. Events from now on are delivered.",
    permission: "webhook:create",
    needsStepUp: true,
    isIdempotent: true,
    body: createWebhookBody,
    answers: [{ status: 201, description: "The endpoint, with its secret", schema: newWebhookBody }],
    refusals: ["WEBHOOK_URL_REFUSED", "LIMIT_REACHED"],
    reads: ({ db, merchantId }) => existingReads(db, merchantId),
    answer: async (call) => {
      const actor = { ...actorOf(call, "webhook:create"), existing: call.read[0] };
      return answerOnce(call, createWebhook(call.deps, actor, call.body), { isSecret: true });
    },
  })
  .get(BASE, {
    operationId: "listWebhooks",
    summary: "List the webhook endpoints, oldest first",
    description: "Returns a plain array, because a merchant has at most 25.",
    permission: "webhook:view",
    answers: [{ status: 200, description: "All endpoints", schema: webhookListBody }],
    reads: ({ db, merchantId }) => webhookListReads(db, merchantId),
    answer: async ({ read: [webhooks], nowMs }) =>
      ok(
        jsonReply(
          200,
          webhooks.map((webhook) => webhookBodyOf(webhook, nowMs)),
        ),
      ),
  })
  .get(ONE, {
    operationId: "getWebhook",
    summary: "Read a webhook endpoint, without its secret",
    permission: "webhook:view",
    answers: [{ status: 200, description: "The endpoint", schema: webhookBody }],
    refusals: ["WEBHOOK_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
    answer: async ({ read: [[webhook]], nowMs }) =>
      webhook === undefined ? err({ code: "WEBHOOK_NOT_FOUND" }) : ok(jsonReply(200, webhookBodyOf(webhook, nowMs))),
  })
  .patch(ONE, {
    operationId: "updateWebhook",
    summary: "Change a webhook endpoint",
    description: "An endpoint that is switched on again receives the events that waited while it was off.",
    permission: "webhook:update",
    needsStepUp: true,
    body: updateWebhookBody,
    answers: [{ status: 200, description: "The updated endpoint", schema: webhookBody }],
    refusals: ["WEBHOOK_NOT_FOUND", "WEBHOOK_URL_REFUSED"],
    reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
    answer: async (call) => {
      return replyTo(await updateWebhook(call.deps, changeOf(call, "webhook:update"), call.body), (value) =>
        webhookBodyOf(value, call.nowMs),
      );
    },
  })
  .delete(ONE, {
    operationId: "deleteWebhook",
    summary: "Delete a webhook endpoint",
    description: "Deletes the endpoint and its secrets. Waiting deliveries are never sent.",
    permission: "webhook:delete",
    needsStepUp: true,
    answers: [{ status: 204, description: "The endpoint is deleted" }],
    refusals: ["WEBHOOK_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
    answer: async (call) => {
      return emptyReplyTo(await deleteWebhook(call.deps, changeOf(call, "webhook:delete")));
    },
  })
  .post(`${ONE}/ping`, {
    operationId: "pingWebhook",
    summary: "Send a ping to a webhook endpoint",
    description:
      "Sends an event `ping` to this endpoint only, whatever it subscribes to, before its waiting deliveries.",
    permission: "webhook:update",
    isIdempotent: true,
    answers: [{ status: 201, description: "The event and delivery that will be sent", schema: pingBody }],
    refusals: ["WEBHOOK_NOT_FOUND", "WEBHOOK_INACTIVE"],
    reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
    answer: async (call) => answerOnce(call, sendPing(call.deps, changeOf(call, "webhook:update"))),
  })
  .post(`${ONE}/rotate-secret`, {
    operationId: "rotateWebhookSecret",
    summary: "Rotate the secret of a webhook endpoint",
    description:
      "For 24 hours deliveries are also signed with the old secret (with the newest five secrets if you rotate often). Only this response shows the new secret.",
    permission: "webhook:update",
    needsStepUp: true,
    isIdempotent: true,
    answers: [{ status: 200, description: "The endpoint, with its new secret", schema: newWebhookBody }],
    refusals: ["WEBHOOK_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
    answer: async (call) =>
      answerOnce(call, rotateSecret(call.deps, changeOf(call, "webhook:update")), { isSecret: true }),
  });

function actorOf({ principal, trail }: MerchantCall<WebhookDependencies>, permission: Permission): WebhookActor {
  const { merchantId } = principal;
  return { merchantId, trail, permission, seat: seatOf(principal) };
}

/** The caller, and the endpoint named in the path. */
function changeOf(call: MerchantCall<WebhookDependencies, ReturnType<typeof webhookReads>>, permission: Permission) {
  return { ...actorOf(call, permission), webhookId: call.params.webhookId ?? "", read: call.read[0][0] };
}
