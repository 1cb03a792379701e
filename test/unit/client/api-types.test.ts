import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type ApiDocument, clientTypes, type Schema } from "../../../client/scripts/client-types.ts";

describe("client/api-types.ts", () => {
  it("is generated from the contracts of the API", () => {
    const { stderr, status } = spawnSync(process.execPath, ["scripts/generate-client.ts", "--check"], {
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });
});

const AT = "/api/v1/merchants/merchant/{merchantId}/things/{thingId}";
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** One operation and the schemas it refers to. */
function documentOf(schemas: ApiDocument["components"]["schemas"], more: object = {}): ApiDocument {
  const operation = {
    operationId: "getThing",
    summary: "Read a thing",
    description: "Needs the permission thing:view, held by an API key or by a signed-in member.",
    parameters: ["merchantId", "thingId"].map((name) => ({ name, in: "path", schema: { type: "string" } })),
    responses: { 200: { content: { "application/json": { schema: ref("Thing") } } }, 404: {} },
    ...more,
  };
  return { paths: { [AT]: { get: operation } }, components: { schemas } };
}

const thing = (schema: Schema, required: readonly string[] = ["a"]) => ({
  Thing: { type: "object", properties: { a: schema }, required },
});
/** The generated text without indentation. */
async function textOf(
  document: ApiDocument,
  names: readonly string[] = ["getThing"],
  publicNames: readonly string[] = [],
): Promise<string> {
  const ids = { operationIds: new Set(names), publicIds: new Set(publicNames) };
  return (await clientTypes(document, { ...ids, events: "./events.ts" })).replace(/^ +/gm, "");
}

/** The text without the comments that the generator writes for formats and enums. */
const withoutNotes = (text: string) =>
  text.replace(/^\/\*\* (Format: [\w-]+|@enum \{\w+\}|@constant) \*\/\n|^\/\*\*\n\* (Format|@enum).*\n\*\/\n/gm, "");

describe("a schema as TypeScript", () => {
  it.each([
    [{ type: "string" }, "a: string;"],
    [{ type: "string", format: "date-time" }, "a: string;"],
    [{ type: "integer" }, "a: number;"],
    [{ type: ["string", "null"] }, "a: string | null;"],
    [{ anyOf: [{ type: "number" }, { type: "null" }] }, "a: number | null;"],
    [{ const: "x" }, 'a: "x";'],
    [{ enum: ["x", "y"] }, 'a: "x" | "y";'],
    [{ type: "array", items: { type: "string" } }, "a: string[];"],
    [{ type: "array", items: { type: ["string", "null"] } }, "a: (string | null)[];"],
    [{ type: "object", additionalProperties: { type: "boolean" } }, "a: {\n[key: string]: boolean;\n};"],
    [{ type: "object" }, "a: Record<string, unknown>;"],
    [{}, "a: unknown;"],
    [ref("Other"), 'a: components["schemas"]["Other"];'],
    [{ type: "string", description: "Why */ not." }, "/** @description Why *\\/ not. */\na: string;"],
    [{ type: "integer", default: 1 }, "/** @default 1 */\na: number;"],
  ])("has the expected type: %j", async (schema, expected) => {
    const Other = { type: "object", properties: {} };
    expect(withoutNotes(await textOf(documentOf({ ...thing(schema), Other })))).toContain(`Thing: {\n${expected}\n};`);
  });

  it("marks optional members, and in a request allows undefined for them", async () => {
    const at = { type: "string", format: "date-time" };
    const body = { type: "object", properties: { a: { type: "array", items: { type: "string" } }, at } };
    const requestBody = { content: { "application/json": { schema: body } } };
    const text = withoutNotes(await textOf(documentOf(thing({ type: "string" }, []), { requestBody })));
    expect(text).toContain("Thing: {\na?: string;\n};");
    expect(text).toContain(
      "GetThingBody: {\na?: readonly string[] | undefined;\nat?: (string | Date) | undefined;\n};",
    );
  });

  it("is exported under its own name", async () => {
    expect(await textOf(documentOf(thing({})))).toContain("export type Thing = components['schemas']['Thing'];");
  });

  it("uses the discriminated union of events for an event", async () => {
    const text = await textOf(documentOf({ ...thing(ref("Event")), Event: { type: "object", properties: {} } }));
    expect(text).toContain('import type * as events from "./events.ts";');
    expect(text).toContain('a: components["schemas"]["WebhookEvent"];');
    expect(text).toContain("WebhookEvent: events.WebhookEvent;");
  });
});

describe("a file generated in addition to another one", () => {
  const { paths, components } = documentOf({
    ...thing(ref("Shared")),
    Shared: { type: "object", properties: {} },
    Own: { type: "object", properties: { b: ref("Shared") } },
  });
  const list = {
    ...documentOf({}, { operationId: "listOwn" }).paths[AT]?.get,
    responses: { 200: { content: { "application/json": { schema: ref("Own") } } } },
  };
  const document: ApiDocument = JSON.parse(JSON.stringify({ paths: { ...paths, "/own": { get: list } }, components }));
  const text = async () => {
    const theirs = { operationIds: new Set(["getThing"]), events: "./events.ts" };
    const beside = { file: "./theirs.ts", wanted: theirs };
    const ids = { operationIds: new Set(["getThing", "listOwn"]) };
    return (await clientTypes(document, { ...ids, events: "./events.ts", beside })).replace(/^ +/gm, "");
  };

  it("has only what the other file lacks, and imports the rest from that file", async () => {
    expect(await text()).toContain("Own: {\nb?: shared.Shared;\n};");
    expect(await text()).not.toMatch(/\b(Shared|Thing): /);
    expect(await text()).not.toMatch(/export type (Shared|Thing) /);
    expect(await text()).toContain('import type * as shared from "./theirs.ts";');
    expect(await text()).toContain('export type * from "./theirs.ts";');
  });

  it("has the operations and the routes of both files", async () => {
    expect(await text()).toContain("export type Operations = shared.Operations & OtherOperations;");
    expect((await text()).match(/^getThing: .*/gm)).toEqual(['getThing: "GET /things/{thingId}",']);
    expect((await text()).match(/^listOwn: .*/gm)).toEqual(["listOwn: {", 'listOwn: "GET /own",']);
  });
});

describe("query parameters", () => {
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "string", pattern: "^\\d{6}$" }, "string"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "integer", minimum: 1, maximum: 100 }, "number"],
    [{ type: "string", format: "date-time" }, "(string | Date)"],
    [{ type: "string", format: "date", pattern: "^\\d{4}-\\d\\d-\\d\\d$" }, "string"],
  ])("have the type that the document states: %j", async (schema, expected) => {
    const parameters = [{ name: "q", in: "query", schema }];
    const text = withoutNotes(await textOf(documentOf(thing({}), { parameters })));
    expect(text).toContain(`GetThingQuery: {\nq?: ${expected} | undefined;\n};`);
  });
});

it("a required query parameter is required in the generated type", async () => {
  const parameters = [{ name: "q", in: "query", required: true, schema: { type: "string" } }];
  const text = withoutNotes(await textOf(documentOf(thing({}), { parameters })));
  expect(text).toContain("GetThingQuery: {\nq: string;\n};");
});

describe("an operation", () => {
  const answers = (...schemas: readonly object[]) => ({
    responses: { 200: { content: { "application/json": { schema: { anyOf: schemas } } } }, 204: {} },
  });

  it("has its parameters, its response, its route and its permission", async () => {
    const text = await textOf(documentOf(thing({})));
    expect(text).toContain(
      '/** @description Read a thing. Needs THING_VIEW. */\ngetThing: {\nparams: {\nthingId: string;\n};\nanswer: components["schemas"]["Thing"];\n};',
    );
    expect(text).toContain('getThing: "GET /things/{thingId}",');
  });

  it("has the response that a secret key receives", async () => {
    const Public = { PublicThing: { type: "object", properties: {} } };
    const text = await textOf(documentOf({ ...thing({}), ...Public }, answers(ref("Thing"), ref("PublicThing"))));
    expect(text).toContain('answer: components["schemas"]["Thing"];');
    expect(text).not.toContain("PublicThing");
  });

  it("that is open to public keys has their response in a separate table", async () => {
    const Public = { PublicThing: { type: "object", properties: {} } };
    const document = documentOf({ ...thing({}), ...Public }, answers(ref("Thing"), ref("PublicThing")));
    const [secret = "", open = ""] = (await textOf(document, ["getThing"], ["getThing"])).split("PublicOperations: {");
    expect(secret.slice(secret.indexOf("Operations: {"))).toContain('answer: components["schemas"]["Thing"];');
    expect(open).toContain('answer: components["schemas"]["PublicThing"];');
  });

  it("that gives every key the same response has that response in both tables", async () => {
    const text = await textOf(documentOf(thing({})), ["getThing"], ["getThing"]);
    expect(text.match(/answer: components\["schemas"\]\["Thing"\];/g)).toHaveLength(2);
  });

  it("that was not requested is absent from the output", async () => {
    expect(await textOf(documentOf(thing({})), [])).not.toMatch(/thing/i);
  });

  it("without a JSON response returns undefined", async () => {
    expect(await textOf(documentOf({}, { responses: { 204: {} } }))).toContain("answer: undefined;");
  });
});
