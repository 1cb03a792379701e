// Routes for webhook endpoints in Greenfield's format. Plugins do not see endpoints in our own format.
import type { MountedRoute } from "../../../accounts/pipeline/routes-of.ts";
import { type Inner, type OwnRequest, type Route, routesOfKey, routesThrough, type Told } from "../middleware.ts";
import { greenfieldWebhook, isGreenfield, type OwnWebhook, webhookBodyOf } from "../webhook.ts";

const WEBHOOKS = "/api/v1/stores/:merchantId/webhooks";
const WEBHOOK = `${WEBHOOKS}/:webhookId`;

const NOT_FOUND: Told = { status: 404, body: { code: "webhook-not-found", message: "Webhook not found" } };

function webhookOf(text: string): OwnWebhook {
  return JSON.parse(text);
}

function tellWebhook(text: string): Told {
  const own = webhookOf(text);
  return isGreenfield(own) ? { body: greenfieldWebhook(own) } : NOT_FOUND;
}

function tellList(text: string): Told {
  const all: readonly OwnWebhook[] = JSON.parse(text);
  return { body: all.filter(isGreenfield).map(greenfieldWebhook) };
}

const ifGreenfield = (read: string, own: OwnRequest) => (isGreenfield(webhookOf(read)) ? own : NOT_FOUND);

const OF_ONE: readonly Route[] = [
  {
    at: `GET ${WEBHOOK}`,
    operationId: "getStoreWebhook",
    permission: "webhook:view",
    ask: () => ({ operationId: "getWebhook" }),
    tell: tellWebhook,
  },
  {
    at: `PUT ${WEBHOOK}`,
    operationId: "updateStoreWebhook",
    permission: "webhook:view and webhook:update",
    before: "getWebhook",
    ask: ({ json }, read) =>
      ifGreenfield(read, { operationId: "updateWebhook", json: webhookBodyOf(json, false) ?? {} }),
    tell: tellWebhook,
  },
  {
    at: `DELETE ${WEBHOOK}`,
    operationId: "deleteStoreWebhook",
    permission: "webhook:view and webhook:delete",
    before: "getWebhook",
    ask: (_, read) => ifGreenfield(read, { operationId: "deleteWebhook" }),
    tell: () => ({ body: undefined }),
  },
];

const OF_ALL: readonly Route[] = [
  {
    at: `GET ${WEBHOOKS}`,
    operationId: "listStoreWebhooks",
    permission: "webhook:view",
    ask: () => ({ operationId: "listWebhooks" }),
    tell: tellList,
  },
  {
    at: `POST ${WEBHOOKS}`,
    operationId: "createStoreWebhook",
    permission: "webhook:create",
    ask: ({ json }) => ({ operationId: "createWebhook", json: webhookBodyOf(json, true) ?? {} }),
    tell: tellWebhook,
  },
];

export function greenfieldWebhookRoutes(inner: Inner): readonly MountedRoute[] {
  return [...routesThrough(inner, [...OF_ALL, ...OF_ONE]), ...routesOfKey(inner, OF_ONE)];
}
