// Where an open checkout page waits for news. A Reply cannot carry a socket, so this one route answers by itself.
import { givenEffects, type MountedRoute } from "../auth/middleware.ts";
import type { Failure } from "../failures.ts";
import type { AppContext } from "../http/context.ts";
import { failureResponse } from "../http/errors.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerHeaders } from "../http/security-headers.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { limitByIp } from "../sign-in/middleware.ts";
import { findRoom } from "./find-room.ts";

/** When a page that found no room may ask again; until then it looks for itself. */
const FULL_SECONDS = 60;

const live: MountedRoute = {
  spec: {
    method: "GET",
    path: "/pay/:invoiceId/live",
    operationId: "watchCheckout",
    tag: "Checkout",
    summary: "News for an open checkout page",
    // Whoever knows the invoice's id may read it anyway, and a socket says less: so of any origin, and no cookie is looked at.
    description:
      'A WebSocket, for pages of any origin. The text "changed" says that the page should ask for the state of its invoice; no other text is sent but "pong", the answer to "ping", and whoever says anything else is disconnected. At most 20 for one invoice.',
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 101, description: "The socket" }],
    refusals: ["VALIDATION_FAILED", "INVOICE_NOT_FOUND", "STORAGE_UNAVAILABLE"],
  },
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
    const message = "must be websocket";
    return err({ code: "VALIDATION_FAILED", details: [{ path: "upgrade", message }] });
  }
  const limited = await limitByIp(c, headers);
  if (limited !== undefined) return err(limited);
  const invoiceId = c.req.param("invoiceId") ?? "";
  const room = await findRoom(givenEffects(c), invoiceId);
  if (!room.ok) return room;
  const upgrade = { headers: { upgrade: "websocket" } };
  const { webSocket } = await c.env.CHECKOUT_ROOM.getByName(room.value).fetch(`https://room/${invoiceId}`, upgrade);
  return webSocket === null ? err({ code: "RATE_LIMITED", retryAfterSeconds: FULL_SECONDS }) : ok(webSocket);
}

export const checkoutRoomRoutes: readonly MountedRoute[] = [live];
