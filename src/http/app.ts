// The map of the API: middleware order and every mount. A route is declared once, in its feature's routes.ts; here it is mounted,
// documented, and known to the access tests.
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import { apiKeyRoutes } from "../api-keys/routes.ts";
import { auditRoutes } from "../audit/routes.ts";
import type { MountedRoute } from "../auth/middleware.ts";
import { watchedNetworks } from "../chains/chain-sources.ts";
import { checkoutRoutes } from "../checkout/routes.ts";
import { checkoutAssetRoutes } from "../checkout-assets/routes.ts";
import { checkoutRoomRoutes } from "../checkout-rooms/routes.ts";
import { claimRoutes } from "../claims/routes.ts";
import { configurationFaults, hasDevelopmentSetting } from "../configuration.ts";
import { customerRoutes } from "../customers/routes.ts";
import { deliveryLogRoutes } from "../delivery-log/routes.ts";
import { eventRoutes } from "../events/routes.ts";
import { factorRoutes } from "../factors/routes.ts";
import { identityRoutes } from "../identities/routes.ts";
import { imageRoutes } from "../images/routes.ts";
import { invitationRoutes } from "../invitations/routes.ts";
import { invoiceRoutes } from "../invoices/routes.ts";
import { networkOf } from "../lib/ip-network.ts";
import { mailRoutes } from "../mail/routes.ts";
import { merchantRoutes } from "../merchants/routes.ts";
import { pageRoutes } from "../pages/routes.ts";
import { passkeyRoutes } from "../passkeys/routes.ts";
import { paymentRoutes } from "../payments/routes.ts";
import { productRoutes } from "../products/routes.ts";
import { returnRoutes } from "../returns/routes.ts";
import { sessionRoutes } from "../sessions/routes.ts";
import { signInRoutes } from "../sign-in/routes.ts";
import { storefrontRoutes } from "../storefront/routes.ts";
import { teamRoutes } from "../teams/routes.ts";
import { totpRoutes } from "../totp/routes.ts";
import { meRoutes } from "../users/routes.ts";
import { walletAlertRoutes } from "../wallet-alerts/routes.ts";
import { walletRoutes } from "../wallets/routes.ts";
import { webhookRoutes } from "../webhooks/routes.ts";
import { type AppContext, type AppEnv, callerIp, errorResponse, requestContext } from "./context.ts";
import { isDevelopment, publicUrl } from "./deployment.ts";
import { DOCS_CSP, docsPage } from "./docs.ts";
import { failureResponse } from "./errors.ts";
import { healthOf } from "./health.ts";
import { openApiDocument } from "./openapi.ts";
import { publicSpecs } from "./public-specs.ts";
import { isCrossOrigin, type RouteSpec, servesPath } from "./route.ts";

const ROUTES: readonly MountedRoute[] = [
  ...pageRoutes,
  ...mailRoutes,
  ...signInRoutes,
  ...sessionRoutes,
  ...meRoutes,
  ...passkeyRoutes,
  ...factorRoutes,
  ...totpRoutes,
  ...identityRoutes,
  ...walletRoutes,
  ...walletAlertRoutes,
  ...invoiceRoutes,
  ...paymentRoutes,
  ...checkoutRoutes,
  ...claimRoutes,
  ...imageRoutes,
  ...productRoutes,
  ...customerRoutes,
  ...teamRoutes,
  ...invitationRoutes,
  ...merchantRoutes,
  ...apiKeyRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...deliveryLogRoutes,
  ...auditRoutes,
  ...checkoutAssetRoutes,
  ...checkoutRoomRoutes,
  ...returnRoutes,
  ...storefrontRoutes,
];

/** Every route of the Worker, as the documents and the access tests enumerate them. */
export const SPECS: readonly RouteSpec[] = [...publicSpecs, ...ROUTES.map((route) => route.spec)];

export function createApp(): HonoBase<AppEnv> {
  // Hono's own choice would come to this one too, after the one that is tried first has failed: it cannot take a word and a parameter in the
  // same place (`invitations/accept` and `invitations/:invitationId`).
  const app = new HonoBase<AppEnv>({ router: new TrieRouter() });
  app.use(requestContext);
  app.use(shield);
  for (const { spec, handle } of ROUTES) app.on(spec.method, spec.path, handle);
  app.get("/openapi.json", (c) => c.json(openApiDocument(SPECS, publicUrl(c.env))));
  app.get("/docs", (c) => c.html(docsPage(SPECS), 200, { "content-security-policy": DOCS_CSP }));
  app.get("/healthz", async (c) => {
    const watched = watchedNetworks(c.env.CHAIN_SOURCES);
    const configured = { watched, faults: configurationFaults(c.env), nowMs: c.get("nowMs") };
    const health = await healthOf(c.env.DB, configured);
    return c.json(health, health.status === "ok" ? 200 : 503);
  });
  app.notFound(nothingHere);
  app.onError(errorResponse);
  return app;
}

/** The outer shield, per address and before anything is looked up; production only, where the edge tells who calls (security.md 3). */
async function shield(c: AppContext, next: () => Promise<void>): Promise<Response | undefined> {
  const ip = callerIp(c);
  if (!isDevelopment(c.env) && hasDevelopmentSetting(c.env) && c.req.path !== "/healthz") {
    console.error(JSON.stringify({ level: "error", alert: "not serving: a setting for development in production" }));
    return failureResponse({ code: "INTERNAL_ERROR" }, c.get("requestId"));
  }
  if (isDevelopment(c.env) || ip === undefined) {
    await next();
    return undefined;
  }
  const verdict = await c.env.IP_SHIELD.limit({ key: networkOf(ip) });
  if (!verdict.success) return failureResponse({ code: "RATE_LIMITED", retryAfterSeconds: 60 }, c.get("requestId"));
  await next();
  return undefined;
}

/** 404, or 405 with what the path takes; a preflight is answered only where a public key or a payer's page may call. */
function nothingHere(c: AppContext): Response {
  const serving = SPECS.filter((spec) => servesPath(spec, c.req.path));
  if (c.req.method === "OPTIONS" && serving.some(isCrossOrigin)) return preflight(serving);
  if (serving.length === 0) return failureResponse({ code: "ROUTE_NOT_FOUND" }, c.get("requestId"));
  return failureResponse({ code: "METHOD_NOT_ALLOWED", allow: serving.map((spec) => spec.method) }, c.get("requestId"));
}

function preflight(serving: readonly RouteSpec[]): Response {
  const methods = serving.filter(isCrossOrigin).map((spec) => spec.method);
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": "x-api-key, content-type, idempotency-key",
      "access-control-max-age": "86400",
    },
  });
}
