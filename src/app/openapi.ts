// The OpenAPI 3.1 document, built together with the Worker from the schemas that also validate requests (decisions 1). It documents every route
// except those in the formats of BTCPay Server (greenfield-openapi.ts).
import * as z from "zod";
import { eventBody } from "../platform/events/contract.ts";
import { jsonSchema, type NamedSchemas } from "../platform/http/json-schema.ts";
import { pageRefusalsOf, refusalStatus, refusalsOf, SAMPLES } from "../platform/http/refusals.ts";
import {
  accessText,
  CHALLENGE_TOKEN,
  inOrderOfTags,
  isCrossOrigin,
  type RouteSpec,
  TAGS,
} from "../platform/http/route.ts";
import { VERSION } from "./configuration/version.ts";
import { serversOf } from "./docs/openapi-servers.ts";

/** CommonMark, as OpenAPI specifies. */
const description =
  () => `Non-custodial crypto payments: invoices, wallets, products and customers, and the teams behind them. Amounts are decimal strings.
In a body, null for an optional member counts as absent, unless the member's schema allows null.

A server sends its key as \`x-api-key\`. A user [signs in](/sign-in): the browser then has a session cookie, and every change also needs our own
\`Origin\` header. Send JSON as \`content-type: application/json\`, and an \`Idempotency-Key\` with every change.

Every failure is \`{ statusCode, message, error, code, requestId, details? }\`. Compare \`code\`, show \`message\`. Retry on network errors, 429 and 5xx with exponential
backoff and jitter, a change only with its \`Idempotency-Key\`, and honour \`Retry-After\`. The codes by their status:

${errorCatalogue()}

The same reference as an OpenAPI document: [/openapi.json](/openapi.json).`;

function errorCatalogue(): string {
  const codes = Map.groupBy(
    Object.values(SAMPLES).map(({ code }) => code),
    refusalStatus,
  );
  const byStatus = [...codes].toSorted(([one], [other]) => one - other);
  return byStatus.map(([status, names]) => `- ${status}: ${names.map((name) => `\`${name}\``).join(", ")}`).join("\n");
}

/** Response headers by name; `headersOf` decides which response has which. */
const HEADERS = {
  "x-request-id": {
    required: true,
    schema: { type: "string", pattern: "^req_[0-9A-Z]{26}$" },
  },
  RateLimit: { description: "`r` requests are left for `t` seconds.", schema: { type: "string" } },
  "RateLimit-Policy": { description: "`q` requests in `w` seconds.", schema: { type: "string" } },
  "Retry-After": { required: true, schema: { type: "integer", minimum: 1 } },
  "x-warning": {
    description:
      "A web page sent a secret key, which its visitors can read: rotate it, and give the page a public one.",
    schema: { type: "string", const: "SECRET_KEY_IN_BROWSER" },
  },
  "Idempotent-Replayed": {
    description: "This is the stored response to an earlier request with the same key.",
    schema: { type: "string", const: "true" },
  },
} as const;

const errorBody = () =>
  z
    .object({
      statusCode: z.int(),
      message: z.string(),
      error: z.string(),
      code: z.string(),
      requestId: z.string(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      // Details of PERMISSION_DENIED, WALLET_EXISTS, EXTERNAL_ID_EXISTS and WALLET_HAS_ACTIVE_PAYMENTS. Other codes may get details later.
      permission: z.string().optional(),
      walletId: z.string().optional(),
      invoiceId: z.string().optional(),
      invoiceIds: z.array(z.string()).optional(),
    })
    .loose()
    .meta({ title: "Error" });

export type OpenApi = Readonly<Record<string, unknown>>;

export function openApiDocument(specs: readonly RouteSpec[], publicUrl: string): OpenApi {
  const schemas: NamedSchemas = {};
  const error = jsonSchema(errorBody(), "output", schemas);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const spec of inOrderOfTags(specs)) {
    const path = spec.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(spec, error, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Edgetill",
      version: VERSION,
      description: description(),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: serversOf(publicUrl),
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths,
    webhooks: { event: { post: receiving(schemas) } },
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "The same key, for programs that can only send an `Authorization` header.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-session",
          description:
            "Set by signing in; named `session` on plain http at localhost. A change also needs an Origin header with our own origin.",
        },
      },
      headers: HEADERS,
      schemas,
    },
  };
}

/** Headers of each POST that delivers an event; a test compares them with the headers sent. */
const SENT_HEADERS = {
  "webhook-id": "The event's id, the same on every attempt.",
  "webhook-timestamp": "Unix seconds of this attempt.",
  "webhook-signature": "Signature by Standard Webhooks 1.0; several, separated by spaces, while a secret is rotated.",
  "x-signature": "Signature in the older form, `t=...,v1=...`.",
  "x-webhook-id": "The endpoint's id.",
  "x-event-id": "The same as `webhook-id`.",
  "x-delivery-id": "The delivery's id in the delivery log.",
} as const;

/** The request that a merchant's own endpoint receives. */
function receiving(schemas: NamedSchemas): Record<string, unknown> {
  const schema = jsonSchema(eventBody(), "output", schemas);
  return {
    operationId: "receiveEvent",
    tags: ["Events"],
    summary: "Receive an event at your endpoint",
    parameters: Object.entries(SENT_HEADERS).map(([name, description]) => {
      return { name, in: "header", required: true, description, schema: { type: "string" } };
    }),
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: {
      "2XX": {
        description:
          "Accepts the event. After any other status the delivery is retried; 410 switches the endpoint off.",
      },
    },
  };
}

function operation(spec: RouteSpec, error: object, schemas: NamedSchemas): Record<string, unknown> {
  const body = jsonSchema(spec.body(), "input", schemas);
  const hasBody = body.type === "object" && Object.keys(Object(body.properties)).length > 0;
  const hasUnion = "oneOf" in body || "anyOf" in body;
  return {
    operationId: spec.operationId,
    tags: [spec.tag],
    summary: spec.summary,
    description: descriptionOf(spec),
    security: securityOf(spec),
    parameters: [...pathParameters(spec), ...queryParameters(spec), ...headerParameters(spec)],
    ...(hasBody || hasUnion
      ? { requestBody: { required: true, content: { [bodyType(spec)]: { schema: body } } } }
      : {}),
    responses: { ...refusalAnswersOf(spec, error), ...answersOf(spec, schemas) },
  };
}

function bodyType(spec: RouteSpec): string {
  return spec.isPage ? "application/x-www-form-urlencoded" : "application/json";
}

function descriptionOf(spec: RouteSpec): string {
  return `${spec.description === undefined ? "" : `${spec.description} `}${accessText(spec)}`;
}

/** The alternatives that authenticate a caller. */
function securityOf(spec: RouteSpec): readonly object[] {
  if (spec.callers === "ANYBODY") return [];
  if (spec.callers === "KEY") return [{ apiKey: [] }, { bearer: [] }];
  return spec.callers === "MEMBER_OR_KEY" ? [{ apiKey: [] }, { session: [] }] : [{ session: [] }];
}

function pathParameters(spec: RouteSpec): object[] {
  return [...spec.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(spec: RouteSpec): object[] {
  const query = jsonSchema(spec.query(), "input", {});
  const properties: Record<string, unknown> = Object(query.properties);
  const demanded: readonly unknown[] = Array.isArray(query.required) ? query.required : [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: demanded.includes(name),
    schema,
  }));
}

function headerParameters(spec: RouteSpec): object[] {
  const once =
    "Any string up to 255 characters, sent as UTF-8. For 24 hours the same key and body return the same response.";
  const token =
    "A Turnstile token for the action `invoice`. Required with a public key if the deployment asks for it, except for a request with a known Idempotency-Key.";
  const optional = { in: "header", required: false } as const;
  return [
    ...(spec.isIdempotent
      ? [{ name: "Idempotency-Key", ...optional, description: once, schema: { type: "string", maxLength: 255 } }]
      : []),
    ...(spec.isChallenged
      ? [{ name: CHALLENGE_TOKEN, ...optional, description: token, schema: { type: "string", maxLength: 2_048 } }]
      : []),
  ];
}

function answersOf(spec: RouteSpec, schemas: NamedSchemas): Record<string, unknown> {
  const answers: Record<string, unknown> = {};
  for (const { status, description, schema, lineSchema, alsoAs } of spec.answers) {
    const json =
      schema === undefined ? {} : { "application/json": { schema: jsonSchema(schema(), "output", schemas) } };
    const lines =
      lineSchema === undefined ? {} : { "application/jsonl": { schema: jsonSchema(lineSchema(), "output", schemas) } };
    const other = alsoAs === undefined ? {} : { [alsoAs]: { schema: { type: "string" } } };
    const headers = headersOf(spec, spec.isIdempotent ? ["Idempotent-Replayed"] : []);
    answers[status] = { description, headers, content: { ...json, ...lines, ...other } };
  }
  return answers;
}

/** Refusals grouped by status; each description lists the codes. A page answers a refusal with an HTML page. */
function refusalAnswersOf(spec: RouteSpec, error: object): Record<string, unknown> {
  const codes = Map.groupBy(spec.isPage ? pageRefusalsOf(spec) : refusalsOf(spec), refusalStatus);
  const content = spec.isPage
    ? { "text/html": { schema: { type: "string" } } }
    : { "application/json": { schema: error } };
  return Object.fromEntries(
    [...codes].map(([status, names]) => [
      status,
      {
        description: spec.isPage ? "A page that explains the error" : names.join(", "),
        headers: headersOf(spec, status === 429 || status === 503 ? ["Retry-After"] : []),
        content,
      },
    ]),
  );
}

type HeaderName = keyof typeof HEADERS;

/** The headers that every response of this kind of route has, and those in `own`. */
function headersOf(spec: RouteSpec, own: readonly HeaderName[]): Record<string, unknown> {
  const counted: readonly HeaderName[] = spec.callers === "ANYBODY" ? [] : ["RateLimit", "RateLimit-Policy"];
  const warned: readonly HeaderName[] = isCrossOrigin(spec) && spec.permission !== null ? ["x-warning"] : [];
  const names: readonly HeaderName[] = ["x-request-id", ...counted, ...warned, ...own];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
