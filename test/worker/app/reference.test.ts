import { describe, expect, it } from "vitest";
import { version } from "../../../package.json";
import { SPECS } from "../../../src/app/app.ts";
import { jsonSchema, type NamedSchemas } from "../../../src/platform/http/json-schema.ts";
import { refusalStatus, SAMPLES } from "../../../src/platform/http/refusals.ts";
import { type RouteSpec, TAGS } from "../../../src/platform/http/route.ts";
import { send, sendWith } from "../../support/access.ts";
import { nameOf } from "../../support/access-attempt.ts";
import {
  FROM_ANY_PAGE,
  KEY_ONLY,
  KEY_OR_MEMBER,
  MEMBER_ONLY,
  OPEN,
  PAGES,
  takesKey,
  USER,
} from "../../support/access-table.ts";
import { resolve, type Schema } from "../../support/json-schema.ts";
import { document, operationOf, text, useDocument, withBraces } from "./reference-harness.ts";

useDocument();

/** The target of a reference, or the schema itself. */
function followed(schema: Schema | undefined): Schema | undefined {
  return schema?.$ref === undefined ? schema : Object(resolve(document, schema.$ref));
}

/** Refusals that all routes of a kind share, written by hand from Interface 5 and 7, decisions 1, 3, 6, 7, 8 and 9, and security.md 1. */
const ANY = ["RATE_LIMITED", "INTERNAL_ERROR"];

const GUARDED = [
  "VALIDATION_FAILED",
  "UNAUTHORIZED",
  "SECOND_FACTOR_REQUIRED",
  "IP_NOT_ALLOWED",
  "STORAGE_UNAVAILABLE",
  "RESTORING",
];

const MERCHANTS = ["MERCHANT_MISMATCH", "MERCHANT_NOT_FOUND", "PERMISSION_DENIED", "SECURITY_REQUIREMENT_NOT_MET"];
const CHANGING = [
  "MALFORMED_JSON",
  "BODY_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "PRIVATE_KEY_REFUSED",
  "ORIGIN_NOT_ALLOWED",
];

/**
 * Open GET routes that are refused like writes after a restore, as long as revoked access may work again (reliability.md 7): the checkout, which
 * shows the address to pay, and sign-in.
 */
const SHOWING_A_PLACE = ["GET /api/v1/checkout/:invoiceId"];
const SIGNING_IN = [
  "GET /api/v1/auth/methods",
  "GET /api/v1/auth/:provider/start",
  "GET /api/v1/auth/:provider/callback",
];

/** Operations that browsers call with a public key. If the deployment has a Turnstile widget, the browser is challenged. */
const CHALLENGED = ["createInvoice"];
const CHALLENGE = ["CHALLENGE_REQUIRED", "CHALLENGE_FAILED", "CHALLENGE_UNAVAILABLE"];

const PROTECTED = ["IDEMPOTENCY_KEY_INVALID", "IDEMPOTENCY_KEY_REUSED", "OPERATION_IN_PROGRESS"];

/** The refusals that a route shares with all routes of its kind. */
function refusalsByKind(spec: RouteSpec): readonly string[] {
  const name = nameOf(spec);
  const ofKeys = KEY_OR_MEMBER[name];
  const ofMembers = MEMBER_ONLY[name];
  const demands: readonly string[] = ofKeys?.demands ?? ofMembers?.demands ?? USER[name] ?? [];
  if (PAGES.includes(name)) return [];
  const isGuarded = !OPEN.includes(name);
  const isForKeysAlone = KEY_ONLY.includes(name);
  const isChanging = spec.method !== "GET";
  const isOpenAndWaits = !isGuarded && (isChanging || [...SHOWING_A_PLACE, ...SIGNING_IN].includes(name));
  return [
    ...ANY,
    ...(isOpenAndWaits ? ["RESTORING"] : []),
    ...(isGuarded ? GUARDED : []).filter((code) => code !== "SECOND_FACTOR_REQUIRED" || !isForKeysAlone),
    ...(isForKeysAlone ? ["MERCHANT_NOT_FOUND", "PUBLIC_KEY_FORBIDDEN"] : []),
    ...((ofKeys ?? ofMembers) ? MERCHANTS : []),
    ...(isChanging ? CHANGING : []).filter((code) => code !== "ORIGIN_NOT_ALLOWED" || !FROM_ANY_PAGE.includes(name)),
    ...(isChanging && isGuarded ? ["CONTENTION"] : []),
    ...(ofKeys === undefined ? [] : ["PUBLIC_KEY_FORBIDDEN"]),
    ...(isGuarded && ofKeys === undefined && !isForKeysAlone ? ["SESSION_REQUIRED"] : []),
    ...(demands.includes("step-up") ? ["STEP_UP_REQUIRED"] : []),
    ...(demands.includes("owner") ? ["OWNER_REQUIRED"] : []),
    ...(demands.includes("operator") ? ["OPERATOR_REQUIRED"] : []),
    ...(takesKey(spec) ? PROTECTED : []),
    ...(CHALLENGED.includes(spec.operationId) ? CHALLENGE : []),
  ];
}

/** The sentence about the route's callers that its description must contain. */
function accessOf(spec: RouteSpec): string {
  const name = nameOf(spec);
  if (PAGES.includes(name)) return "Needs no key. The body is a form";
  if (OPEN.includes(name)) return "Needs no key";
  if (MEMBER_ONLY[name]?.demands.includes("owner")) return "the owner";
  if (USER[name]?.includes("operator")) return "Needs the session of an operator; not for API keys";
  if (KEY_ONLY.includes(name)) return "Needs a secret API key, as `x-api-key` or as a bearer token";
  return spec.permission ?? "Needs a session";
}

describe("the OpenAPI document", () => {
  it("is version 3.1 and served as JSON", async () => {
    const answer = await send("/openapi.json");
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.components.securitySchemes).toMatchObject({
      apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      session: { type: "apiKey", in: "cookie", name: "__Host-session" },
    });
  });

  it("has the version of package.json, as /healthz does", async () => {
    expect(document.info.version).toBe(version);
    expect((await send("/healthz")).json).toMatchObject({ version });
  });

  it("names PUBLIC_URL as its server, or / when it is not set, and never the Host header", async () => {
    expect(document.servers).toEqual([{ url: "http://localhost:8787" }]);
    const unset = await sendWith({ PUBLIC_URL: "" } as Partial<Env>, "/openapi.json", {
      headers: { host: "evil.example" },
    });
    expect(unset.json).toMatchObject({ servers: [{ url: "/" }] });
    expect(unset.text).not.toContain("evil.example");
  });

  it("has every route and no other", () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.sort()).toEqual(SPECS.map(({ method, path }) => `${method} ${withBraces(path)}`).sort());
  });

  it("has only valid references, and no empty schema", () => {
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to ?? "");
    expect(references.length).toBeGreaterThan(10);
    expect(references.filter((path) => resolve(document, path) === undefined)).toEqual([]);
    expect(text).not.toContain('"schema":{}');
  });

  it("has exactly one definition of each object of the interface", () => {
    const { schemas } = document.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining("Error Health Invoice InvoiceList Payment PaymentMethod PublicInvoice Wallet".split(" ")),
    );
    for (const { schema } of SPECS.flatMap(({ answers }) => answers)) {
      if (schema === undefined) continue;
      const named: NamedSchemas = {};
      jsonSchema(schema(), "output", named);
      expect(schemas).toMatchObject(named);
    }
  });

  it("allows additional fields in errors, and in none of our other objects", () => {
    const { Error: error, ...others } = document.components.schemas;
    expect(error?.additionalProperties).toEqual({});
    expect(error?.required).toEqual(["statusCode", "message", "error", "code", "requestId"]);
    // Objects that WebAuthn defines are passed through unchanged.
    const open = Object.entries(others).filter(
      ([, { type, additionalProperties }]) => type === "object" && additionalProperties !== false,
    );
    expect(open.map(([name]) => name).sort()).toEqual(["PasskeyCreationOptions", "PasskeyRequestOptions"]);
  });

  it("does not give JavaScript's largest safe integer as a maximum", () => {
    expect(text.includes(String(Number.MAX_SAFE_INTEGER))).toBe(false);
  });

  it("lists its chapters in reading order, each with a description and routes, and sorts its routes by chapter", () => {
    const chapters = Object.keys(TAGS);
    expect(document.tags.map(({ name }) => name)).toEqual(chapters);
    expect(document.tags.filter(({ description }) => description === "")).toEqual([]);
    const tags = Object.values(document.paths).map((routes) => Object.values(routes)[0]?.tags[0]);
    expect([...new Set(tags)]).toEqual(chapters);
  });

  it("describes every query parameter", () => {
    const parameters = SPECS.flatMap((spec) => operationOf(spec).parameters.map((each) => ({ spec, ...each })));
    const silent = parameters.filter((each) => each.in === "query" && followed(each.schema)?.description === undefined);
    expect(silent.map(({ spec, name }) => `${spec.path} ${name}`)).toEqual([]);
  });

  it("has unique operation ids", () => {
    const names = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((each) => each.operationId),
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

describe.each(SPECS.map((spec) => [`${spec.method} ${spec.path}`, spec] as const))("%s in the document", (_, spec) => {
  it("has each path parameter once, and all query parameters", () => {
    const { parameters } = operationOf(spec);
    const inPath = parameters.filter((each) => each.in === "path");
    expect(inPath.map(({ name }) => `:${name}`)).toEqual(spec.path.match(/:\w+/g) ?? []);
    expect(inPath.every(({ required }) => required)).toBe(true);
    const keys = parameters.map((each) => `${each.in} ${each.name}`);
    expect(new Set(keys).size).toBe(keys.length);
    if (spec.operationId === "listInvoices") {
      const inQuery = parameters.filter((each) => each.in === "query").map(({ name }) => name);
      const times = parameters.filter(({ schema }) => schema.format === "date-time").map(({ name }) => name);
      expect(times.sort()).toEqual(["createdFrom", "createdTo"]);
      expect(inQuery.sort()).toEqual([
        "amountFrom",
        "amountTo",
        "createdFrom",
        "createdTo",
        "cryptocurrency",
        "currency",
        "cursor",
        "customerId",
        "externalId",
        "ids",
        "limit",
        "needsReview",
        "network",
        "page",
        "search",
        "status",
      ]);
    }
  });

  it("has an Idempotency-Key header if it supports one, and the challenge header if browsers are challenged", () => {
    const names = operationOf(spec)
      .parameters.filter((each) => each.in === "header")
      .map(({ name }) => name);
    expect(names).toEqual([
      ...(takesKey(spec) ? ["Idempotency-Key"] : []),
      ...(CHALLENGED.includes(spec.operationId) ? ["cf-turnstile-response"] : []),
    ]);
  });

  it("describes who may call it and with which permission", () => {
    const { security, description } = operationOf(spec);
    const name = nameOf(spec);
    const both = [{ apiKey: [] }, { session: [] }];
    const alone = KEY_ONLY.includes(name) ? [{ apiKey: [] }, { bearer: [] }] : [{ session: [] }];
    const guarded = name in KEY_OR_MEMBER ? both : alone;
    expect(security).toEqual([...OPEN, ...PAGES].includes(name) ? [] : guarded);
    expect(description).toContain(accessOf(spec));
  });

  it("describes each response, with a schema for JSON", () => {
    const { responses } = operationOf(spec);
    for (const answer of spec.answers) {
      const documented = responses[answer.status];
      expect(documented?.description).toBe(answer.description);
      if (answer.schema !== undefined) {
        const schema = documented?.content?.["application/json"]?.schema;
        const forms = schema?.anyOf ?? [schema];
        for (const form of forms) expect(followed(form)?.type).toMatch(/^(object|array)$/);
      }
    }
  });

  it("lists every refusal code, shared or its own, under its status", () => {
    const { responses } = operationOf(spec);
    const codes = [...refusalsByKind(spec), ...(spec.isPage ? [] : spec.refusals)];
    for (const code of codes) {
      const answer = responses[refusalStatus(code as keyof typeof SAMPLES)];
      expect(answer?.description.split(", ")).toContain(code);
      expect(answer?.content?.["application/json"]?.schema).toEqual({ $ref: "#/components/schemas/Error" });
    }
    const own = new Set<string>(codes);
    // A page shows no error code; reference-pages.test.ts checks its statuses.
    if (spec.isPage) expect(own.size).toBe(0);
    const documented = Object.entries(responses).flatMap(([status, { description }]) =>
      spec.isPage || spec.answers.some((each) => String(each.status) === status) ? [] : description.split(", "),
    );
    expect(documented.sort()).toEqual([...own].sort());
  });

  it("lists the headers of its responses", () => {
    const always = [
      "x-request-id",
      ...([...OPEN, ...PAGES].includes(nameOf(spec)) ? [] : ["RateLimit", "RateLimit-Policy"]),
      // A web page could send a secret key only to routes that it can call with a public key.
      ...(spec.isForPublicKeys && spec.permission !== null ? ["x-warning"] : []),
    ];
    for (const [status, { headers }] of Object.entries(operationOf(spec).responses)) {
      const isAnswer = spec.answers.some((each) => String(each.status) === status);
      const more = [
        ...(isAnswer && takesKey(spec) ? ["Idempotent-Replayed"] : []),
        ...(!isAnswer && ["429", "503"].includes(status) ? ["Retry-After"] : []),
      ];
      expect(Object.keys(headers)).toEqual([...always, ...more]);
    }
  });
});

describe("the schema of a new invoice", () => {
  it("has the fields, limits and defaults of Interface 2.2, and allows no others", () => {
    const create = document.paths["/api/v1/merchants/merchant/{merchantId}/invoices"]?.post;
    const schema = create?.requestBody?.content["application/json"]?.schema;
    expect(create?.requestBody?.required).toBe(true);
    expect(schema?.required).toEqual(["name", "rawAmount"]);
    expect(schema?.additionalProperties).toBe(false);
    expect(schema?.properties).toMatchObject({
      name: { type: "string", maxLength: 200 },
      rawAmount: { type: "number", minimum: 0, maximum: 1_000_000 },
      currency: { type: "string", default: "USD" },
      customerEmail: { type: "string", format: "email" },
      customerAddress: { type: "string", maxLength: 500 },
      customerPhoneNumber: { type: "string", maxLength: 50 },
      description: { type: "string", maxLength: 1_000 },
      redirectUrl: { type: "string", format: "uri", maxLength: 2_048 },
      expiresInSeconds: { type: "integer", minimum: 60, maximum: 2_592_000 },
    });
  });

  it("requires every field of the response, with money as text", () => {
    const create = document.paths["/api/v1/merchants/merchant/{merchantId}/invoices"]?.post;
    const [whole] = create?.responses["201"]?.content?.["application/json"]?.schema.anyOf ?? [];
    const schema = followed(whole);
    const fields =
      "id merchantId customerId productId name description redirectUrl rawAmount endAmount currency status expiresAt createdAt updatedAt customer product payments invoiceTimeline";
    expect(schema?.required).toEqual(expect.arrayContaining(fields.split(" ")));
    expect(schema?.properties?.rawAmount).toMatchObject({ type: "string" });
  });
});

describe("the reference page", () => {
  it("is served as HTML, and its document lists every refusal code with its status", async () => {
    const answer = await send("/docs");
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    const listed = [...document.info.description.matchAll(/^- (\d+): (.*)$/gm)].flatMap(([, status, names = ""]) =>
      names.split(", ").map((name) => `${name} ${status}`),
    );
    const codes = Object.values(SAMPLES).map(({ code }) => `\`${code}\` ${refusalStatus(code)}`);
    expect(listed.sort()).toEqual([...new Set(codes)].sort());
  });

  it("has no dead links", async () => {
    const links = [...document.info.description.matchAll(/\]\(([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(links.length).toBeGreaterThan(0);
    const headers = { accept: "text/html" };
    for (const path of links) expect((await send(path, { headers })).status, path).toBe(200);
  });
});
