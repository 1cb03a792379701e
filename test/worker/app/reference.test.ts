import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { beforeAll, describe, expect, it } from "vitest";
import { version } from "../../../package.json";
import { SPECS } from "../../../src/app/app.ts";
import { type InvoiceId, makeId, newUlid } from "../../../src/lib/ids.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { jsonSchema, type NamedSchemas } from "../../../src/platform/http/json-schema.ts";
import { refusalStatus, SAMPLES } from "../../../src/platform/http/refusals.ts";
import { type RouteSpec, TAGS } from "../../../src/platform/http/route.ts";
import {
  type Answer,
  type Ask,
  expectRefusal,
  type Shop,
  seedKey,
  seedShop,
  send,
  sendWith,
} from "../../support/access.ts";
import { nameOf } from "../../support/access-knock.ts";
import {
  CREATING,
  FROM_ANY_PAGE,
  KEY_OR_MEMBER,
  MEMBER_ONLY,
  OPEN,
  PAGES,
  PERSON,
} from "../../support/access-table.ts";
import { misfits, resolve, type Schema } from "../../support/json-schema.ts";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
        readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
      }
    >
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

let text: string;
let document: Document;

beforeAll(async () => {
  text = (await send("/openapi.json")).text;
  document = JSON.parse(text);
});

const withBraces = (path: string) => path.replace(/:(\w+)/g, "{$1}");

function operationOf(spec: RouteSpec): Operation {
  const operation = document.paths[withBraces(spec.path)]?.[spec.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${spec.method} ${spec.path} is not documented`);
  return operation;
}

/** What a reference names, else the schema itself. */
function followed(schema: Schema | undefined): Schema | undefined {
  return schema?.$ref === undefined ? schema : Object(resolve(document, schema.$ref));
}

/** Refusals of any route of a kind, by hand from Interface 5 and 7, decisions 1, 3, 6, 7, 8 and 9, and security.md 1. */
const ANY = ["RATE_LIMITED", "INTERNAL_ERROR"];
const GUARDED = [
  "VALIDATION_FAILED",
  "UNAUTHORIZED",
  "SECOND_FACTOR_REQUIRED",
  "IP_NOT_ALLOWED",
  "STORAGE_UNAVAILABLE",
];
const MERCHANTS = ["MERCHANT_MISMATCH", "MERCHANT_NOT_FOUND", "PERMISSION_DENIED", "SECURITY_REQUIREMENT_NOT_MET"];
const CHANGING = [
  "MALFORMED_JSON",
  "BODY_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "PRIVATE_KEY_REFUSED",
  "ORIGIN_NOT_ALLOWED",
];
const PROTECTED = ["IDEMPOTENCY_KEY_INVALID", "IDEMPOTENCY_KEY_REUSED", "OPERATION_IN_PROGRESS"];
/** What a route can refuse with, beside its own. */
function refusalsByKind(spec: RouteSpec): readonly string[] {
  const name = nameOf(spec);
  const ofKeys = KEY_OR_MEMBER[name];
  const ofMembers = MEMBER_ONLY[name];
  const demands: readonly string[] = ofKeys?.demands ?? ofMembers?.demands ?? PERSON[name] ?? [];
  if (PAGES.includes(name)) return [];
  const isGuarded = !OPEN.includes(name);
  const isChanging = spec.method !== "GET";
  return [
    ...ANY,
    ...(isGuarded ? GUARDED : []),
    ...((ofKeys ?? ofMembers) ? MERCHANTS : []),
    ...(isChanging ? CHANGING : []).filter((code) => code !== "ORIGIN_NOT_ALLOWED" || !FROM_ANY_PAGE.includes(name)),
    ...(isChanging && isGuarded ? ["CONTENTION"] : []),
    ...(ofKeys === undefined ? [] : ["PUBLIC_KEY_FORBIDDEN"]),
    ...(isGuarded && ofKeys === undefined ? ["SESSION_REQUIRED"] : []),
    ...(demands.includes("step-up") ? ["STEP_UP_REQUIRED"] : []),
    ...(demands.includes("owner") ? ["OWNER_REQUIRED"] : []),
    ...(CREATING.includes(spec.operationId) ? PROTECTED : []),
  ];
}

/** What a reader must learn of who may call it. */
function accessOf(spec: RouteSpec): string {
  const name = nameOf(spec);
  if (PAGES.includes(name)) return "Needs no key. The body is a form";
  if (OPEN.includes(name)) return "Needs no key";
  if (MEMBER_ONLY[name]?.demands.includes("owner")) return "the owner";
  return spec.permission ?? "Needs a session";
}

describe("the OpenAPI document", () => {
  it("is 3.1 and served as JSON", async () => {
    const answer = await send("/openapi.json");
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.components.securitySchemes).toMatchObject({
      apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      session: { type: "apiKey", in: "cookie", name: "__Host-session" },
    });
  });

  it("is of the version that package.json names", () => {
    expect(document.info.version).toBe(version);
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
    expect(references.filter((path) => resolve(document, path) === undefined)).toEqual([]);
    expect(text).not.toContain('"schema":{}');
  });

  it("names the objects of the interface, each with one meaning wherever it stands", () => {
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

  it("lets an error carry further facts, and no other object of ours", () => {
    const { Error: error, ...others } = document.components.schemas;
    expect(error?.additionalProperties).toEqual({});
    expect(error?.required).toEqual(["statusCode", "message", "error", "code", "requestId"]);
    // What WebAuthn defines is handed on whole.
    const open = Object.entries(others).filter(
      ([, { type, additionalProperties }]) => type === "object" && additionalProperties !== false,
    );
    expect(open.map(([name]) => name).sort()).toEqual(["PasskeyCreationOptions", "PasskeyRequestOptions"]);
  });

  it("does not bound a whole number by what JavaScript can count to", () => {
    expect(text.includes(String(Number.MAX_SAFE_INTEGER))).toBe(false);
  });

  it("has its chapters in an order for readers, each described and none empty, and lists its routes by them", () => {
    const chapters = Object.keys(TAGS);
    expect(document.tags.map(({ name }) => name)).toEqual(chapters);
    expect(document.tags.filter(({ description }) => description === "")).toEqual([]);
    const tags = Object.values(document.paths).map((routes) => Object.values(routes)[0]?.tags[0]);
    expect([...new Set(tags)]).toEqual(chapters);
  });

  it("says what each parameter of a query is for", () => {
    const parameters = SPECS.flatMap((spec) => operationOf(spec).parameters.map((each) => ({ spec, ...each })));
    const silent = parameters.filter((each) => each.in === "query" && followed(each.schema)?.description === undefined);
    expect(silent.map(({ spec, name }) => `${spec.path} ${name}`)).toEqual([]);
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
      const times = parameters.filter(({ schema }) => schema.format === "date-time").map(({ name }) => name);
      expect(times.sort()).toEqual(["createdFrom", "createdTo"]);
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

  it("says who may call it, and names the permission", () => {
    const { security, description } = operationOf(spec);
    const name = nameOf(spec);
    const both = [{ apiKey: [] }, { session: [] }];
    const guarded = name in KEY_OR_MEMBER ? both : [{ session: [] }];
    expect(security).toEqual([...OPEN, ...PAGES].includes(name) ? [] : guarded);
    expect(description).toContain(accessOf(spec));
  });

  it("says what it answers, with a schema for JSON", () => {
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

  it("says how it refuses: what all of its kind can, and each code of its own, under its status", () => {
    const { responses } = operationOf(spec);
    const codes = [...refusalsByKind(spec), ...(spec.isPage ? [] : spec.refusals)];
    for (const code of codes) {
      const answer = responses[refusalStatus(code as keyof typeof SAMPLES)];
      expect(answer?.description.split(", ")).toContain(code);
      expect(answer?.content?.["application/json"]?.schema).toEqual({ $ref: "#/components/schemas/Error" });
    }
    const own = new Set<string>(codes);
    const documented = Object.entries(responses).flatMap(([status, { description }]) =>
      spec.answers.some((each) => String(each.status) === status) ? [] : description.split(", "),
    );
    expect(documented.sort()).toEqual([...own].sort());
  });

  it("says which headers its answers carry", () => {
    const always = [
      "x-request-id",
      ...([...OPEN, ...PAGES].includes(nameOf(spec)) ? [] : ["RateLimit", "RateLimit-Policy"]),
    ];
    for (const [status, { headers }] of Object.entries(operationOf(spec).responses)) {
      const isAnswer = spec.answers.some((each) => String(each.status) === status);
      const more = [
        ...(isAnswer && spec.isIdempotent ? ["Idempotent-Replayed"] : []),
        ...(!isAnswer && ["429", "503"].includes(status) ? ["Retry-After"] : []),
      ];
      expect(Object.keys(headers)).toEqual([...always, ...more]);
    }
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
    const [whole] = create?.responses["201"]?.content?.["application/json"]?.schema.anyOf ?? [];
    const schema = followed(whole);
    const fields =
      "id merchantId customerId productId name description redirectUrl rawAmount endAmount currency status expiresAt createdAt updatedAt customer product payments invoiceTimeline";
    expect(schema?.required).toEqual(expect.arrayContaining(fields.split(" ")));
    expect(schema?.properties?.rawAmount).toMatchObject({ type: "string" });
  });
});

describe("a live answer is as the document says:", () => {
  const TETHER = { cryptocurrency: "USDT", network: "ETH" };
  const DIRECT = { walletType: "DIRECT_WALLET", ...TETHER, address: `0x${"a1".repeat(20)}` };
  // The account key of BIP84's test vectors.
  const ZPUB = {
    ...{ walletType: "XPUB_WALLET", cryptocurrency: "BTC", network: "BTC", derivationPath: "m/84'/0'/0'" },
    xpub: "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
  };
  const ORDER = {
    ...{ name: "Order 1001", rawAmount: 49.9, customerEmail: "ada@shop.example", externalId: "1001" },
    ...{ metadata: { title: "a member by the name of a keyword" }, paymentMethods: [TETHER] },
  };
  let shop: Shop;
  let walletId: string;
  let xpubId: string;
  let invoiceId: string;

  /** Sends, and holds the answer against the document: its status, its headers, and every member of its body. */
  async function checked(operationId: string, ask: Ask & { readonly of?: string; readonly query?: string } = {}) {
    const spec = SPECS.find((each) => each.operationId === operationId);
    if (spec === undefined) throw new Error(`there is no ${operationId}`);
    const path = spec.path.replace(":merchantId", shop.merchantId).replace(/:(walletId|invoiceId)/, ask.of ?? "");
    const answer = await send(`${path}${ask.query ?? ""}`, { method: spec.method, key: shop.secretKey, ...ask });
    expectDocumented(spec, answer);
    return answer;
  }

  function expectDocumented(spec: RouteSpec, answer: Answer): void {
    const documented = operationOf(spec).responses[answer.status];
    expect(documented, `${spec.operationId} answered ${answer.status}: ${answer.text}`).toBeDefined();
    const schema = documented?.content?.["application/json"]?.schema ?? {};
    expect(misfits(document, schema, JSON.parse(answer.text))).toEqual([]);
    for (const [name, { $ref }] of Object.entries(documented?.headers ?? {})) {
      const header: { readonly required?: boolean; readonly schema: Schema } = Object(resolve(document, $ref));
      const sent = answer.headers.get(name);
      if (header.required === true) expect(sent, name).not.toBeNull();
      if (sent === null) continue;
      expect(misfits(document, header.schema, header.schema.type === "integer" ? Number(sent) : sent)).toEqual([]);
    }
    const ours = [...answer.headers.keys()].filter((name) => /^(ratelimit|retry-after|idempotent-)/.test(name));
    const names = Object.keys(documented?.headers ?? {}).map((name) => name.toLowerCase());
    expect(ours.filter((name) => !names.includes(name))).toEqual([]);
    if (answer.status >= 400 && spec.permission !== null)
      expect(documented?.description.split(", ")).toContain(answer.json?.code);
  }

  beforeAll(async () => {
    shop = await seedShop();
    const made = async (operationId: string, body: object) => {
      const answer = await checked(operationId, { body });
      expect(answer.status, answer.text).toBe(201);
      return String(answer.json?.id);
    };
    walletId = await made("registerWallet", DIRECT);
    xpubId = await made("registerWallet", ZPUB);
    invoiceId = await made("createInvoice", ORDER);
    await drizzle(env.DB)
      .insert(payments)
      .values({
        ...{
          id: makeId("pay", newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(16)))),
          merchantId: shop.merchantId,
          invoiceId: invoiceId as InvoiceId,
          ...TETHER,
        },
        ...{
          txHash: "ab".repeat(32),
          outputIndex: "0",
          toAddress: DIRECT.address,
          amountUnits: 1n,
          status: "DETECTED",
        },
        ...{ confirmations: 0, requiredConfirmations: 1, isLate: false },
        ...{ receivedAtMs: 1_000, createdAtMs: 1_000, updatedAtMs: 1_000 },
      });
  });

  it("wallets", async () => {
    expect((await checked("getWallet", { of: walletId })).status).toBe(200);
    expect(JSON.parse((await checked("listWallets")).text)).toHaveLength(2);
    expect((await checked("previewAddresses", { of: xpubId })).json?.data).toHaveLength(20);
    await checked("createInvoice", {
      body: { name: "a", rawAmount: 1, paymentMethods: [{ cryptocurrency: "BTC", network: "BTC" }] },
    });
    expect((await checked("exportRecovery", { of: xpubId })).json?.addresses).toHaveLength(1);
    expect((await checked("updateWallet", { of: walletId, body: { isEnabled: true } })).status).toBe(200);
  });

  it("an invoice, by each kind of key, with money and a customer", async () => {
    const whole = await checked("getInvoice", { of: invoiceId });
    expect(whole.json).toMatchObject({ payments: [{}], paymentMethods: [{}], customer: {}, metadata: {} });
    const shown = await checked("getInvoice", { of: invoiceId, key: shop.publicKey });
    expect(shown.json).toMatchObject({ payments: [{}], paymentMethods: [{}], customer: null, metadata: null });
    // Each fits its own schema alone, so that neither is documented by the other.
    const named = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    expect(misfits(document, named("Invoice"), shown.json)).not.toEqual([]);
    expect(misfits(document, named("PublicInvoice"), whole.json)).not.toEqual([]);
    const body = { name: "From a browser", rawAmount: 1 };
    expect((await checked("createInvoice", { key: shop.publicKey, body })).status).toBe(201);
    expect((await checked("listInvoices")).json?.pagination).toBeDefined();
    expect((await checked("listInvoices", { query: "?limit=1" })).json?.pagination).toBeUndefined();
    expect((await checked("listPaymentMethods", { of: invoiceId })).json?.data).toHaveLength(2);
    expect((await checked("listInvoicePayments", { of: invoiceId })).json?.data).toHaveLength(1);
    expect((await checked("updateInvoice", { of: invoiceId, body: { name: "Order" } })).status).toBe(200);
  });

  it("a creation, its replay and the picks of a method", async () => {
    const headers = { "idempotency-key": "one" };
    const body = { name: "Order 1002", rawAmount: 10 };
    const first = await checked("createInvoice", { body, headers });
    const again = await checked("createInvoice", { body, headers });
    expect([first, again].map((each) => each.headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect((await checked("createInvoice", { body: { ...body, rawAmount: 11 }, headers })).json?.code).toBe(
      "IDEMPOTENCY_KEY_REUSED",
    );
    const of = String(first.json?.id);
    expect((await checked("activatePaymentMethod", { of, body: TETHER })).status).toBe(201);
    expect((await checked("activatePaymentMethod", { of, body: TETHER })).status).toBe(200);
    expect((await checked("cancelInvoice", { of })).json?.status).toBe("CANCELLED");
  });

  it("refusals with facts of their own", async () => {
    const exists = await checked("registerWallet", { body: DIRECT });
    expect(expectRefusal(exists, 409, "WALLET_EXISTS")).toMatchObject({ walletId });
    const twice = await checked("createInvoice", { body: ORDER });
    expect(expectRefusal(twice, 409, "EXTERNAL_ID_EXISTS")).toMatchObject({ invoiceId });
    const key = await seedKey(shop.merchantId, { permissions: [] });
    expectRefusal(await checked("listInvoices", { key }), 403, "PERMISSION_DENIED");
    expectRefusal(await checked("deleteWallet", { of: walletId }), 409, "WALLET_HAS_ACTIVE_PAYMENTS");
  });

  it.each([
    ["createInvoice", { body: "{" }, "MALFORMED_JSON"],
    ["createInvoice", { body: `"${"a".repeat(65_536)}"` }, "BODY_TOO_LARGE"],
    ["createInvoice", { body: "{}", headers: { "content-type": "text/plain" } }, "UNSUPPORTED_MEDIA_TYPE"],
    ["createInvoice", { body: {} }, "VALIDATION_FAILED"],
    [
      "createInvoice",
      { body: { name: "a", rawAmount: 1 }, headers: { "idempotency-key": "k".repeat(256) } },
      "IDEMPOTENCY_KEY_INVALID",
    ],
    ["cancelInvoice", { of: "none", body: "{" }, "MALFORMED_JSON"],
    ["deleteWallet", { of: "none", body: "{}", headers: { "content-type": "text/plain" } }, "UNSUPPORTED_MEDIA_TYPE"],
    ["getInvoice", { of: "none" }, "INVOICE_NOT_FOUND"],
    ["getWallet", { of: "none" }, "WALLET_NOT_FOUND"],
    ["listWallets", { key: undefined }, "UNAUTHORIZED"],
  ] as const)("%s refused: %#", async (operationId, ask, code) => {
    expect((await checked(operationId, ask)).json?.code).toBe(code);
  });

  it("too many requests, and when to come again", async () => {
    const spec = SPECS.find((each) => each.operationId === "listWallets");
    if (spec === undefined) throw new Error("there is no listWallets");
    const busy = await seedShop();
    const ask = () =>
      sendWith({ RATE_LIMIT_PER_MINUTE: "1" } as Partial<Env>, spec.path.replace(":merchantId", busy.merchantId), {
        key: busy.secretKey,
      });
    const [first, second] = [await ask(), await ask()];
    for (const answer of [first, second]) expectDocumented(spec, answer);
    expect([first?.status, second?.status]).toEqual([200, 429]);
    expect(second?.headers.get("ratelimit")).toMatch(/^"default";r=0/);
  });

  it("the service's own, in health and without storage", async () => {
    await checked("health");
    await checked("openapi");
    const health = SPECS.find((each) => each.operationId === "health");
    const DB = { prepare: () => ({ first: () => Promise.reject(new Error("D1_ERROR: storage is away")) }) };
    const sick = await sendWith({ DB: DB as unknown as D1Database }, "/healthz");
    expect(sick.status).toBe(503);
    if (health !== undefined) expectDocumented(health, sick);
  });
});

describe("the reference for people", () => {
  it("is one page of ours, and what it is drawn from begins with every code a caller can meet, under its status", async () => {
    const answer = await send("/docs");
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    const listed = [...document.info.description.matchAll(/^- (\d+): (.*)$/gm)].flatMap(([, status, names = ""]) =>
      names.split(", ").map((name) => `${name} ${status}`),
    );
    const codes = Object.values(SAMPLES).map(({ code }) => `\`${code}\` ${refusalStatus(code)}`);
    expect(listed.sort()).toEqual([...new Set(codes)].sort());
  });

  it("leads nowhere that is not there", async () => {
    const links = [...document.info.description.matchAll(/\]\(([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(links.length).toBeGreaterThan(0);
    for (const path of links) expect((await send(path)).status, path).toBe(200);
  });
});
