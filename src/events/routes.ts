import { type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { noBody, noQuery } from "../http/route.ts";
import { err, ok } from "../lib/result.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import { eventBody, eventListBody, listEventsQuery } from "./contract.ts";
import { eventText } from "./event-body.ts";
import { eventPageReads, eventReads, listEvents } from "./list-events.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/events";

const common = {
  method: "GET",
  tag: "Events",
  callers: "MEMBER_OR_KEY",
  permission: "webhook:view",
  isForPublicKeys: false,
  isIdempotent: false,
  body: noBody,
} as const;
const noEffects = () => ({});

const list = merchantRoute({
  spec: {
    ...common,
    path: BASE,
    operationId: "listEvents",
    summary: "List events, newest first, or poll for new ones",
    description:
      "To poll, begin with `after=0`, handle `data` in its order, and ask again with `after` set to `nextCursor`, at once while pages are full. The order is that of the commits, not of `timestamp`; nothing is missed.",
    query: listEventsQuery,
    answers: [{ status: 200, description: "One page", schema: eventListBody }],
    refusals: ["EVENT_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: noEffects,
  reads: ({ db, merchantId, request }) => eventPageReads(db, merchantId, request?.query),
  answer: async ({ read: [rows, [place]], query }) => {
    const text = listEvents({ rows, place }, query);
    return text.ok ? ok({ status: 200, body: text.value }) : text;
  },
});

const get = merchantRoute({
  spec: {
    ...common,
    path: `${BASE}/:eventId`,
    operationId: "getEvent",
    summary: "Read an event, as it is delivered",
    query: noQuery,
    answers: [{ status: 200, description: "The event", schema: eventBody }],
    refusals: ["EVENT_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: noEffects,
  reads: ({ db, merchantId, params }) => eventReads(db, merchantId, params.eventId),
  answer: async ({ read: [[event]] }) =>
    event === undefined ? err({ code: "EVENT_NOT_FOUND" }) : ok({ status: 200, body: eventText(event) }),
});

export const eventRoutes: readonly MountedRoute[] = [list, get];
