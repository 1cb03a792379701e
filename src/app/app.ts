// Builds the API: the order of middleware, and every mounted route. A route is declared once, in its feature's routes.ts. This file mounts it, and
// lists it for the reference and the access tests.

import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import { apiKeyRoutes } from "../accounts/api-keys/routes.ts";
import { applicationRoutes } from "../accounts/applications/routes.ts";
import { isOfApplication } from "../accounts/auth/api-key.ts";
import { factorRoutes } from "../accounts/factors/routes.ts";
import { identityRoutes } from "../accounts/identities/routes.ts";
import { imageRoutes } from "../accounts/images/routes.ts";
import { invitationRoutes } from "../accounts/invitations/routes.ts";
import { merchantRoutes } from "../accounts/merchants/routes.ts";
import { operatorRoutes } from "../accounts/operators/routes.ts";
import { passkeyRoutes } from "../accounts/passkeys/routes.ts";
import type { MountedRoute } from "../accounts/pipeline/routes-of.ts";
import { setUpRoutes } from "../accounts/set-up/routes.ts";
import { signInRoutes } from "../accounts/sign-in/routes.ts";
import { teamRoutes } from "../accounts/teams/routes.ts";
import { totpRoutes } from "../accounts/totp/routes.ts";
import { meRoutes } from "../accounts/user-account/routes.ts";
import { sessionRoutes } from "../accounts/user-account/sessions/routes.ts";
import { checkoutRoomRoutes } from "../checkout/live/routes.ts";
import { checkoutRoutes } from "../checkout/pay/routes.ts";
import { returnRoutes } from "../checkout/signed-redirect/routes.ts";
import { storefrontRoutes } from "../checkout/storefront/routes.ts";
import { customerRoutes } from "../commerce/customers/routes.ts";
import { exportRoutes } from "../commerce/exports/routes.ts";
import { greenfieldInvoiceRoutes } from "../commerce/greenfield/invoices/routes.ts";
import { storeRoutes, storeSources } from "../commerce/greenfield/stores/routes.ts";
import { greenfieldWebhookRoutes } from "../commerce/greenfield/webhooks/routes.ts";
import { invoiceRoutes } from "../commerce/invoices/routes.ts";
import { productRoutes } from "../commerce/products/routes.ts";
import { reportRoutes } from "../commerce/reports/routes.ts";
import { restoreRoutes } from "../commerce/restores/routes.ts";
import { searchRoutes } from "../commerce/search/routes.ts";
import { walletAlertRoutes } from "../commerce/wallet-links/routes.ts";
import { walletRoutes } from "../commerce/wallets/routes.ts";
import { claimRoutes } from "../detection/claims/routes.ts";
import { networkRoutes } from "../detection/networks/routes.ts";
import { paymentRoutes } from "../detection/resolutions/routes.ts";
import { sharedNameOf } from "../lib/ip-network.ts";
import { lazily } from "../lib/lazily.ts";
import { logAlert } from "../lib/log.ts";
import { attentionRoutes } from "../notifications/attention/routes.ts";
import { auditRoutes } from "../notifications/audit/routes.ts";
import { deliveryLogRoutes } from "../notifications/delivery-log/routes.ts";
import { eventRoutes } from "../notifications/events/routes.ts";
import { merchantSummaryRoutes } from "../notifications/merchant-summaries/routes.ts";
import { readinessRoutes } from "../notifications/readiness/routes.ts";
import { webhookRoutes } from "../notifications/webhooks/routes.ts";
import {
  type AppContext,
  type AppEnv,
  callerIp,
  errorResponse,
  refuse,
  requestContext,
} from "../platform/http/context.ts";
import { isDevelopment } from "../platform/http/deployment.ts";
import { CHALLENGE_TOKEN, isCrossOrigin, type RouteSpec, servesPath } from "../platform/http/route.ts";
import { refusesToServe } from "./configuration/configuration.ts";
import { consoleRoutes } from "./console/routes.ts";
import { answerDocs, answerGreenfield, answerOpenApi } from "./docs/reference.ts";
import { explorerRoutes } from "./explorers/routes.ts";
import { alertRoutes, answerHealth, answerMetrics, KeptVitals, statusRoutes } from "./health/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { mailRoutes } from "./mailbox/routes.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import { publicSpecs } from "./public-specs.ts";
import { onceSetUp } from "./set-up/middleware.ts";
import { testChainRoutes } from "./test-chain/routes.ts";

const ROUTES: readonly MountedRoute[] = [
  ...consoleRoutes,
  ...mailRoutes,
  ...testChainRoutes,
  ...explorerRoutes,
  ...signInRoutes,
  ...sessionRoutes,
  ...meRoutes,
  ...setUpRoutes,
  ...operatorRoutes,
  ...keyRoutes,
  ...statusRoutes,
  ...alertRoutes,
  ...merchantSummaryRoutes,
  ...networkRoutes,
  ...restoreRoutes,
  ...passkeyRoutes,
  ...factorRoutes,
  ...totpRoutes,
  ...identityRoutes,
  ...walletRoutes,
  ...walletAlertRoutes,
  ...readinessRoutes,
  ...invoiceRoutes,
  ...paymentRoutes,
  ...checkoutRoutes,
  ...claimRoutes,
  ...imageRoutes,
  ...productRoutes,
  ...customerRoutes,
  ...reportRoutes,
  ...exportRoutes,
  ...searchRoutes,
  ...teamRoutes,
  ...invitationRoutes,
  ...merchantRoutes,
  ...attentionRoutes,
  ...apiKeyRoutes,
  ...applicationRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...deliveryLogRoutes,
  ...auditRoutes,
  ...checkoutRoomRoutes,
  ...returnRoutes,
  ...storefrontRoutes,
  ...mcpRoutes({ fetch: fetchAgain }),
];

/** Passes a request from one of the app's own routes through the app again, as the same caller. */
function fetchAgain(request: Request, env: Env, waitUntil: (work: Promise<unknown>) => void) {
  return app().fetch(request, env, { waitUntil, passThroughOnException: () => {}, props: {} });
}

const sources = lazily(
  () => new Map([...ROUTES, ...storeSources].map(({ spec, answerTranslated }) => [spec.operationId, answerTranslated])),
);

const GREENFIELD_ROUTES: readonly MountedRoute[] = [
  storeRoutes,
  greenfieldInvoiceRoutes,
  greenfieldWebhookRoutes,
].flatMap((routesWith) =>
  routesWith({
    answerOf: (operationId) => {
      const answer = sources().get(operationId);
      if (answer === undefined) throw new Error(`no operation ${operationId} answers translations`);
      return answer;
    },
  }),
);

/** Every route except those in the formats of BTCPay Server, for the OpenAPI document and the access tests. */
export const SPECS: readonly RouteSpec[] = [...publicSpecs, ...ROUTES.map((route) => route.spec)];

/** The routes in the formats of BTCPay Server, which have a separate reference. */
export const GREENFIELD_SPECS: readonly RouteSpec[] = GREENFIELD_ROUTES.map((route) => route.spec);

/** The routes that run in the object of their merchant, by operation. */
export const routesInObject = lazily(
  () =>
    new Map(ROUTES.flatMap((route) => (route.handleInObject ? [[route.spec.operationId, route.handleInObject]] : []))),
);

/** Created by the first request: an isolate that only runs the cron or a queue needs no routes. */
export const app = lazily(createApp);

export function createApp(): HonoBase<AppEnv> {
  // Hono would choose this router anyway: the router that it tries first cannot have a word and a parameter in the same position
  // (`invitations/accept` and `invitations/:invitationId`).
  const app = new HonoBase<AppEnv>({ router: new TrieRouter() });
  app.use(requestContext);
  app.use(shield);
  app.use(refuseApplicationKeys);
  app.use(onceSetUp);
  for (const { spec, handle } of [...ROUTES, ...GREENFIELD_ROUTES]) app.on(spec.method, spec.path, handle);
  app.get("/openapi.json", answerOpenApi);
  app.get("/greenfield.json", answerGreenfield);
  app.get("/docs", answerDocs);
  const kept = new KeptVitals();
  app.get("/healthz", (c) => answerHealth(c, kept));
  app.get("/metrics", answerMetrics);
  app.notFound(nothingHere);
  app.onError(errorResponse);
  return app;
}

/**
 * Refuses everything except `/healthz` while the configuration forbids serving. Then applies the outer rate limit per IP address, before anything is
 * read; only in production, because only there does the edge report the caller's address.
 */
async function shield(c: AppContext, next: () => Promise<void>): Promise<Response | undefined> {
  const ip = callerIp(c);
  if (refusesToServe(c.env, c.req.url) && c.req.path !== "/healthz") {
    logAlert("not serving: a wrong variable, or development at another host; /healthz names it");
    return refuse(c, { code: "INTERNAL_ERROR" });
  }
  if (isDevelopment(c.env) || ip === undefined) {
    await next();
    return undefined;
  }
  const verdict = await c.env.IP_SHIELD.limit({ key: sharedNameOf(ip) });
  if (!verdict.success) return refuse(c, { code: "RATE_LIMITED", retryAfterSeconds: 60 });
  await next();
  return undefined;
}

/**
 * A key that was made for an application works only through the routes of BTCPay Server's API, which read it from a different header. Requests from
 * outside with such a key are refused here.
 */
async function refuseApplicationKeys(c: AppContext, next: () => Promise<void>): Promise<Response | undefined> {
  const borne = /^bearer +(.*)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if ([c.req.header("x-api-key"), borne].some((key) => key !== undefined && isOfApplication(key)))
    return refuse(c, { code: "UNAUTHORIZED" });
  await next();
  return undefined;
}

/** Answers 404, or 405 with the methods that the path accepts. Answers a preflight only if a public key or a payer's page may call the route. */
function nothingHere(c: AppContext): Response {
  const serving = SPECS.filter((spec) => servesPath(spec, c.req.path));
  if (c.req.method === "OPTIONS" && serving.some(isCrossOrigin)) return preflight(serving);
  if (serving.length === 0) return refuse(c, { code: "ROUTE_NOT_FOUND" });
  return refuse(c, { code: "METHOD_NOT_ALLOWED", allow: serving.map((spec) => spec.method) });
}

function preflight(serving: readonly RouteSpec[]): Response {
  const open = serving.filter(isCrossOrigin);
  // The token's header is allowed even while no request must be challenged: browsers remember this answer for a day, and a shop may send tokens
  // early.
  const token = open.some(({ isChallenged }) => isChallenged) ? `, ${CHALLENGE_TOKEN}` : "";
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": open.map(({ method }) => method).join(", "),
      "access-control-allow-headers": `x-api-key, content-type, idempotency-key${token}`,
      "access-control-max-age": "86400",
    },
  });
}
