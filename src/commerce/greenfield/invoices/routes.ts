// Routes with which plugins create, read, list, mark and archive invoices.
import type { MountedRoute } from "../../../accounts/pipeline/routes-of.ts";
import type { InvoiceBody } from "../../invoices/invoice-body.ts";
import { greenfieldInvoice, invoiceMethods as methodsOf } from "../invoice.ts";
import { createBodyOf, isBody, listAsked, listed, ownMetadata, textOf } from "../invoice-request.ts";
import { unpacked } from "../metadata.ts";
import {
  type Asked,
  type Inner,
  type OwnRequest,
  type Route,
  routesOfKey,
  routesThrough,
  routeToNothing,
  type Told,
} from "../middleware.ts";

const INVOICES = "/api/v1/stores/:merchantId/invoices";
const INVOICE = `${INVOICES}/:invoiceId`;

function invoiceOf(text: string): InvoiceBody {
  return JSON.parse(text);
}

const tellInvoice = (text: string): Told => ({ body: greenfieldInvoice(invoiceOf(text)) });
const tellMethods = (text: string): Told => ({ body: methodsOf(invoiceOf(text)) });
const tellNothing = (): Told => ({ body: undefined });
const askInvoice = (): OwnRequest => ({ operationId: "getInvoice" });

function tellList(text: string, { query }: Asked): Told {
  const { data }: { readonly data: readonly InvoiceBody[] } = JSON.parse(text);
  return { body: listed(listAsked(query), data.map(greenfieldInvoice)) };
}

/**
 * Translates Invalid to our cancellation, and Settled to our MARK, which does not make the invoice PAID. Any other status goes to the route for
 * Settled, which checks its permission and then refuses the status.
 */
function askMark({ json }: Asked): OwnRequest {
  const status = isBody(json) ? textOf(json.status) : undefined;
  if (status === "Invalid") return { operationId: "cancelInvoice" };
  const action = status === "Settled" ? "MARK" : "";
  return { operationId: "resolveInvoice", json: { action, reason: "Marked through the Greenfield API" } };
}

function askMetadata({ json }: Asked, read: string): OwnRequest {
  const { isArchived } = unpacked(invoiceOf(read).metadata);
  const metadata = isBody(json) ? ownMetadata(json.metadata, isArchived) : undefined;
  return { operationId: "updateInvoice", json: metadata === undefined ? {} : { metadata } };
}

function askArchive(_: Asked, read: string): OwnRequest {
  const { metadata } = unpacked(invoiceOf(read).metadata);
  return { operationId: "updateInvoice", json: { metadata: ownMetadata(metadata, true) ?? null } };
}

/** Routes that newer versions of Greenfield also offer without the store in the path. */
const OF_ONE: readonly Route[] = [
  {
    at: `GET ${INVOICE}`,
    operationId: "getStoreInvoice",
    permission: "invoice:view",
    ask: askInvoice,
    tell: tellInvoice,
  },
  {
    at: `PUT ${INVOICE}`,
    operationId: "updateStoreInvoice",
    permission: "invoice:view and invoice:update",
    before: "getInvoice",
    ask: askMetadata,
    tell: tellInvoice,
  },
  {
    at: `DELETE ${INVOICE}`,
    operationId: "archiveStoreInvoice",
    permission: "invoice:view and invoice:update",
    before: "getInvoice",
    ask: askArchive,
    tell: tellNothing,
  },
  {
    at: `GET ${INVOICE}/payment-methods`,
    operationId: "listInvoiceMethods",
    permission: "invoice:view",
    ask: askInvoice,
    tell: tellMethods,
  },
  {
    at: `POST ${INVOICE}/status`,
    operationId: "markStoreInvoice",
    permission: "payment:resolve or invoice:cancel",
    ask: askMark,
    tell: tellInvoice,
  },
];

const OF_ALL: readonly Route[] = [
  {
    at: `POST ${INVOICES}`,
    operationId: "createStoreInvoice",
    permission: "invoice:create",
    ask: ({ json }) => ({ operationId: "createInvoice", json: createBodyOf(json) ?? {} }),
    tell: tellInvoice,
  },
  {
    at: `GET ${INVOICES}`,
    operationId: "listStoreInvoices",
    permission: "invoice:view",
    ask: ({ query }) => ({ operationId: "listInvoices", query: listAsked(query).query }),
    tell: tellList,
  },
];

const NO_REFUNDS =
  "Refunds are not part of this service: it never holds money. Send the money back from your own wallet";

export function greenfieldInvoiceRoutes(inner: Inner): readonly MountedRoute[] {
  return [
    ...routesThrough(inner, [...OF_ALL, ...OF_ONE]),
    ...routesOfKey(inner, OF_ONE),
    routeToNothing(`POST ${INVOICE}/refund`, "refundStoreInvoice", NO_REFUNDS),
    routeToNothing("POST /api/v1/invoices/:invoiceId/refund", "refundInvoice", NO_REFUNDS),
  ];
}
