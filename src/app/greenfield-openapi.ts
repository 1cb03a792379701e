// The reference of the routes in the formats of BTCPay Server (commerce/greenfield/). It is a separate document, because their errors, headers and
// status codes differ from those of our API. Generated when the static assets are built.
import * as z from "zod";
import * as shapes from "../commerce/greenfield/contract.ts";
import { jsonSchema, type NamedSchemas } from "../platform/http/json-schema.ts";
import type { RouteSpec } from "../platform/http/route.ts";
import { VERSION } from "./configuration/version.ts";
import { serversOf } from "./docs/openapi-servers.ts";

const DESCRIPTION = `The routes that shop plugins of BTCPay Server call, in the formats of its Greenfield API, for the merchant of the key. Every success has the status
200. Members of a request that are not listed are accepted and ignored. A change takes an \`Idempotency-Key\`. Everything else, and more complete
versions of these routes, are in the API of this service: [/openapi.json](/openapi.json).`;

interface Described {
  readonly chapter: "Connecting" | "Invoices" | "Webhooks";
  readonly summary: string;
  readonly body?: () => z.ZodType;
  readonly query?: () => z.ZodType;
  /** Absent for an answer without a body. */
  readonly answer?: () => z.ZodType;
}

/** By operation. Each entry also describes the operation's variant without a store in its path (`...OfKey`). */
const OPERATIONS: Readonly<Record<string, Described>> = {
  getCurrentKey: { chapter: "Connecting", summary: "Read what the key may do", answer: shapes.currentKey },
  getServerInfo: { chapter: "Connecting", summary: "Read the version of the API", answer: shapes.serverInfo },
  listStores: { chapter: "Connecting", summary: "List the store of the key", answer: shapes.stores },
  getStore: { chapter: "Connecting", summary: "Read a store", answer: shapes.store },
  listStoreMethods: { chapter: "Connecting", summary: "List the store's payment methods", answer: shapes.storeMethods },
  listStoreRates: { chapter: "Invoices", summary: "Read prices", query: shapes.ratesQuery, answer: shapes.rates },
  createStoreInvoice: {
    chapter: "Invoices",
    summary: "Create an invoice",
    body: shapes.createInvoice,
    answer: shapes.invoice,
  },
  listStoreInvoices: {
    chapter: "Invoices",
    summary: "List invoices, newest first, or those of an order",
    query: shapes.listQuery,
    answer: shapes.invoices,
  },
  getStoreInvoice: { chapter: "Invoices", summary: "Read an invoice", answer: shapes.invoice },
  updateStoreInvoice: {
    chapter: "Invoices",
    summary: "Replace the metadata of an invoice",
    body: shapes.updateInvoice,
    answer: shapes.invoice,
  },
  archiveStoreInvoice: {
    chapter: "Invoices",
    summary: "Archive an invoice: lists leave it out, and it can still be paid",
  },
  listInvoiceMethods: {
    chapter: "Invoices",
    summary: "List the payment methods of an invoice with their payments",
    answer: shapes.invoiceMethods,
  },
  markStoreInvoice: {
    chapter: "Invoices",
    summary:
      "Mark an invoice by hand: Invalid cancels it; Settled only adds a note, and every owner and admin is mailed",
    body: shapes.markInvoice,
    answer: shapes.invoice,
  },
  listStoreWebhooks: { chapter: "Webhooks", summary: "List the endpoints in this format", answer: shapes.webhooks },
  createStoreWebhook: {
    chapter: "Webhooks",
    summary: "Register an endpoint",
    body: shapes.createWebhook,
    answer: shapes.webhook,
  },
  getStoreWebhook: { chapter: "Webhooks", summary: "Read an endpoint, without its secret", answer: shapes.webhook },
  updateStoreWebhook: {
    chapter: "Webhooks",
    summary: "Change an endpoint, except its secret",
    body: shapes.updateWebhook,
    answer: shapes.webhook,
  },
  deleteStoreWebhook: { chapter: "Webhooks", summary: "Delete an endpoint" },
};

const NOT_HERE: Described = {
  chapter: "Invoices",
  summary: "Not part of this service: answers 404 with an explanation",
};

/** Throws for a route without a description. */
function describedOf({ operationId, callers }: RouteSpec): Described {
  const described = callers === "ANYBODY" ? NOT_HERE : OPERATIONS[operationId.replace(/OfKey$/, "")];
  if (described === undefined) throw new Error(`${operationId} is not described`);
  return described;
}

const error = () => z.object({ code: z.string(), message: z.string() }).meta({ title: "GreenfieldError" });
const fieldErrors = () =>
  z.array(z.object({ path: z.string(), message: z.string() })).meta({ title: "GreenfieldFieldErrors" });

export function greenfieldDocument(specs: readonly RouteSpec[]): object {
  const schemas: NamedSchemas = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const spec of specs) {
    const path = spec.path.replace(":merchantId", "{storeId}").replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(spec, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Edgetill for plugins of BTCPay Server", version: VERSION, description: DESCRIPTION },
    servers: serversOf(""),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description: "`token KEY`, with a secret key of the merchant.",
        },
      },
      schemas,
    },
  };
}

function operation(spec: RouteSpec, schemas: NamedSchemas): object {
  const content = (schema: () => z.ZodType) => ({
    content: { "application/json": { schema: jsonSchema(schema(), "output", schemas) } },
  });
  const isHere = spec.callers !== "ANYBODY";
  const { chapter, summary, body, query, answer } = describedOf(spec);
  return {
    operationId: spec.operationId,
    tags: [chapter],
    summary,
    ...(spec.permission === null ? {} : { description: `Needs ${spec.permission}.` }),
    security: isHere ? [{ token: [] }] : [],
    parameters: parametersOf(spec, query),
    ...(body && { requestBody: { required: true, ...content(body) } }),
    responses: isHere
      ? {
          200: { description: "Done", ...(answer && content(answer)) },
          401: { description: "No valid secret key", ...content(error) },
          403: { description: "The key may not do this", ...content(error) },
          ...(body && { 422: { description: "Some fields are invalid", ...content(fieldErrors) } }),
        }
      : { 404: { description: "Not part of this service", ...content(error) } },
  };
}

function parametersOf({ path }: RouteSpec, query: Described["query"]): readonly object[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name: name === "merchantId" ? "storeId" : name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const named = query === undefined ? {} : Object(jsonSchema(query(), "input", {}).properties);
  const inQuery = Object.entries(named).map(([name, schema]) => ({ name, in: "query", required: false, schema }));
  return [...inPath, ...inQuery];
}
