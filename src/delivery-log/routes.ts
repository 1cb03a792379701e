import { type MerchantCall, type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { err, ok } from "../lib/result.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import { webhookEffects } from "../webhooks/effects.ts";
import { webhookReads } from "../webhooks/read-webhook.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { deliveryDetailsBody, deliveryListBody, listDeliveriesQuery, replayAnswer, replayBody } from "./contract.ts";
import { deliveryDetailsOf } from "./delivery-body.ts";
import { deliveryPageReads, deliveryReads, listDeliveries } from "./list-deliveries.ts";
import { replayEvents } from "./replay-events.ts";
import { resendDelivery } from "./resend-delivery.ts";

const HOOK = "/api/v1/merchants/merchant/:merchantId/webhooks/:webhookId";
const BASE = `${HOOK}/deliveries`;
const ONE = `${BASE}/:deliveryId`;

const common = { tag: "Webhooks", callers: "MEMBER_OR_KEY", isForPublicKeys: false } as const;
const reading = { ...common, method: "GET", permission: "webhook:view", isIdempotent: false, body: noBody } as const;
const sending = {
  ...common,
  ...({ method: "POST", permission: "webhook:update", isIdempotent: true, query: noQuery } as const),
} as const;

const list = merchantRoute({
  spec: {
    ...reading,
    path: BASE,
    operationId: "listDeliveries",
    summary: "List what a webhook endpoint was owed, newest first",
    description: "Kept for 30 days after the last attempt.",
    query: listDeliveriesQuery,
    answers: [{ status: 200, description: "One page", schema: deliveryListBody }],
    refusals: ["WEBHOOK_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params, request }) =>
    deliveryPageReads(db, { merchantId, webhookId: params.webhookId ?? "" }, request?.query),
  answer: async ({ read: [[webhook], rows], query }) => {
    if (webhook === undefined) return err({ code: "WEBHOOK_NOT_FOUND" });
    const page = listDeliveries(rows, query);
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

const get = merchantRoute({
  spec: {
    ...reading,
    path: ONE,
    operationId: "getDelivery",
    summary: "Read a delivery with its attempts",
    query: noQuery,
    answers: [{ status: 200, description: "The delivery", schema: deliveryDetailsBody }],
    refusals: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params }) => deliveryReads(db, pathOf(merchantId, params)),
  answer: async ({ read: [[webhook], [delivery]] }) => {
    if (webhook === undefined) return err({ code: "WEBHOOK_NOT_FOUND" });
    return delivery === undefined
      ? err({ code: "DELIVERY_NOT_FOUND" })
      : ok(jsonReply(200, deliveryDetailsOf(delivery)));
  },
});

const redeliver = merchantRoute({
  spec: {
    ...sending,
    path: `${ONE}/redeliver`,
    operationId: "redeliver",
    summary: "Deliver an event to an endpoint again",
    description:
      "At once and before all that waits, by the whole schedule anew; also what succeeded. What is being delivered this moment is left alone.",
    body: noBody,
    answers: [{ status: 200, description: "The delivery as it now is", schema: deliveryDetailsBody }],
    refusals: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND", "WEBHOOK_INACTIVE", "EVENT_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params }) => deliveryReads(db, pathOf(merchantId, params)),
  answer: async (call) => {
    const [[webhook], [delivery]] = call.read;
    const { deliveryId = "" } = call.params;
    return answerOnce(call, resendDelivery(call.fx, { ...callerOf(call, webhook), deliveryId, delivery }));
  },
});

const replay = merchantRoute({
  spec: {
    ...sending,
    path: `${HOOK}/replay`,
    operationId: "replayEvents",
    summary: "Deliver the events of a range of times again",
    description: "At most 10,000, in their order, 20 a second, whatever became of them before. Pings are not repeated.",
    body: replayBody,
    answers: [{ status: 202, description: "What is under way", schema: replayAnswer }],
    refusals: ["WEBHOOK_NOT_FOUND", "WEBHOOK_INACTIVE", "REPLAY_TOO_LARGE"],
  },
  secrets: FREE_TEXT,
  effects: webhookEffects,
  reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
  answer: async (call) => {
    const [[webhook]] = call.read;
    const { from: fromMs, to: toMs, types } = call.body;
    return answerOnce(call, replayEvents(call.fx, { ...callerOf(call, webhook), fromMs, toMs, types }));
  },
});

export const deliveryLogRoutes: readonly MountedRoute[] = [list, get, redeliver, replay];

function pathOf(merchantId: string, { webhookId = "", deliveryId = "" }: Readonly<Record<string, string>>) {
  return { merchantId, webhookId, deliveryId };
}

/** Who sends again, and to which endpoint. */
function callerOf(
  { principal, trail, params }: Pick<MerchantCall<unknown, unknown, [], unknown>, "principal" | "trail" | "params">,
  read: Webhook | undefined,
) {
  const { merchantId } = principal;
  const seat = principal.kind === "USER" ? principal : undefined;
  return { merchantId, trail, permission: "webhook:update", seat, webhookId: params.webhookId ?? "", read } as const;
}
