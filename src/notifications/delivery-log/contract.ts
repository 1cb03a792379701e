// The wire of the delivery log.
import * as z from "zod";
import { time, timeParameter } from "../../lib/fields.ts";
import { listQuery } from "../../lib/pagination.ts";
import { DAY_MS } from "../../lib/time.ts";
import { SUBSCRIPTIONS } from "../webhooks/subscription.ts";
import { DELIVERY_STATUSES } from "./delivery-body.ts";

/** As long as events are kept. */
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
      from: timeParameter().meta({ description: "Events of this time and after." }),
      to: timeParameter().meta({ description: "Events of before this time; at most 90 days later." }),
      types: z.array(z.enum(SUBSCRIPTIONS, "is no type of event")).min(1).max(50).optional().meta({
        description: "Types of events, `invoice.*` for all of a domain; what the endpoint subscribes to unless given.",
      }),
    })
    .refine(({ from, to }) => from < to && to - from <= MAX_RANGE_MS, {
      path: ["to"],
      message: "must be later than from, by at most 90 days",
    });

// ---- answers

const attemptBody = () =>
  z
    .object({
      number: z.int().meta({ description: "1 for the first." }),
      at: time(),
      requestHeaders: z.record(z.string(), z.string()),
      statusCode: z.int().nullable().meta({ description: "Null where no answer came." }),
      error: z
        .string()
        .nullable()
        .meta({ description: "A stable word where no answer came.", examples: ["TIMEOUT"] }),
      latencyMs: z.int(),
      response: z.string().nullable().meta({ description: "The first 4 KB of the answer." }),
    })
    .meta({ title: "DeliveryAttempt" });

export const deliveryBody = () =>
  z
    .object({
      id: z.string(),
      webhookId: z.string(),
      eventId: z.string(),
      eventType: z.string(),
      status: z.enum(DELIVERY_STATUSES),
      attempts: z.int().meta({ description: "All that were ever made, those before a redelivery too." }),
      nextAttemptAt: time().nullable().meta({ description: "At the earliest; null unless PENDING." }),
      lastAttempt: attemptBody().nullable(),
      createdAt: time(),
      updatedAt: time(),
    })
    .meta({ title: "Delivery" });

export const deliveryListBody = () =>
  z.object({ data: z.array(deliveryBody()), nextCursor: z.string().nullable() }).meta({ title: "DeliveryList" });

export const deliveryDetailsBody = () =>
  deliveryBody()
    .extend({ attemptLog: z.array(attemptBody()).meta({ description: "Newest first, at most 50." }) })
    .meta({ title: "DeliveryDetails" });

export const replayAnswer = () =>
  z.object({ scheduled: z.int().meta({ description: "Events that are delivered again." }) }).meta({ title: "Replay" });
