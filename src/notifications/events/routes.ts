import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { err, ok } from "../../lib/result.ts";
import { eventBody, eventListBody, listEventsQuery } from "../../platform/events/contract.ts";
import { eventText } from "../../platform/events/event.ts";
import { eventPageReads, eventReads, listEvents } from "../../platform/events/list-events.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/events";

export const eventRoutes = routesOf({ tag: "Events", callers: "MEMBER_OR_KEY" })
  .get(BASE, {
    operationId: "listEvents",
    summary: "List events, newest first, or poll for new ones",
    description:
      "To poll, start with `after=0`, process `data` in order, and ask again with `after` set to `nextCursor`, immediately while pages are full. Events come in commit order, not in order of `timestamp`, so none is missed.",
    permission: "webhook:view",
    query: listEventsQuery,
    answers: [{ status: 200, description: "One page", schema: eventListBody }],
    refusals: ["EVENT_NOT_FOUND"],
    reads: ({ db, merchantId, request }) => eventPageReads(db, merchantId, request?.query),
    answer: async ({ read: [rows, [place]], query }) => {
      const text = listEvents({ rows, place }, query);
      return text.ok ? ok({ status: 200, body: text.value }) : text;
    },
  })
  .get(`${BASE}/:eventId`, {
    operationId: "getEvent",
    summary: "Read an event as it is delivered",
    permission: "webhook:view",
    answers: [{ status: 200, description: "The event", schema: eventBody }],
    refusals: ["EVENT_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => eventReads(db, merchantId, params.eventId),
    answer: async ({ read: [[event]] }) =>
      event === undefined ? err({ code: "EVENT_NOT_FOUND" }) : ok({ status: 200, body: eventText(event) }),
  });
