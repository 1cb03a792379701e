import type { Statements } from "../auth/authenticate.ts";
import { type MerchantCall, type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { emptyReply, jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { err, ok } from "../lib/result.ts";
import type { Permission } from "../teams/permissions.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import type { WebhookActor, WebhookEffects } from "./change-webhook.ts";
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
import { webhookEffects } from "./effects.ts";
import { existingReads, webhookListReads, webhookReads } from "./read-webhook.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { sendPing } from "./send-ping.ts";
import { updateWebhook } from "./update-webhook.ts";
import { webhookBodyOf } from "./webhook-body.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/webhooks";
const ONE = `${BASE}/:webhookId`;

/** What all routes of endpoints have in common. */
const common = { tag: "Webhooks", callers: "MEMBER_OR_KEY", isForPublicKeys: false, query: noQuery } as const;

const list = merchantRoute({
  spec: {
    ...common,
    method: "GET",
    path: BASE,
    operationId: "listWebhooks",
    summary: "List the webhook endpoints, oldest first",
    description: "A plain array: a merchant has at most 20.",
    permission: "webhook:view",
    isIdempotent: false,
    body: noBody,
    answers: [{ status: 200, description: "All endpoints", schema: webhookListBody }],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId }) => webhookListReads(db, merchantId),
  answer: async ({ read: [webhooks], nowMs }) =>
    ok(
      jsonReply(
        200,
        webhooks.map((webhook) => webhookBodyOf(webhook, nowMs)),
      ),
    ),
});

const create = merchantRoute({
  spec: {
    ...common,
    method: "POST",
    path: BASE,
    operationId: "createWebhook",
    summary: "Register a webhook endpoint",
    description: "The answer is the only one that shows the secret. Events from now on are delivered.",
    permission: "webhook:create",
    needsStepUp: true,
    isIdempotent: true,
    body: createWebhookBody,
    answers: [{ status: 201, description: "The endpoint, with its secret", schema: newWebhookBody }],
    refusals: ["WEBHOOK_URL_REFUSED", "TOO_MANY_WEBHOOKS"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId }) => existingReads(db, merchantId),
  answer: async (call) => {
    const actor = { ...actorOf(call, "webhook:create"), existing: call.read[0] };
    return answerOnce(call, createWebhook(call.fx, actor, call.body), { isSecret: true });
  },
});

const get = merchantRoute({
  spec: {
    ...common,
    method: "GET",
    path: ONE,
    operationId: "getWebhook",
    summary: "Read a webhook endpoint, without its secret",
    permission: "webhook:view",
    isIdempotent: false,
    body: noBody,
    answers: [{ status: 200, description: "The endpoint", schema: webhookBody }],
    refusals: ["WEBHOOK_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
  answer: async ({ read: [[webhook]], nowMs }) =>
    webhook === undefined ? err({ code: "WEBHOOK_NOT_FOUND" }) : ok(jsonReply(200, webhookBodyOf(webhook, nowMs))),
});

const update = merchantRoute({
  spec: {
    ...common,
    method: "PATCH",
    path: ONE,
    operationId: "updateWebhook",
    summary: "Change a webhook endpoint",
    description: "Switched on again, it receives what has waited for it since it was switched off.",
    permission: "webhook:update",
    needsStepUp: true,
    isIdempotent: false,
    body: updateWebhookBody,
    answers: [{ status: 200, description: "The endpoint as it now is", schema: webhookBody }],
    refusals: ["WEBHOOK_NOT_FOUND", "WEBHOOK_URL_REFUSED"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
  answer: async (call) => {
    const changed = await updateWebhook(call.fx, changeOf(call, "webhook:update"), call.body);
    return changed.ok ? ok(jsonReply(200, webhookBodyOf(changed.value, call.nowMs))) : changed;
  },
});

const remove = merchantRoute({
  spec: {
    ...common,
    method: "DELETE",
    path: ONE,
    operationId: "deleteWebhook",
    summary: "Delete a webhook endpoint",
    description: "With its secrets; what still waited for it is never delivered.",
    permission: "webhook:delete",
    needsStepUp: true,
    isIdempotent: false,
    body: noBody,
    answers: [{ status: 204, description: "It is gone" }],
    refusals: ["WEBHOOK_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
  answer: async (call) => {
    const deleted = await deleteWebhook(call.fx, changeOf(call, "webhook:delete"));
    return deleted.ok ? ok(emptyReply()) : deleted;
  },
});

const ping = merchantRoute({
  spec: {
    ...common,
    method: "POST",
    path: `${ONE}/ping`,
    operationId: "pingWebhook",
    summary: "Send a ping to a webhook endpoint",
    description: "An event `ping` for this endpoint alone, whatever it subscribes to, before all that waits for it.",
    permission: "webhook:update",
    isIdempotent: true,
    body: noBody,
    answers: [{ status: 201, description: "What will be delivered", schema: pingBody }],
    refusals: ["WEBHOOK_NOT_FOUND", "WEBHOOK_INACTIVE"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
  answer: async (call) => answerOnce(call, sendPing(call.fx, changeOf(call, "webhook:update"))),
});

const rotate = merchantRoute({
  spec: {
    ...common,
    method: "POST",
    path: `${ONE}/rotate-secret`,
    operationId: "rotateWebhookSecret",
    summary: "Give a webhook endpoint a new secret",
    description:
      "For 24 hours deliveries are signed with the old one too (the newest five, if you rotate often). The answer is the only one that shows the new one.",
    permission: "webhook:update",
    needsStepUp: true,
    isIdempotent: true,
    body: noBody,
    answers: [{ status: 200, description: "The endpoint, with its new secret", schema: newWebhookBody }],
    refusals: ["WEBHOOK_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
  answer: async (call) => answerOnce(call, rotateSecret(call.fx, changeOf(call, "webhook:update")), { isSecret: true }),
});

export const webhookRoutes: readonly MountedRoute[] = [create, list, get, update, remove, ping, rotate];

function actorOf<B, Q, R extends Statements>(
  { principal, trail }: MerchantCall<B, Q, R, WebhookEffects>,
  permission: Permission,
): WebhookActor {
  const { merchantId } = principal;
  return { merchantId, trail, permission, seat: principal.kind === "USER" ? principal : undefined };
}

/** Who changes the endpoint of the path. */
function changeOf<B, Q>(
  call: MerchantCall<B, Q, ReturnType<typeof webhookReads>, WebhookEffects>,
  permission: Permission,
) {
  return { ...actorOf(call, permission), webhookId: call.params.webhookId ?? "", read: call.read[0][0] };
}
