import { beforeAll, describe, expect, it } from "vitest";
import { SPECS } from "../../src/http/app.ts";
import { refusalStatus, SAMPLES } from "../../src/http/openapi.ts";
import type { RouteSpec } from "../../src/http/route.ts";
import { send, sendWith } from "../support/access.ts";

interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
    >
  >;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly unknown[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

let text: string;
let document: Document;
let page: string;

beforeAll(async () => {
  text = (await send("/openapi.json")).text;
  document = JSON.parse(text);
  page = (await send("/docs")).text;
});

const withBraces = (path: string) => path.replace(/:(\w+)/g, "{$1}");

function operationOf(spec: RouteSpec): Operation {
  const operation = document.paths[withBraces(spec.path)]?.[spec.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${spec.method} ${spec.path} is not documented`);
  return operation;
}

/** Refusals that any route behind a key can give (decisions 1, 7, 8), by hand. */
const EVERY_GUARDED = {
  400: "VALIDATION_FAILED",
  401: "UNAUTHORIZED",
  403: "PERMISSION_DENIED",
  429: "RATE_LIMITED",
  503: "STORAGE_UNAVAILABLE",
};

describe("the OpenAPI document", () => {
  it("is 3.1 and served as JSON", async () => {
    const answer = await send("/openapi.json");
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.components.securitySchemes.apiKey).toEqual({ type: "apiKey", in: "header", name: "x-api-key" });
    expect(document.security).toEqual([{ apiKey: [] }]);
  });

  it("names our public address, or none when it is not configured, and never the Host header", async () => {
    expect(document.servers).toEqual([{ url: "http://localhost:8787" }]);
    const unset = await sendWith({ PUBLIC_URL: "" } as Partial<Env>, "/openapi.json", {
      headers: { host: "evil.example" },
    });
    expect(unset.json).toMatchObject({ servers: [{ url: "/" }] });
    expect(unset.text).not.toContain("evil.example");
  });

  it("has every route and nothing else", () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.sort()).toEqual(SPECS.map(({ method, path }) => `${method} ${withBraces(path)}`).sort());
  });

  it("has references that lead somewhere, and no schema that takes anything", () => {
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to ?? "");
    expect(references.length).toBeGreaterThan(10);
    const target = (path: string): unknown =>
      path
        .slice(2)
        .split("/")
        .reduce<unknown>((node, name) => Object(node)[name], document);
    expect(references.filter((path) => target(path) === undefined)).toEqual([]);
    expect(text).not.toContain('"schema":{}');
  });

  it("has one name for each operation", () => {
    const names = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((each) => each.operationId),
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

describe.each(SPECS.map((spec) => [`${spec.method} ${spec.path}`, spec] as const))("%s in the document", (_, spec) => {
  it("names each parameter of its path once, and all of its query", () => {
    const { parameters } = operationOf(spec);
    const inPath = parameters.filter((each) => each.in === "path");
    expect(inPath.map(({ name }) => `:${name}`)).toEqual(spec.path.match(/:\w+/g) ?? []);
    expect(inPath.every(({ required }) => required)).toBe(true);
    const keys = parameters.map((each) => `${each.in} ${each.name}`);
    expect(new Set(keys).size).toBe(keys.length);
    if (spec.operationId === "listInvoices") {
      const inQuery = parameters.filter((each) => each.in === "query").map(({ name }) => name);
      expect(inQuery.sort()).toEqual([
        "createdFrom",
        "createdTo",
        "currency",
        "cursor",
        "customerId",
        "externalId",
        "limit",
        "needsReview",
        "page",
        "search",
        "status",
      ]);
    }
  });

  it("takes an Idempotency-Key exactly when it creates", () => {
    const names = operationOf(spec)
      .parameters.filter((each) => each.in === "header")
      .map(({ name }) => name);
    expect(names).toEqual(spec.isIdempotent ? ["Idempotency-Key"] : []);
  });

  it("needs a key exactly when a permission is needed, and names it", () => {
    const { security, description } = operationOf(spec);
    expect(security).toEqual(spec.permission === null ? [] : undefined);
    expect(description).toContain(spec.permission ?? "Needs no key");
  });

  it("says what it answers, with a schema for JSON", () => {
    const { responses } = operationOf(spec);
    for (const answer of spec.answers) {
      const documented = responses[answer.status];
      expect(documented?.description).toBe(answer.description);
      if (answer.schema !== undefined) {
        const schema = documented?.content?.["application/json"]?.schema;
        expect(schema?.type).toMatch(/^(object|array)$/);
      }
    }
  });

  it("says how it refuses: what all can, and each code of its own under its status", () => {
    const { responses } = operationOf(spec);
    const expected = [
      ...(spec.permission === null ? [] : Object.entries(EVERY_GUARDED)),
      ...spec.refusals.map((code) => [String(refusalStatus(code)), code] as const),
    ];
    for (const [status, code] of expected) {
      expect(responses[status]?.description.split(", ")).toContain(code);
      expect(responses[status]?.content?.["application/json"]?.schema).toEqual({ $ref: "#/components/schemas/Error" });
    }
  });

  it("stands in the reference for people, with its path, its permission and its refusals", () => {
    const from = page.indexOf(`<section id="${spec.operationId}">`);
    const section = page.slice(from, page.indexOf("</section>", from));
    expect(from).toBeGreaterThan(0);
    expect(section).toContain(`<span class="method">${spec.method}</span>${spec.path}`);
    expect(section).toContain(spec.permission ?? "Needs no key");
    for (const code of spec.refusals) expect(section).toContain(`href="#${code}"`);
  });
});

describe("the document of a new invoice", () => {
  it("has the fields, limits and defaults of Interface 2.2, and refuses others", () => {
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

  it("promises every field of the answer, with money as text", () => {
    const create = document.paths["/api/v1/merchants/merchant/{merchantId}/invoices"]?.post;
    const schema = create?.responses["201"]?.content?.["application/json"]?.schema;
    const fields =
      "id merchantId customerId productId name description redirectUrl rawAmount endAmount currency status expiresAt createdAt updatedAt customer product payments invoiceTimeline";
    expect(schema?.required).toEqual(expect.arrayContaining(fields.split(" ")));
    expect(schema?.properties?.rawAmount).toMatchObject({ type: "string" });
  });
});

describe("the reference for people", () => {
  it("is one page of ours that lists every code a caller can meet", async () => {
    const answer = await send("/docs");
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expect(Object.keys(SAMPLES).filter((code) => !page.includes(`<tr id="${code}">`))).toEqual([]);
  });

  it("leads nowhere that is not there", () => {
    const anchors = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !anchors.has(id))).toEqual([]);
  });
});
