// Serializers write null for members without a value (decisions 1 "What a request may hold"). On every route, null for an optional member must count
// as absent, except where the schema gives null a meaning.
import { describe, expect, test } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { validate } from "../../../src/platform/http/validate.ts";
import { resolve, type Schema } from "../../support/json-schema.ts";
import { document, operationOf, useDocument } from "./reference-harness.ts";

useDocument();

/** Members for which null has a meaning, according to their schemas. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  authorizeApplication: ["redirect"],
  createApiKey: ["expiresAt", "allowedIps"],
  createProduct: ["description", "image"],
  createWebhook: ["description"],
  updateApiKey: ["allowedIps"],
  updateCustomer: ["email", "name", "address", "phoneNumber", "metadata"],
  updateInvoice: ["description", "redirectUrl"],
  updateProduct: ["description", "image"],
  updateSettings: ["quorumAboveAmount", "brand", "formerStoreId"],
  updateWebhook: ["description"],
  upsertCustomer: ["email", "name", "address", "phoneNumber", "metadata"],
};

/** The object schemas that a body may match: its own schema, or each variant of a union. */
function objectsOf(schema: Schema): readonly Schema[] {
  if (schema.$ref !== undefined) return objectsOf(Object(resolve(document, schema.$ref)));
  const options = [...(schema.anyOf ?? []), ...((schema.oneOf as readonly Schema[] | undefined) ?? [])];
  return options.length === 0 ? [schema] : options.flatMap(objectsOf);
}

function takesNull(schema: Schema): boolean {
  const type = [schema.type ?? []].flat();
  return type.includes("null") || (schema.anyOf ?? []).some(takesNull);
}

/** The members with a constant value, by which a body selects its variant. */
const chosen = ({ properties = {} }: Schema) =>
  Object.fromEntries(Object.entries(properties).flatMap(([name, of]) => ("const" in of ? [[name, of.const]] : [])));

const routes = () =>
  SPECS.flatMap((spec) => {
    const schema = operationOf(spec).requestBody?.content["application/json"]?.schema;
    return schema === undefined ? [] : objectsOf(schema).map((object) => ({ spec, object }));
  });

describe("null for an optional member", () => {
  test("counts as absent on every route, in every kind of body", () => {
    let members = 0;
    for (const { spec, object } of routes()) {
      const { properties = {}, required = [] } = object;
      for (const [name, member] of Object.entries(properties)) {
        if (required.includes(name) || takesNull(member)) continue;
        members += 1;
        const base = chosen(object);
        const without = validate(spec.body(), base);
        expect([spec.operationId, name, validate(spec.body(), { ...base, [name]: null })]).toEqual([
          spec.operationId,
          name,
          without,
        ]);
      }
    }
    expect(members).toBeGreaterThan(60);
  });

  test("keeps its documented meaning for members that define one", () => {
    const found: Record<string, string[]> = {};
    for (const { spec, object } of routes()) {
      for (const [name, member] of Object.entries(object.properties ?? {})) {
        if (!takesNull(member)) continue;
        found[spec.operationId] = [...(found[spec.operationId] ?? []), name];
        const parsed = validate(spec.body(), { ...chosen(object), [name]: null });
        const problems: readonly { readonly path: string }[] = parsed.ok ? [] : (Object(parsed.error).details ?? []);
        expect(problems.map(({ path }) => path)).not.toContain(name);
        if (parsed.ok) expect(Object.values(Object(parsed.value))).toContain(null);
      }
    }
    expect(found).toEqual(MEANT);
  });

  test("counts as absent in a field of the other wallet type, where text is refused", () => {
    const spec = SPECS.find(({ operationId }) => operationId === "registerWallet");
    const pair = { cryptocurrency: "BTC", network: "BTC" };
    const direct = { walletType: "DIRECT_WALLET", ...pair, address: "a" };
    const xpub = { walletType: "XPUB_WALLET", ...pair, xpub: "x", derivationPath: "m" };
    const parse = (body: object) => spec && validate(spec.body(), body);
    expect(parse({ ...direct, xpub: null, derivationPath: null })).toEqual(parse(direct));
    expect(parse({ ...xpub, address: null })).toEqual(parse(xpub));
    const details = [{ path: "address", message: "unknown field" }];
    expect(parse({ ...xpub, address: "a" })).toEqual({ ok: false, error: { code: "VALIDATION_FAILED", details } });
  });
});
