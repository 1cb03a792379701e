// The WebSocket that notifies an open checkout page of changes. A Reply cannot carry a socket, so this route builds its own response.

import type { MountedRoute } from "../../accounts/pipeline/routes-of.ts";
import { objectOf } from "../../lib/object-of.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { givenDependencies, incomingOf } from "../../platform/http/incoming.ts";
import { countedCallers, limitByIp } from "../../platform/http/rate-check.ts";
import { specOf } from "../../platform/http/route.ts";
import { answerHeaders } from "../../platform/http/security-headers.ts";
import { findRoom } from "./find-room.ts";
import { roomUrl } from "./room-url.ts";

/** When a page may ask again if the room was full; until then it polls. */
const FULL_SECONDS = 60;

const live: MountedRoute = {
  spec: specOf({
    method: "GET",
    path: "/pay/:invoiceId/live",
    operationId: "watchCheckout",
    tag: "Checkout",
    summary: "Live updates for an open checkout page",
    // Anyone who knows the invoice's id may read it, and a socket reveals less, so pages of any origin may open one. No cookie is read.
    description:
      'A WebSocket for pages of any origin. The text "changed" means that the page should fetch the state of its invoice. The only other text is "pong", the answer to "ping"; a client that sends anything else is disconnected. At most 20 connections for one invoice, and 50 from one IP address for all invoices of a merchant. More are refused with 429; the page should then poll every few seconds. An invoice that is PAID, OVERPAID or CANCELLED has no live updates, because its page no longer changes.',
    callers: "ANYBODY",
    answers: [{ status: 101, description: "The WebSocket" }],
    refusals: ["VALIDATION_FAILED", "INVOICE_NOT_FOUND", "INVOICE_ENDED", "RATE_LIMITED", "STORAGE_UNAVAILABLE"],
  }),
  handle: async (c) => {
    const headers: Record<string, string> = {};
    const joined = await join(c, headers);
    if (!joined.ok) return failureResponse(joined.error, c.get("requestId"), headers);
    const own = answerHeaders(c.get("requestId"), {});
    return new Response(null, { status: 101, webSocket: joined.value, headers: own });
  },
};

async function join(c: AppContext, headers: Record<string, string>): Promise<Result<WebSocket, Failure>> {
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    const message = "must be websocket: open this address with a WebSocket client";
    return err({ code: "VALIDATION_FAILED", details: [{ path: "upgrade", message }] });
  }
  const incoming = incomingOf(c);
  const limited = await limitByIp(incoming, headers);
  if (limited !== undefined) return err(limited);
  const invoiceId = c.req.param("invoiceId") ?? "";
  const room = await findRoom(givenDependencies(incoming), invoiceId);
  if (!room.ok) return room;
  const upgrade = { headers: { upgrade: "websocket" } };
  const url = roomUrl({ invoiceId, callers: countedCallers(c.env, incoming.ip ?? null) });
  const { webSocket } = await objectOf(c.env, c.env.CHECKOUT_ROOM, room.value).fetch(url, upgrade);
  return webSocket === null ? err({ code: "RATE_LIMITED", retryAfterSeconds: FULL_SECONDS }) : ok(webSocket);
}

export const checkoutRoomRoutes: readonly MountedRoute[] = [live];
