// A small reader of JSON Schema (2020-12) with only the keywords that our documents use. Any other keyword is reported as a problem, so nothing
// passes unchecked.

export interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const TELLS_NOTHING = new Set(["title", "description", "examples", "type"]);

/** The target of the reference in `document`; undefined if there is none. */
export function resolve(document: unknown, reference: string): unknown {
  return reference
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((node, name) => Object(node)[name], document);
}

/** Every way `value` differs from `schema`, by path; empty when it fits. */
export function misfits(document: unknown, schema: Schema, value: unknown, path = "$"): readonly string[] {
  const below = (inner: Schema, part: unknown, name: string | number) =>
    misfits(document, inner, part, `${path}.${name}`);
  const members = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  const types = [schema.type ?? []].flat();
  const found = types.length === 0 || types.some((type) => isOf(type, value)) ? [] : [`${path} is no ${types}`];
  for (const [keyword, rule] of Object.entries(schema)) {
    if (TELLS_NOTHING.has(keyword)) continue;
    found.push(...ofKeyword(keyword, rule));
  }
  return found;

  function ofKeyword(keyword: string, rule: unknown): readonly string[] {
    switch (keyword) {
      case "$ref": {
        const target = resolve(document, String(rule));
        return target === undefined ? [`${rule} leads nowhere`] : misfits(document, Object(target), value, path);
      }
      case "anyOf": {
        const tries = (schema.anyOf ?? []).map((each) => misfits(document, each, value, path));
        return tries.some((problems) => problems.length === 0) ? [] : [`${path} fits none of: ${tries.join(" | ")}`];
      }
      case "properties":
        return members.flatMap(([name, part]) => {
          const inner = schema.properties?.[name];
          return inner === undefined ? [] : below(inner, part, name);
        });
      case "required":
        return (schema.required ?? [])
          .filter((name) => members.every(([each]) => each !== name))
          .map((name) => `${path} lacks ${name}`);
      case "additionalProperties": {
        const others = members.filter(([name]) => schema.properties?.[name] === undefined);
        if (rule === false) return others.map(([name]) => `${path}.${name} is not documented`);
        return typeof rule === "object" ? others.flatMap(([name, part]) => below(Object(rule), part, name)) : [];
      }
      case "propertyNames":
        return members.flatMap(([name]) => below(Object(rule), name, name));
      case "items":
        return Array.isArray(value) ? value.flatMap((part, n) => below(Object(rule), part, n)) : [];
      case "enum":
        return schema.enum?.includes(value) ? [] : [`${path} is none of ${schema.enum}`];
      case "const":
        return value === rule ? [] : [`${path} is not ${rule}`];
      case "minimum":
        return typeof value !== "number" || value >= Number(rule) ? [] : [`${path} is less than ${rule}`];
      case "maximum":
        return typeof value !== "number" || value <= Number(rule) ? [] : [`${path} is more than ${rule}`];
      case "pattern":
        return typeof value !== "string" || new RegExp(String(rule)).test(value) ? [] : [`${path} is not as ${rule}`];
      case "format":
        if (rule === "uri") return typeof value !== "string" || URL.canParse(value) ? [] : [`${path} is no URL`];
        if (rule !== "date-time") return [`${path}: unknown format ${rule}`];
        return typeof value !== "string" || isTime(value) ? [] : [`${path} is no time`];
      default:
        return [`${path}: unknown keyword ${keyword}`];
    }
  }
}

function isOf(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text));
}
