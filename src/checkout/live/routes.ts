// Routes for the WebSockets that notify open checkout pages and the merchant's team. A Reply cannot carry a socket, so these routes build their own
// responses.

import * as z from "zod";
import { type PipelineRoute, runPipeline } from "../../accounts/pipeline/pipeline.ts";
import type { MountedRoute } from "../../accounts/pipeline/routes-of.ts";
import { FREE_TEXT } from "../../chains/secrets/secret-material.ts";
import { integerParameter } from "../../lib/fields.ts";
import { LIMITS, LIVE_READ_WITHIN_MS } from "../../lib/limits.ts";
import { objectOf } from "../../lib/object-of.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { givenDependencies, incomingOf } from "../../platform/http/incoming.ts";
import { countedCallers, limitByIp } from "../../platform/http/rate-check.ts";
import { specOf } from "../../platform/http/route.ts";
import { answerHeaders } from "../../platform/http/security-headers.ts";
import { findRoom } from "./find-room.ts";
import { positionSince } from "./read-news.ts";
import { roomUrl } from "./room-url.ts";
import { teamHeaders, viewsOf } from "./team-socket.ts";

/** How long a page must wait before it tries to connect again if there were too many connections. It polls meanwhile. */
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
    return socketResponse(c, await join(c, headers), headers);
  },
};

function socketResponse(
  c: AppContext,
  joined: Result<WebSocket, Failure>,
  headers: Readonly<Record<string, string>>,
): Response {
  if (!joined.ok) return failureResponse(joined.error, c.get("requestId"), headers);
  const own = answerHeaders(c.get("requestId"), {});
  return new Response(null, { status: 101, webSocket: joined.value, headers: own });
}

async function join(c: AppContext, headers: Record<string, string>): Promise<Result<WebSocket, Failure>> {
  const wrong = upgradeRefusal(c);
  if (wrong !== undefined) return err(wrong);
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

function upgradeRefusal(c: AppContext): Failure | undefined {
  if (c.req.header("upgrade")?.toLowerCase() === "websocket") return undefined;
  const message = "must be websocket: open this address with a WebSocket client";
  return { code: "VALIDATION_FAILED", details: [{ path: "upgrade", message }] };
}

const watchQuery = () =>
  z.object({
    after: z
      .string()
      .max(40)
      .optional()
      .meta({ description: "The `eventId` of the last message, to continue after it when the connection was lost." }),
    readWithinMs: integerParameter(0, LIVE_READ_WITHIN_MS)
      .optional()
      .meta({ description: "For a new page, which has no `after` yet: all that it shows was read within this time." }),
  });

type WatchQuery = z.infer<ReturnType<typeof watchQuery>>;

const team: MountedRoute = {
  spec: specOf({
    method: "GET",
    path: "/api/v1/merchants/merchant/:merchantId/live",
    operationId: "watchMerchant",
    tag: "Events",
    summary: "Live updates for a merchant's team",
    description: `A WebSocket for the pages of this service: it needs a member's session and an \`Origin\` header with our own origin, and accepts no key. Each text message is JSON with \`type\` and \`eventId\`: \`invoice\` (\`invoiceId\`, \`status\`, \`sequence\`), \`unmatched\` (\`paymentId\`), \`wallet\` (\`walletId\`), \`endpoint\` (\`webhookId\`: it was switched off, or has started to fail), or \`reread\`. A message says what to read again through the API, and is sent only to members who may view it. Most messages are sent at once; those about new invoices within 5 seconds, or within 30 seconds after a quiet period. To miss nothing, connect again with \`after\`, or at first with \`readWithinMs\`, and changes since then are sent. Without them, or if it was too long ago, the first message is \`reread\`: read again everything that you show. Send "ping" to keep the connection; the answer is "pong". At most ${LIMITS.liveConnectionsPerMember} connections per member and ${LIMITS.liveConnectionsPerMerchant} per merchant; more are refused with 429. A connection is closed with the code 1008 within two minutes after the session or the membership has ended, and at once when a role changes or a member is removed.`,
    callers: "MEMBER",
    permission: "invoice:view",
    query: watchQuery,
    answers: [{ status: 101, description: "The WebSocket" }],
    refusals: ["ORIGIN_NOT_ALLOWED"],
  }),
  handle: async (c) => {
    const headers: Record<string, string> = {};
    return socketResponse(c, await runPipeline(c, teamRoute(c), headers), headers);
  },
};

/** A page of another site could open a socket with the member's cookie, so the origin is checked, as for every request that changes data. */
function teamRoute(c: AppContext): PipelineRoute<"MEMBER", object, WebSocket> {
  return {
    spec: team.spec,
    callers: "MEMBER",
    permission: "invoice:view",
    mayOweFactor: false,
    runsInMerchantObject: false,
    secrets: FREE_TEXT,
    dependencies: () => ({}),
    answer: async (call) => {
      const { principal, env } = call;
      if (principal.kind === "API_KEY") return err({ code: "SESSION_REQUIRED" });
      const wrong = upgradeRefusal(c);
      if (wrong !== undefined) return err(wrong);
      if (c.req.header("origin") !== publicUrl(env)) return err({ code: "ORIGIN_NOT_ALLOWED" });
      const { after = "", readWithinMs }: WatchQuery = Object(call.query);
      const place = after === "" && readWithinMs !== undefined ? positionSince(Date.now() - readWithinMs) : after;
      const { tokenHash } = principal.session;
      const headers = teamHeaders({ memberId: principal.memberId, tokenHash, views: viewsOf(principal), after: place });
      const room = objectOf(env, env.CHECKOUT_ROOM, principal.merchantId);
      const { webSocket } = await room.fetch("https://room/", { headers });
      return webSocket === null ? err({ code: "RATE_LIMITED", retryAfterSeconds: FULL_SECONDS }) : ok(webSocket);
    },
  };
}

export const checkoutRoomRoutes: readonly MountedRoute[] = [live, team];
