// Routes that a plugin reads to connect: the key's store, its rights, and the store's payment methods.
import * as z from "zod";
import { type MountedRoute, routesOf } from "../../../accounts/pipeline/routes-of.ts";
import { ok } from "../../../lib/result.ts";
import { MINUTE_MS, SECOND_MS } from "../../../lib/time.ts";
import { jsonReply } from "../../../platform/http/reply.ts";
import { invoiceDependencies } from "../../invoices/dependencies.ts";
import { type Asked, type Inner, type Route, routesThrough, routeToNothing, type Told, WHOSE } from "../middleware.ts";
import { type NamedPair, paymentMethodId } from "../payment-method-id.ts";
import { ratesOf } from "../rates.ts";
import { rightsOf } from "../rights.ts";

const STORES = "/api/v1/stores";
const STORE = `${STORES}/:merchantId`;
const STORE_ITSELF = "greenfieldStore";

/** The BTCPay Server version whose formats are used. Plugins check that it is new enough for them. */
const VERSION = "2.4.7";

interface Merchant {
  readonly id: string;
  readonly name: string;
  readonly invoiceLifetimeSeconds: number;
  readonly monitorSeconds: number;
}

/**
 * A store in Greenfield's format, with everything that a plugin's settings page reads. `speedPolicy` is a constant, because each of our wallets has
 * its own number of confirmations.
 */
const storeOf = ({ id, name, invoiceLifetimeSeconds, monitorSeconds }: Merchant) => ({
  id,
  name,
  defaultCurrency: "USD",
  invoiceExpiration: minutesOf(invoiceLifetimeSeconds),
  monitoringExpiration: minutesOf(monitorSeconds),
  speedPolicy: "MediumSpeed",
  archived: false,
});

const minutesOf = (seconds: number) => Math.round((seconds * SECOND_MS) / MINUTE_MS);

/** Routes of our own API that only translations call; they are not mounted. */
export const storeSources: readonly MountedRoute[] = [
  ...routesOf({ tag: "API keys", callers: "KEY" }).get("/greenfield/key", {
    operationId: WHOSE,
    summary: "Read which merchant the key belongs to",
    answers: [{ status: 200, description: "The merchant, and Greenfield's names of what the key may do" }],
    answer: async ({ principal, merchant }) => {
      const { id, formerStoreId } = merchant;
      return ok(jsonReply(200, { store: storeOf(merchant), id, formerStoreId, rights: rightsOf(principal, id) }));
    },
  }),
  ...routesOf({ tag: "Merchants", callers: "MEMBER_OR_KEY" }).get("/greenfield/:merchantId/store", {
    operationId: STORE_ITSELF,
    summary: "Read a merchant as a store",
    permission: "merchant:view",
    answers: [{ status: 200, description: "The store" }],
    answer: async ({ merchant }) => ok(jsonReply(200, storeOf(merchant))),
  }),
  ...routesOf({ tag: "Invoices", callers: "MEMBER_OR_KEY", dependencies: invoiceDependencies }).get(
    "/greenfield/:merchantId/rates",
    {
      operationId: "greenfieldRates",
      summary: "Read prices",
      permission: "merchant:view",
      query: () => z.object({ currencyPair: z.string().max(200).default("") }),
      answers: [{ status: 200, description: "The price of each pair" }],
      answer: async ({ query, deps, nowMs }) =>
        ok(jsonReply(200, { rates: ratesOf(await deps.table(), query.currencyPair, nowMs) })),
    },
  ),
];

interface OwnKey {
  readonly store: object;
  readonly rights: readonly string[];
}

function keyOf(text: string): OwnKey {
  return JSON.parse(text);
}

const tellKey = (text: string, { key }: Asked): Told => {
  return { body: { apiKey: key, label: "", permissions: keyOf(text).rights } };
};

function tellStores(text: string): Told {
  const key = keyOf(text);
  const mayView = key.rights.some((right) => /^btcpay\.store\.can(view|modify)storesettings:/.test(right));
  return { body: mayView ? [key.store] : [] };
}

/** Never reports a chain as behind, because payment methods on a network that is behind are not offered. */
const tellServer = (): Told => ({
  body: { version: VERSION, onion: null, supportedPaymentMethods: [], fullySynched: true, syncStatus: [] },
});

function tellMethods(text: string, { query }: Asked): Told {
  const wallets: readonly (NamedPair & { readonly isEnabled: boolean })[] = JSON.parse(text);
  const isForAll = query.get("onlyEnabled") !== "true" && query.get("enabled") !== "true";
  const methods = wallets
    .filter(({ isEnabled }) => isForAll || isEnabled)
    .map((wallet) => {
      const id = paymentMethodId(wallet);
      // The last two members are for older clients.
      return { paymentMethodId: id, enabled: wallet.isEnabled, paymentMethod: id, cryptoCode: wallet.cryptocurrency };
    });
  return { body: methods };
}

const whose = () => ({ operationId: WHOSE });
const ROUTES: readonly Route[] = [
  { at: "GET /api/v1/api-keys/current", operationId: "getCurrentKey", ask: whose, tell: tellKey },
  { at: "GET /api/v1/server/info", operationId: "getServerInfo", ask: whose, tell: tellServer },
  { at: `GET ${STORES}`, operationId: "listStores", ask: whose, tell: tellStores },
  {
    at: `GET ${STORE}`,
    operationId: "getStore",
    permission: "merchant:view",
    ask: () => ({ operationId: STORE_ITSELF }),
    tell: (text) => ({ body: JSON.parse(text) }),
  },
  {
    at: `GET ${STORE}/payment-methods`,
    operationId: "listStoreMethods",
    permission: "wallet:view",
    ask: () => ({ operationId: "listWallets" }),
    tell: tellMethods,
  },
  {
    at: `GET ${STORE}/rates`,
    operationId: "listStoreRates",
    permission: "merchant:view",
    ask: ({ query }) => ({ operationId: "greenfieldRates", query }),
    tell: (text) => ({ body: JSON.parse(text).rates }),
  },
];

const NO_PULL_PAYMENTS = "Pull payments are not part of this service: it never holds money, so it can pay none out";

export function storeRoutes(inner: Inner): readonly MountedRoute[] {
  return [
    ...routesThrough(inner, ROUTES),
    routeToNothing(`POST ${STORE}/pull-payments`, "createPullPayment", NO_PULL_PAYMENTS),
  ];
}
