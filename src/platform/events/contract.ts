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
          context.addIssue({ code: "custom", message: "is not an event type" });
          return z.NEVER;
        })
        .optional()
        .meta({ type: "string", description: "Only events of this type; `invoice.*` names all types of a domain." }),
      invoiceId: z.string().max(40).optional().meta({ description: "Only events of this invoice." }),
      after: z.string().max(40).optional().meta({
        description:
          "For polling: returns events after the one with this id, oldest first; 0 starts at the oldest event.",
      }),
    })
    .refine((query) => query.cursor === undefined || query.after === undefined, {
      path: ["cursor"],
      message: "must not be used together with after",
    });

// ---- responses

export const eventBody = () =>
  z
    .object({
      id: z.string(),
      type: z.enum(EVENT_TYPES),
      event: z.string().meta({ description: "The same as `type`." }),
      timestamp: time(),
      apiVersion: z.string(),
      merchantId: z.string(),
      sequence: z.int().nullable().meta({
        description:
          "Increases by one with each event of an invoice, or by more after the deployment's database was restored. Null for other events.",
      }),
      data: z.record(z.string(), z.unknown()).meta({ description: "Depends on the type; see the event catalogue." }),
    })
    .meta({ title: "Event" });

export const eventListBody = () =>
  z
    .object({
      data: z.array(eventBody()),
      nextCursor: z.string().nullable().meta({
        description:
          "Without `after`: the `cursor` of the next page, null on the last page. With `after`: the next `after`, never null.",
      }),
    })
    .meta({ title: "EventList" });
