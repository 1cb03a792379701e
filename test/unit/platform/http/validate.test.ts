import fc from "fast-check";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { readBody, readForm } from "../../../../src/platform/http/body.ts";
import type { AppContext, AppEnv } from "../../../../src/platform/http/context.ts";
import { validate, validateBody, validateQuery } from "../../../../src/platform/http/validate.ts";
import { RUNS } from "../../../support/property-runs.ts";

const schema = z.strictObject({
  name: z.string().min(2),
  amount: z.number().optional(),
  customer: z.strictObject({ email: z.email() }).optional(),
});

describe("the problem reported for a request", () => {
  const cases: readonly [string, unknown, readonly (readonly [string, string])[]][] = [
    ["no body", undefined, [["", "a JSON body is required"]]],
    ["a missing field", {}, [["name", "is required"]]],
    ["a missing field of a nested object", { name: "ab", customer: {} }, [["customer.email", "is required"]]],
    ["an unknown field", { name: "ab", nmae: "x" }, [["nmae", "unknown field"]]],
    [
      "an unknown field of a nested object",
      { name: "ab", customer: { email: "a@b.cd", age: 1 } },
      [["customer.age", "unknown field"]],
    ],
  ];
  it.each(cases)("names fields and parts of the JSON body: %s", (_, value, problems) => {
    const details = problems.map(([path, message]) => ({ path, message }));
    expect(validate(schema, value)).toEqual({ ok: false, error: { code: "VALIDATION_FAILED", details } });
  });

  it.each([
    ["a list", [], ""],
    ["null", null, ""],
    ["a number instead of a string", { name: 5 }, "name"],
  ])("does not say that a field is required if the value has the wrong type: %s", (_, value, path) => {
    const refused = validate(schema, value);
    expect(refused).toMatchObject({ error: { details: [{ path }] } });
    expect(JSON.stringify(refused)).not.toContain("required");
  });
});

describe("null", () => {
  const nested = z.strictObject({
    name: z.string(),
    note: z.string().nullable().optional(),
    count: z.int().default(3),
    tags: z.array(z.string()).optional(),
    labels: z.custom<object>((value) => typeof value === "object" && value !== null && !("a" in value)).optional(),
    inner: z.strictObject({ size: z.int().optional(), unit: z.string() }).optional(),
  });
  const own = { name: "ab" };

  it.each([
    [
      { ...own, tags: null, labels: null, inner: null, count: null },
      { ...own, count: 3 },
    ],
    [
      { ...own, inner: { unit: "cm", size: null } },
      { ...own, count: 3, inner: { unit: "cm" } },
    ],
    [
      { ...own, note: null },
      { ...own, note: null, count: 3 },
    ],
    [
      { ...own, note: null, tags: null },
      { ...own, note: null, count: 3 },
    ],
  ])("counts as an absent field if the field is optional and not nullable: %j", (value, wanted) => {
    const before = structuredClone(value);
    expect(validate(nested, value)).toEqual({ ok: true, value: wanted });
    expect(value).toEqual(before);
  });

  it.each([
    [{ name: null }, ["name"]],
    [{ ...own, tags: [null] }, ["tags.0"]],
    [{ ...own, nmae: null }, ["nmae"]],
    [{ ...own, labels: { a: null } }, ["labels"]],
    [{ ...own, inner: { unit: null, size: null } }, ["inner.unit"]],
    [{ ...own, tags: null, count: "3" }, ["count"]],
    [null, [""]],
  ])("is refused in any other place: %j", (value, paths) => {
    const refused = validate(nested, value);
    expect(refused.ok ? [] : Object(refused.error).details.map(({ path }: { path: string }) => path)).toEqual(paths);
  });
});

/** The result of `answer` for a request that passed through a real router. */
async function asked<T>(request: Request, answer: (c: AppContext) => Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const app = new Hono<AppEnv>().all("*", async (c) => {
    await answer(c).then(resolve, reject);
    return c.body(null);
  });
  await app.fetch(request);
  return promise;
}

const AT = "http://localhost/";
const anything = z.looseObject({}).or(z.array(z.unknown())).or(z.null()).or(z.string()).or(z.number()).or(z.boolean());

function askedJson(body: BodyInit, schema: z.ZodType) {
  return asked(
    new Request(AT, { method: "POST", body, headers: { "content-type": "application/json" } }),
    async (c) => {
      const read = await readBody(c.req.raw);
      if (!read.ok || read.value.text === undefined) return read;
      return {
        given: validate(schema, read.value.json),
        said: await validateBody(c, "json", schema, read.value.text),
      };
    },
  );
}

function askedForm(body: string, schema: z.ZodType) {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return asked(new Request(AT, { method: "POST", body, headers }), async (c) => {
    const read = await readForm(c.req.raw);
    if (!read.ok || read.value.text === undefined) return read;
    return { given: read.value.json, said: await validateBody(c, "form", schema, read.value.text) };
  });
}

const texts = z.record(z.string(), z.string());
const names = fc.oneof(fc.string(), fc.constantFrom("a", "a[]", "__proto__", "constructor", "\ufeff", "é"));
const pairs = fc.array(fc.tuple(names, fc.string({ unit: "grapheme" })), { minLength: 1 });

describe("the validator receives the parsed input", () => {
  it("from any JSON", async () => {
    const written = fc.json().map((text) => new TextEncoder().encode(text));
    await fc.assert(
      fc.asyncProperty(written, fc.boolean(), async (text, hasMark) => {
        const body = Uint8Array.from([...(hasMark ? [0xef, 0xbb, 0xbf] : []), ...text]);
        const answer = await askedJson(body, anything);
        if ("given" in answer) expect(answer.said).toEqual(answer.given);
        else expect(answer).toMatchObject({ ok: false, error: { code: "VALIDATION_FAILED" } });
      }),
      { numRuns: RUNS },
    );
  });

  it("from JSON that the schema refuses, and reports the same problems", async () => {
    for (const text of [
      "{}",
      "[]",
      "null",
      `{"name":5}`,
      `{"name":"ab","customer":{"age":1}}`,
      `{"__proto__":{"name":"ab"}}`,
    ]) {
      const answer = await askedJson(text, schema);
      if (!("given" in answer)) throw new Error(`${text} was not read`);
      expect(answer.said).toEqual(answer.given);
      expect(answer.said.ok).toBe(false);
    }
  });

  it("from a form, with the last value of each name", async () => {
    await fc.assert(
      fc.asyncProperty(pairs, async (form) => {
        const answer = await askedForm(new URLSearchParams(form).toString(), texts);
        if ("given" in answer) expect(answer.said).toEqual(validate(texts, answer.given));
        else expect(answer).toMatchObject({ ok: false, error: { code: "VALIDATION_FAILED" } });
      }),
      { numRuns: RUNS },
    );
  });

  it("from a query, with the first value of each name", async () => {
    await fc.assert(
      fc.asyncProperty(pairs, async (query) => {
        const [said, first] = await asked(new Request(`${AT}?${new URLSearchParams(query)}`), async (c) => {
          return [await validateQuery(c, texts), validate(texts, c.req.query())];
        });
        expect(said).toEqual(first);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a schema that throws", () => {
  it("makes the validation reject", async () => {
    const broken = z.strictObject({}).refine(() => {
      throw new Error("a bug");
    });
    await expect(asked(new Request(AT), (c) => validateQuery(c, broken))).rejects.toThrow("a bug");
  });
});
