// Interface 9 and decisions 1: the version is in the path, and the OpenAPI document describes it completely.
import { describe, expect, test } from "vitest";
import { call, service, shop } from "./client.ts";

/** Every route of this part of the interface, with the names in braces left out. */
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  "/wallets": ["get", "post"],
  "/wallets/{}": ["get", "patch", "delete"],
  "/wallets/{}/addresses": ["get"],
  "/wallets/{}/recovery": ["get"],
  "/invoices": ["get", "post"],
  "/invoices/{}": ["get", "patch"],
  "/invoices/{}/cancel": ["post"],
  "/invoices/{}/payment-methods": ["get", "post"],
  "/invoices/{}/payments": ["get"],
};

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
  readonly security?: readonly unknown[];
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly security?: readonly unknown[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

async function operations(): Promise<{
  document: Document;
  byRoute: Map<string, Readonly<Record<string, Operation>>>;
}> {
  const answer = await call<Document>("/openapi.json");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toMatch(/^application\/(openapi\+)?json/);
  const byRoute = new Map(
    Object.entries(answer.body.paths).map(([path, item]) => [path.replace(/\{[^}]*\}/g, "{}"), item] as const),
  );
  return { document: answer.body, byRoute };
}

describe("the version", () => {
  test("is in the path: /api/v1 answers and no other version does", async () => {
    expect((await shop.get("/wallets")).status).toBe(200);
    for (const prefix of ["/api/v2", "/api/v0", "/v1", "/api"]) {
      const path = `${prefix}/merchants/merchant/${service.merchantId}/wallets`;
      expect((await call(path, { key: service.secretKey })).status).toBe(404);
    }
  });
});

describe("the OpenAPI document", () => {
  test("has version 3.1 and names the service", async () => {
    const { document } = await operations();
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.stringMatching(/\S/), version: expect.stringMatching(/\S/) });
  });

  test.each(Object.entries(ROUTES))("describes the route %s with the methods %j", async (route, methods) => {
    const { document, byRoute } = await operations();
    const item = byRoute.get(`/api/v1/merchants/merchant/{}${route}`) ?? {};
    expect(Object.keys(item)).toEqual(expect.arrayContaining([...methods]));
    for (const method of methods) {
      const operation = item[method];
      const statuses = Object.keys(operation?.responses ?? {});
      expect(statuses.some((status) => status.startsWith("2"))).toBe(true);
      expect(operation?.security ?? document.security ?? []).not.toEqual([]);
    }
  });

  test("has the schema of a new invoice with the bounds that are enforced", async () => {
    const { document, byRoute } = await operations();
    const body = byRoute.get("/api/v1/merchants/merchant/{}/invoices")?.post?.requestBody;
    let schema = body?.content["application/json"]?.schema as Record<string, unknown>;
    const reference = schema?.$ref;
    if (typeof reference === "string") {
      schema = reference
        .slice(2)
        .split("/")
        .reduce((at, name) => at[name] as Record<string, unknown>, document as unknown as Record<string, unknown>);
    }
    expect(schema).toMatchObject({
      type: "object",
      additionalProperties: false,
      properties: {
        name: { type: "string" },
        rawAmount: { type: "number", minimum: 0, maximum: 1_000_000 },
        currency: {},
        customerEmail: {},
        expiresInSeconds: { minimum: 60, maximum: 2_592_000 },
        paymentMethods: { type: "array" },
      },
    });
    expect([...(schema.required as string[])].sort()).toEqual(["name", "rawAmount"]);
  });

  test("documents the Idempotency-Key header for creating an invoice", async () => {
    const { document, byRoute } = await operations();
    expect(document.paths).toBeDefined();
    const post = byRoute.get("/api/v1/merchants/merchant/{}/invoices")?.post;
    expect(JSON.stringify(post).toLowerCase()).toContain("idempotency-key");
  });
});

describe("the pages outside the API", () => {
  // What the page shows in a browser is tested in test/browser/reference.test.ts.
  test("/docs loads nothing from other origins and links to the document for readers without scripts", async () => {
    const answer = await call("/docs");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expect(answer.text).toContain('<a href="/openapi.json">');
    expect(answer.text).not.toMatch(/<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["'](?:https?:)?\/\//i);
  });

  test("/healthz is 200 without a key while the database answers", async () => {
    const answer = await call<Record<string, unknown>>("/healthz");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(Object.keys(answer.body).length).toBeGreaterThan(0);
  });
});
