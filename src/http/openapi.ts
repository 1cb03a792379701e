// The OpenAPI 3.1 document, made from the very schemas that validate (decisions 1): a route that is mounted is documented.
import * as z from "zod";
import type { Failure } from "../failures.ts";
import { failureResponse } from "./errors.ts";
import type { RouteSpec } from "./route.ts";

/** Refusals that every authenticated route can give, beside its own. */
const COMMON: readonly Failure[] = [
  { code: "VALIDATION_FAILED", details: [] },
  { code: "UNAUTHORIZED" },
  { code: "MERCHANT_MISMATCH" },
  { code: "PERMISSION_DENIED", permission: "" },
  { code: "PUBLIC_KEY_FORBIDDEN" },
  { code: "IP_NOT_ALLOWED" },
  { code: "RATE_LIMITED", retryAfterSeconds: 1 },
  { code: "STORAGE_UNAVAILABLE" },
];

const errorBody = () =>
  z.object({
    statusCode: z.int(),
    message: z.string(),
    error: z.string(),
    code: z.string(),
    requestId: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  });

export type OpenApi = Readonly<Record<string, unknown>>;

export function openApiDocument(specs: readonly RouteSpec[], publicUrl: string): OpenApi {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const spec of specs) {
    const path = spec.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(spec) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Edgetill",
      version: "1.0.0",
      description: "Non-custodial crypto payments: wallets, invoices and payment methods. Amounts are decimal strings.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: publicUrl === "" ? "/" : publicUrl }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "x-api-key" } },
      schemas: { Error: jsonSchema(errorBody(), "output") },
    },
  };
}

function operation(spec: RouteSpec): Record<string, unknown> {
  const body = jsonSchema(spec.body, "input");
  const hasBody = body.type === "object" && Object.keys(Object(body.properties)).length > 0;
  const hasUnion = "oneOf" in body || "anyOf" in body;
  return {
    operationId: spec.operationId,
    tags: [spec.tag],
    summary: spec.summary,
    description: descriptionOf(spec),
    ...(spec.permission === null ? { security: [] } : {}),
    parameters: [...pathParameters(spec), ...queryParameters(spec), ...headerParameters(spec)],
    ...(hasBody || hasUnion
      ? { requestBody: { required: true, content: { "application/json": { schema: body } } } }
      : {}),
    responses: { ...answersOf(spec), ...refusalsOf(spec) },
  };
}

function descriptionOf(spec: RouteSpec): string {
  const permission = spec.permission === null ? "Needs no key." : `Needs the permission \`${spec.permission}\`.`;
  const publicKeys = spec.isForPublicKeys && spec.permission !== null ? " A public key may call it." : "";
  return `${spec.description === undefined ? "" : `${spec.description} `}${permission}${publicKeys}`;
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
  const query = jsonSchema(spec.query, "input");
  const properties: Record<string, unknown> = Object(query.properties);
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: false, schema }));
}

function headerParameters(spec: RouteSpec): object[] {
  if (!spec.isIdempotent) return [];
  const description = "Any string up to 255 characters; the same key and body give the same answer for 24 hours.";
  return [
    { name: "Idempotency-Key", in: "header", required: false, description, schema: { type: "string", maxLength: 255 } },
  ];
}

function answersOf(spec: RouteSpec): Record<string, unknown> {
  const answers: Record<string, unknown> = {};
  for (const { status, description, schema, alsoAs } of spec.answers) {
    const content = schema === undefined ? {} : { "application/json": { schema: jsonSchema(schema(), "output") } };
    const other = alsoAs === undefined ? {} : { [alsoAs]: { schema: { type: "string" } } };
    answers[status] = { description, content: { ...content, ...other } };
  }
  return answers;
}

/** Grouped by status; the codes of each stand in its description. */
function refusalsOf(spec: RouteSpec): Record<string, unknown> {
  const codes = new Map<number, Set<string>>();
  const note = (status: number, code: string) => codes.set(status, (codes.get(status) ?? new Set()).add(code));
  for (const failure of spec.permission === null ? [] : COMMON) note(statusOf(failure), failure.code);
  for (const code of spec.refusals) note(refusalStatus(code), code);
  const schema = { $ref: "#/components/schemas/Error" };
  return Object.fromEntries(
    [...codes].map(([status, names]) => [
      status,
      { description: [...names].join(", "), content: { "application/json": { schema } } },
    ]),
  );
}

function statusOf(failure: Failure): number {
  return failureResponse(failure, "").status;
}

/** The status of a code, whatever its facts. */
export function refusalStatus(code: Failure["code"]): number {
  return statusOf(SAMPLES[code]);
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

/** One failure of each code: the catalogue is complete because the compiler asks for every member. */
export const SAMPLES: { readonly [C in Failure["code"]]: Extract<Failure, { code: C }> } = {
  VALIDATION_FAILED: { code: "VALIDATION_FAILED", details: [] },
  MALFORMED_JSON: { code: "MALFORMED_JSON" },
  UNSUPPORTED_MEDIA_TYPE: { code: "UNSUPPORTED_MEDIA_TYPE" },
  BODY_TOO_LARGE: { code: "BODY_TOO_LARGE" },
  ROUTE_NOT_FOUND: { code: "ROUTE_NOT_FOUND" },
  METHOD_NOT_ALLOWED: { code: "METHOD_NOT_ALLOWED", allow: ["GET"] },
  UNAUTHORIZED: { code: "UNAUTHORIZED" },
  IP_NOT_ALLOWED: { code: "IP_NOT_ALLOWED" },
  MERCHANT_MISMATCH: { code: "MERCHANT_MISMATCH" },
  MERCHANT_NOT_FOUND: { code: "MERCHANT_NOT_FOUND" },
  PERMISSION_DENIED: { code: "PERMISSION_DENIED", permission: "INVOICE_CREATE" },
  PUBLIC_KEY_FORBIDDEN: { code: "PUBLIC_KEY_FORBIDDEN" },
  RATE_LIMITED: { code: "RATE_LIMITED", retryAfterSeconds: 60 },
  IDEMPOTENCY_KEY_INVALID: { code: "IDEMPOTENCY_KEY_INVALID" },
  IDEMPOTENCY_KEY_REUSED: { code: "IDEMPOTENCY_KEY_REUSED" },
  OPERATION_IN_PROGRESS: { code: "OPERATION_IN_PROGRESS", retryAfterSeconds: 1 },
  UNSUPPORTED_PAIR: { code: "UNSUPPORTED_PAIR", cryptocurrency: "DOGE", network: "ETH" },
  INVALID_ADDRESS: { code: "INVALID_ADDRESS", reason: "EIP-55 checksum fails" },
  INVALID_XPUB: { code: "INVALID_XPUB", reason: "the checksum fails" },
  DERIVATION_PATH_MISMATCH: { code: "DERIVATION_PATH_MISMATCH", reason: "a zpub belongs to purpose 84'" },
  XPUB_NOT_SUPPORTED: { code: "XPUB_NOT_SUPPORTED", network: "ETH" },
  PRIVATE_KEY_REFUSED: { code: "PRIVATE_KEY_REFUSED" },
  WALLET_EXISTS: { code: "WALLET_EXISTS", walletId: undefined },
  WALLET_HAS_ACTIVE_PAYMENTS: { code: "WALLET_HAS_ACTIVE_PAYMENTS" },
  WALLET_NOT_FOUND: { code: "WALLET_NOT_FOUND" },
  WALLET_FROZEN: { code: "WALLET_FROZEN" },
  WALLET_IS_NOT_XPUB: { code: "WALLET_IS_NOT_XPUB" },
  INVOICE_NOT_FOUND: { code: "INVOICE_NOT_FOUND" },
  EXTERNAL_ID_EXISTS: { code: "EXTERNAL_ID_EXISTS", invoiceId: undefined },
  NO_ENABLED_WALLET: { code: "NO_ENABLED_WALLET", cryptocurrency: "USDT", network: "TRX" },
  INVOICE_NOT_PAYABLE: { code: "INVOICE_NOT_PAYABLE", status: "EXPIRED" },
  INVOICE_NOT_EDITABLE: { code: "INVOICE_NOT_EDITABLE", status: "PAID" },
  INVOICE_NOT_CANCELLABLE: { code: "INVOICE_NOT_CANCELLABLE", status: "PAID" },
  INVOICE_HAS_PAYMENTS: { code: "INVOICE_HAS_PAYMENTS" },
  TOO_MANY_ACTIVE_INVOICES: { code: "TOO_MANY_ACTIVE_INVOICES", limit: 10_000 },
  RATE_UNAVAILABLE: { code: "RATE_UNAVAILABLE" },
  AMOUNTS_EXHAUSTED: { code: "AMOUNTS_EXHAUSTED" },
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: { code: "ANY_AMOUNT_NEEDS_OWN_ADDRESS" },
  KEY_SHARED: { code: "KEY_SHARED" },
  PUBLIC_ADDRESS_LIMIT: { code: "PUBLIC_ADDRESS_LIMIT" },
  NETWORK_NOT_WATCHED: { code: "NETWORK_NOT_WATCHED", network: "BTC" },
  STORAGE_UNAVAILABLE: { code: "STORAGE_UNAVAILABLE" },
  CONTENTION: { code: "CONTENTION" },
  INTERNAL_ERROR: { code: "INTERNAL_ERROR" },
};
