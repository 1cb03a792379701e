// The wire format of events.
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { listQuery } from "../../lib/pagination.ts";
import { EVENT_TYPES, typesNamed } from "./event.ts";

export const listEventsQuery = () =>
  z
    .object({
      limit: listQuery().limit,
      cursor: listQuery().cursor,
      type: z
        .string()
        .transform((name, context) => {
          const types = typesNamed(name);
          if (types.length > 0) return types.length === EVENT_TYPES.length ? undefined : types;
          context.addIssue({ code: "custom", message: "is no type of event" });
          return z.NEVER;
        })
        .optional()
        .meta({ type: "string", description: "Only this type, or `invoice.*` for all of a domain." }),
      invoiceId: z.string().max(40).optional().meta({ description: "Only events of this invoice." }),
      after: z.string().max(40).optional().meta({
        description: "For pollers: oldest first, from the event behind this one; 0 begins with the oldest kept.",
      }),
    })
    .refine((query) => query.cursor === undefined || query.after === undefined, {
      path: ["cursor"],
      message: "must not be given with after",
    });

// ---- answers

export const eventBody = () =>
  z
    .object({
      id: z.string(),
      type: z.enum(EVENT_TYPES),
      event: z.string().meta({ description: "The same as `type`." }),
      timestamp: time(),
      apiVersion: z.string(),
      merchantId: z.string(),
      sequence: z.int().nullable().meta({ description: "Grows within an invoice; null where the event is of none." }),
      data: z.record(z.string(), z.unknown()).meta({ description: "By type; see the event catalogue." }),
    })
    .meta({ title: "Event" });

export const eventListBody = () =>
  z
    .object({
      data: z.array(eventBody()),
      nextCursor: z.string().nullable().meta({
        description:
          "Newest first: the `cursor` of the next page, null on the last. With `after`: the next `after`, never null.",
      }),
    })
    .meta({ title: "EventList" });
