// Wire format of the delivery log.
import * as z from "zod";
import { time, timeParameter } from "../../lib/fields.ts";
import { listQuery } from "../../lib/pagination.ts";
import { DAY_MS } from "../../lib/time.ts";
import { SUBSCRIPTIONS } from "../webhooks/subscription.ts";
import { DELIVERY_STATUSES } from "./delivery-body.ts";

/** The longest time range of a replay, because events are not kept longer. */
const MAX_RANGE_MS = 90 * DAY_MS;

export const listDeliveriesQuery = () =>
  z.object({
    limit: listQuery().limit,
    cursor: listQuery().cursor,
    status: z.enum(DELIVERY_STATUSES).optional().meta({ description: "Only deliveries in this status." }),
  });

export const replayBody = () =>
  z
    .strictObject({
      from: timeParameter().meta({ description: "Only events at or after this time." }),
      to: timeParameter().meta({ description: "Only events before this time; at most 90 days after `from`." }),
      types: z.array(z.enum(SUBSCRIPTIONS, "is not an event type")).min(1).max(50).optional().meta({
        description:
          "Event types; `invoice.*` means a whole domain. Default: the types that the endpoint subscribes to.",
      }),
    })
    .refine(({ from, to }) => from < to && to - from <= MAX_RANGE_MS, {
      path: ["to"],
      message: "must be after from, by at most 90 days",
    });

// ---- responses

const attemptBody = () =>
  z
    .object({
      number: z.int().meta({ description: "Number of the attempt; the first is 1." }),
      at: time(),
      requestHeaders: z.record(z.string(), z.string()),
      statusCode: z.int().nullable().meta({ description: "Null if there was no answer." }),
      error: z
        .string()
        .nullable()
        .meta({ description: "The reason if there was no answer, as a stable code.", examples: ["TIMEOUT"] }),
      latencyMs: z.int(),
      response: z.string().nullable().meta({ description: "The first 4 KB of the answer." }),
    })
    .meta({ title: "DeliveryAttempt" });

const deliveryBody = () =>
  z
    .object({
      id: z.string(),
      webhookId: z.string(),
      eventId: z.string(),
      eventType: z.string(),
      status: z.enum(DELIVERY_STATUSES),
      attempts: z.int().meta({ description: "All attempts so far, including those before a redelivery." }),
      nextAttemptAt: time().nullable().meta({ description: "Earliest time of the next attempt; null unless PENDING." }),
      lastAttempt: attemptBody().nullable(),
      createdAt: time(),
      updatedAt: time(),
    })
    .meta({ title: "Delivery" });

export const deliveryListBody = () =>
  z.object({ data: z.array(deliveryBody()), nextCursor: z.string().nullable() }).meta({ title: "DeliveryList" });

export const eventDeliveriesBody = () => z.object({ data: z.array(deliveryBody()) }).meta({ title: "EventDeliveries" });

export const deliveryDetailsBody = () =>
  deliveryBody()
    .extend({ attemptLog: z.array(attemptBody()).meta({ description: "Newest first, at most 50." }) })
    .meta({ title: "DeliveryDetails" });

export const replayAnswer = () =>
  z
    .object({ scheduled: z.int().meta({ description: "Number of events that will be delivered again." }) })
    .meta({ title: "Replay" });
