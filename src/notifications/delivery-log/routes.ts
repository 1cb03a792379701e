import { answerOnce } from "../../accounts/pipeline/answer-once.ts";
import type { MerchantCall } from "../../accounts/pipeline/call.ts";
import { type MountedRoute, routesOf } from "../../accounts/pipeline/routes-of.ts";
import { seatOf } from "../../accounts/teams/check-seat.ts";
import { err, ok } from "../../lib/result.ts";
import { jsonReply, replyTo } from "../../platform/http/reply.ts";
import { webhookDependencies } from "../webhooks/dependencies.ts";
import { webhookReads } from "../webhooks/read-webhook.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import {
  deliveryDetailsBody,
  deliveryListBody,
  eventDeliveriesBody,
  listDeliveriesQuery,
  replayAnswer,
  replayBody,
} from "./contract.ts";
import { deliveryBodyOf, deliveryDetailsOf } from "./delivery-body.ts";
import { replayDependencies } from "./dependencies.ts";
import { deliveryPageReads, deliveryReads, eventDeliveryReads, listDeliveries } from "./list-deliveries.ts";
import { replayEvents } from "./replay-events.ts";
import { resendDelivery } from "./resend-delivery.ts";

const HOOK = "/api/v1/merchants/merchant/:merchantId/webhooks/:webhookId";
const BASE = `${HOOK}/deliveries`;
const ONE = `${BASE}/:deliveryId`;

const deliveries = routesOf({ tag: "Webhooks", callers: "MEMBER_OR_KEY", dependencies: webhookDependencies })
  .get(BASE, {
    operationId: "listDeliveries",
    summary: "List deliveries to a webhook endpoint, newest first",
    description: "Deliveries are kept for 30 days after the last attempt.",
    permission: "webhook:view",
    query: listDeliveriesQuery,
    answers: [{ status: 200, description: "One page", schema: deliveryListBody }],
    refusals: ["WEBHOOK_NOT_FOUND"],
    reads: ({ db, merchantId, params, request }) =>
      deliveryPageReads(db, { merchantId, webhookId: params.webhookId ?? "" }, request?.query),
    answer: async ({ read: [[webhook], rows], query }) => {
      if (webhook === undefined) return err({ code: "WEBHOOK_NOT_FOUND" });
      return replyTo(listDeliveries(rows, query));
    },
  })
  .get(ONE, {
    operationId: "getDelivery",
    summary: "Read a delivery with its attempts",
    permission: "webhook:view",
    answers: [{ status: 200, description: "The delivery", schema: deliveryDetailsBody }],
    refusals: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => deliveryReads(db, pathOf(merchantId, params)),
    answer: async ({ read: [[webhook], [delivery]] }) => {
      if (webhook === undefined) return err({ code: "WEBHOOK_NOT_FOUND" });
      return delivery === undefined
        ? err({ code: "DELIVERY_NOT_FOUND" })
        : ok(jsonReply(200, deliveryDetailsOf(delivery)));
    },
  })
  .post(`${ONE}/redeliver`, {
    operationId: "redeliver",
    summary: "Redeliver an event to an endpoint",
    description:
      "The event is delivered at once, before all waiting deliveries, with a new retry schedule. Also works for a delivery that succeeded. A delivery in progress is not changed.",
    permission: "webhook:update",
    isIdempotent: true,
    answers: [{ status: 200, description: "The updated delivery", schema: deliveryDetailsBody }],
    refusals: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND", "WEBHOOK_INACTIVE", "EVENT_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => deliveryReads(db, pathOf(merchantId, params)),
    answer: async (call) => {
      const [[webhook], [delivery]] = call.read;
      const { deliveryId = "" } = call.params;
      return answerOnce(call, resendDelivery(call.deps, { ...callerOf(call, webhook), deliveryId, delivery }));
    },
  });

const ofEvent = routesOf({ tag: "Events", callers: "MEMBER_OR_KEY" }).get(
  "/api/v1/merchants/merchant/:merchantId/events/:eventId/deliveries",
  {
    operationId: "listEventDeliveries",
    summary: "List the deliveries of an event",
    description: "There is at most one for each endpoint. Deliveries that were not yet tried are included.",
    permission: "webhook:view",
    answers: [{ status: 200, description: "The deliveries", schema: eventDeliveriesBody }],
    refusals: ["EVENT_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => eventDeliveryReads(db, { merchantId, eventId: params.eventId ?? "" }),
    answer: async ({ read: [[event], rows] }) =>
      event === undefined ? err({ code: "EVENT_NOT_FOUND" }) : ok(jsonReply(200, { data: rows.map(deliveryBodyOf) })),
  },
);

const replay = routesOf({ tag: "Webhooks", callers: "MEMBER_OR_KEY", dependencies: replayDependencies }).post(
  `${HOOK}/replay`,
  {
    operationId: "replayEvents",
    summary: "Redeliver the events of a time range",
    description:
      "Delivers at most 10,000 events again, in order, 20 a second, whatever their earlier result. One that is being delivered at that moment is not delivered twice. Pings are not repeated. A merchant may start 10 replays an hour over all its endpoints; more are refused with 429 and Retry-After.",
    permission: "webhook:update",
    isIdempotent: true,
    body: replayBody,
    answers: [{ status: 202, description: "The started replay", schema: replayAnswer }],
    refusals: ["WEBHOOK_NOT_FOUND", "WEBHOOK_INACTIVE", "REPLAY_TOO_LARGE", "RATE_LIMITED"],
    reads: ({ db, merchantId, params }) => webhookReads(db, merchantId, params.webhookId),
    answer: async (call) => {
      const [[webhook]] = call.read;
      const { from: fromMs, to: toMs, types } = call.body;
      return answerOnce(call, replayEvents(call.deps, { ...callerOf(call, webhook), fromMs, toMs, types }));
    },
  },
);

export const deliveryLogRoutes: readonly MountedRoute[] = [...deliveries, ...ofEvent, ...replay];

function pathOf(merchantId: string, { webhookId = "", deliveryId = "" }: Readonly<Record<string, string>>) {
  return { merchantId, webhookId, deliveryId };
}

/** The caller, and the endpoint named in the path. */
function callerOf(
  { principal, trail, params }: Pick<MerchantCall<unknown>, "principal" | "trail" | "params">,
  read: Webhook | undefined,
) {
  const { merchantId } = principal;
  const seat = seatOf(principal);
  return { merchantId, trail, permission: "webhook:update", seat, webhookId: params.webhookId ?? "", read } as const;
}
