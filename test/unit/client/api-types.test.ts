import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type ApiDocument, clientTypes } from "../../../scripts/client-types.ts";

describe("client/api-types.ts", () => {
  it("is what the contracts of the API say", () => {
    const { stderr, status } = spawnSync(process.execPath, ["scripts/generate-client.ts", "--check"], {
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });
});

const AT = "/api/v1/merchants/merchant/{merchantId}/things/{thingId}";
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** One operation and the schemas that it speaks of. */
function documentOf(schemas: ApiDocument["components"]["schemas"], more: object = {}): ApiDocument {
  const operation = {
    operationId: "getThing",
    summary: "Read a thing",
    description: "Needs the permission thing:view, of a key or of a member in a session.",
    parameters: ["merchantId", "thingId"].map((name) => ({ name, in: "path", schema: { type: "string" } })),
    responses: { 200: { content: { "application/json": { schema: ref("Thing") } } }, 404: {} },
    ...more,
  };
  return { paths: { [AT]: { get: operation } }, components: { schemas } };
}

type Schema = ApiDocument["components"]["schemas"][string];
const thing = (schema: Schema, required: readonly string[] = ["a"]) => ({
  Thing: { type: "object", properties: { a: schema }, required },
});
const textOf = (document: ApiDocument, names: readonly string[] = ["getThing"]) =>
  clientTypes(document, new Set(names));

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
    [{ type: "object", additionalProperties: { type: "boolean" } }, "a: Record<string, boolean>;"],
    [{ type: "object" }, "a: Record<string, unknown>;"],
    [{}, "a: unknown;"],
    [ref("Other"), "a: Other;"],
    [{ type: "string", description: "Why */ not." }, "/** Why *\\/ not. */\na: string;"],
    [{ type: "integer", default: 1 }, "/** Default 1. */\na: number;"],
  ])("%j", (schema, expected) => {
    const Other = { type: "object", properties: {} };
    expect(textOf(documentOf({ ...thing(schema), Other }))).toContain(`export interface Thing {\n${expected}\n}`);
  });

  it("says what may be absent; in a request, that it may be undefined", () => {
    const at = { type: "string", format: "date-time" };
    const body = { type: "object", properties: { a: { type: "array", items: { type: "string" } }, at } };
    const requestBody = { content: { "application/json": { schema: body } } };
    const text = textOf(documentOf(thing({ type: "string" }, []), { requestBody }));
    expect(text).toContain("export interface Thing {\na?: string;\n}");
    expect(text).toContain(
      "export interface GetThingBody {\na?: readonly string[] | undefined;\nat?: string | Date | undefined;\n}",
    );
  });

  it("gives a name to an enum of several places, and to a long one", () => {
    const kind = { enum: ["A", "B", "C"] };
    const long = { enum: [..."ABCDEFGHI"] };
    const properties = { kind, thingLong: long, other: { type: "array", items: kind } };
    const text = textOf(documentOf({ Thing: { type: "object", properties, required: Object.keys(properties) } }));
    expect(text).toContain('export type ThingKind = "A" | "B" | "C";');
    expect(text).toContain("kind: ThingKind;\nthingLong: ThingLong;\nother: ThingKind[];");
  });

  it("names the enum of a list by one of its items", () => {
    const names = { type: "array", items: { enum: [..."ABCDEFGHI"] } };
    expect(textOf(documentOf(thing(names)))).toContain("a: ThingAName[];");
  });

  it("leaves events to the type that tells them apart", () => {
    const text = textOf(documentOf({ ...thing(ref("Event")), Event: { type: "object", properties: {} } }));
    expect(text).toContain('import type { WebhookEvent } from "./events.ts";');
    expect(text).toContain("a: WebhookEvent;");
    expect(text).not.toContain("interface Event");
  });

  it("extends a schema whose members it has, all the same, and more", () => {
    const properties = { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } };
    const required = Object.keys(properties);
    const Base = { type: "object", properties, required };
    const Thing = { ...Base, properties: { ...properties, base: ref("Base") } };
    expect(textOf(documentOf({ Base, Thing }))).toContain("export interface Thing extends Base {\nbase?: Base;\n}");
    expect(textOf(documentOf({ Base, Thing: { ...Thing, required: ["a", "b"] } }))).toContain(
      "export interface Thing {",
    );
  });
});

describe("the parameters of a query", () => {
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "string", enum: ["true", "false"] }, "boolean"],
    [{ type: "string", pattern: "^([1-9]\\d?|100)$" }, "number"],
    [{ type: "string", format: "date-time" }, "string | Date"],
  ])("are what their text says: %j", (schema, expected) => {
    const parameters = [{ name: "q", in: "query", schema }];
    const text = textOf(documentOf(thing({}), { parameters }));
    expect(text).toContain(`export interface GetThingQuery {\nq?: ${expected} | undefined;\n}`);
  });
});

describe("an operation", () => {
  const answers = (...schemas: readonly object[]) => ({
    responses: { 200: { content: { "application/json": { schema: { anyOf: schemas } } } }, 204: {} },
  });

  it("has its parts, its route and what a key must hold", () => {
    const text = textOf(documentOf(thing({})));
    expect(text).toContain(
      "/** Read a thing. Needs THING_VIEW. */\ngetThing: {\nparams: { thingId: string };\nanswer: Thing;\n};",
    );
    expect(text).toContain('getThing: "GET /things/{thingId}",');
  });

  it("answers as a secret key is answered", () => {
    const Public = { PublicThing: { type: "object", properties: {} } };
    const document = documentOf({ ...thing({}), ...Public }, answers(ref("Thing"), ref("PublicThing")));
    expect(textOf(document)).toContain("answer: Thing;");
    expect(textOf(document)).not.toContain("PublicThing");
  });

  it("that is not asked for leaves nothing behind", () => {
    expect(textOf(documentOf(thing({})), [])).not.toMatch(/thing/i);
  });

  it("answers nothing where there is no JSON", () => {
    expect(textOf(documentOf({}, { responses: { 204: {} } }))).toContain("answer: undefined;");
  });
});
