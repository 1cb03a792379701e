// Checks requests against the schemas of the API, with the rules between fields that a schema cannot say.
import { microsFromJsonNumber } from "../../src/lib/money.ts";
import type * as Api from "../api-types.ts";
import type { ErrorDetail } from "../errors.ts";
import type { NewInvoice } from "../resources.ts";
import { networkNamed } from "./pairs.ts";
import { filled, invalid, ruleProblem } from "./refusal.ts";
import { EVENT_TYPES, SAYS, SCHEMAS } from "./tables.ts";

/** The part of JSON Schema that the API's requests use, and what the service says where a rule is broken. */
export interface Checked {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Checked[];
  readonly properties?: Readonly<Record<string, Checked>>;
  readonly required?: readonly string[];
  readonly items?: Checked;
  readonly additionalProperties?: boolean | Checked;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  /** By rule, or one for all of them; other rules have a message in SAYS. */
  readonly says?: string | Readonly<Record<string, string>>;
}

/** Bodies by operationId. */
export interface Bodies {
  readonly createInvoice: NewInvoice;
  readonly updateInvoice: Api.UpdateInvoiceBody;
  readonly resolveInvoice: Api.ResolveInvoiceBody;
  readonly activatePaymentMethod: Api.ActivatePaymentMethodBody;
  readonly resolvePayment: Api.ResolvePaymentBody;
  readonly createProduct: Api.CreateProductBody;
  readonly updateProduct: Api.UpdateProductBody;
  readonly upsertCustomer: Api.UpsertCustomerBody;
  readonly updateCustomer: Api.UpdateCustomerBody;
  readonly createWebhook: Api.CreateWebhookBody;
  readonly updateWebhook: Api.UpdateWebhookBody;
}

/** The body, or throws VALIDATION_FAILED with every problem. */
export function bodyOf<Name extends keyof Bodies>(name: Name, given: unknown): Bodies[Name] {
  const problems: ErrorDetail[] = [];
  const body = withoutNulls(SCHEMAS[name] ?? {}, given);
  if (!isBody(name, body, problems)) throw refusal(problems);
  return body;
}

/** Null is an absent member, unless the member may be null. */
function withoutNulls({ properties = {} }: Checked, body: unknown): unknown {
  if (!isObject(body)) return body;
  const isKept = ([name, value]: readonly [string, unknown]) => {
    const known = properties[name];
    return known === undefined || !isUnwantedNull(known, value);
  };
  return Object.fromEntries(Object.entries(body).filter(isKept));
}

function isUnwantedNull(schema: Checked, value: unknown): boolean {
  return value === null && problemsOf(schema, null, "").length > 0;
}

function isBody<Name extends keyof Bodies>(name: Name, body: unknown, problems: ErrorDetail[]): body is Bodies[Name] {
  const schema = SCHEMAS[name] ?? {};
  const within = body === undefined ? [problem(schema, "body", "")] : problemsOf(schema, body, "");
  problems.push(...within, ...(isObject(body) ? rulesOf(name, body, within.some(isEnd)) : []));
  return problems.length === 0;
}

/** The query, checked; names that no schema knows are ignored. */
export function queryOf(name: string, query: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const schema = SCHEMAS[name] ?? {};
  const problems: ErrorDetail[] = problemsOf(schema, readQuery(schema, query), "");
  const { type, cursor, after } = query;
  const isTyped = type === undefined || typesNamed(type).length > 0;
  if (name === "listEvents" && isTyped && cursor !== undefined && after !== undefined)
    problems.push(ruleProblem("cursorAndAfter"));
  if (problems.length > 0) throw refusal(problems);
  return query;
}

/** Texts of a query as what they say. */
function readQuery({ properties = {} }: Checked, query: Readonly<Record<string, string>>): object {
  const read = ([name, text]: readonly [string, string]) => {
    const { type } = properties[name] ?? {};
    if (type === "integer" && /^(0|[1-9]\d*)$/.test(text)) return [name, Number(text)];
    return [name, type === "boolean" && /^(true|false)$/.test(text) ? text === "true" : text];
  };
  return Object.fromEntries(Object.entries(query).map(read));
}

/** The types that a subscription names: one, `invoice.*`, or `*`. */
export function typesNamed(name: string): readonly string[] {
  return EVENT_TYPES.filter((type) => name === "*" || name === type || name === type.replace(/\..*/, ".*"));
}

/** A problem, and the rule that is broken. */
interface Problem extends ErrorDetail {
  readonly rule: string;
}

function refusal(problems: readonly ErrorDetail[]) {
  return invalid(problems.map(({ path, message }) => ({ path, message })));
}

/** With one of these the service does not try the rules between fields. */
function isEnd({ rule }: Problem): boolean {
  return ["type", "integer", "absent", "enum", "text", "amount", "values"].includes(rule);
}

function problem(schema: Checked, rule: string, path: string, facts: object = {}): Problem {
  const list = schema.enum?.join(", ");
  const options = schema.enum?.map((each) => JSON.stringify(each)).join("|");
  const template = typeof schema.says === "string" ? schema.says : (ownMessage(schema, rule) ?? SAYS[rule]);
  if (template === undefined) throw new TypeError(`the service says nothing of ${rule}`);
  return { rule, path, message: filled(template, { ...schema, list, options, ...facts }) };
}

/** Of some rules a schema has nothing but the message. */
function ownMessage({ says }: Checked, rule: string): string | undefined {
  return typeof says === "object" ? says[rule] : undefined;
}

/** The rules of a schema that are broken, of those that are named. */
function broken(
  schema: Checked,
  path: string,
  rules: Readonly<Record<string, boolean>>,
  facts: object = {},
): Problem[] {
  return Object.entries(rules).flatMap(([rule, isBroken]) => (isBroken ? [problem(schema, rule, path, facts)] : []));
}

function problemsOf(schema: Checked, value: unknown, path: string): Problem[] {
  const { anyOf, type } = schema;
  if (anyOf !== undefined) {
    const all = anyOf.map((each) => problemsOf(each, value, path));
    return all.find((each) => each.length === 0) ?? all[0] ?? [];
  }
  if (!isOfType(value, type)) {
    const expected = `expected ${type === "integer" ? "number" : type}`;
    return [problem(schema, "type", path, { expected, received: `received ${typeName(value)}` })];
  }
  if (typeof value === "string") return textProblems(schema, value, path);
  if (typeof value === "number") return numberProblems(schema, value, path);
  if (Array.isArray(value)) return listProblems(schema, value, path);
  return isObject(value) ? objectProblems(schema, value, path) : [];
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isOfType(value: unknown, type: string | undefined): boolean {
  return type === undefined || typeName(value) === (type === "integer" ? "number" : type);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeName(value) === "object";
}

/** By the name of a member, what only a function can tell of its text. */
const TEXTS: Readonly<Record<string, (text: string) => boolean>> = {
  redirectUrl: isRedirectUrl,
  network: (text) => networkNamed(text) !== undefined,
  type: (text) => typesNamed(text).length > 0,
};

function textProblems(schema: Checked, value: string, path: string): Problem[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern = "", enum: listed } = schema;
  const length = [...value].length;
  const isLong = length > maxLength;
  const isListed = listed === undefined || listed.includes(value);
  const isFar = ownMessage(schema, "enumFar") !== undefined && value.length > 40;
  const rules = {
    minLength: length < minLength,
    maxLength: isLong,
    pattern: !isLong && !new RegExp(pattern).test(value),
    [isFar ? "enumFar" : "enum"]: !isListed,
    text: ownMessage(schema, "text") !== undefined && TEXTS[path]?.(value) === false,
  };
  return broken(schema, path, rules, isListed ? {} : { nearest: nearest(value, listed) });
}

function numberProblems(schema: Checked, value: number, path: string): Problem[] {
  const { type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (type === "integer" && !Number.isSafeInteger(value)) return [problem(schema, "integer", path)];
  return broken(schema, path, {
    minimum: value < minimum,
    maximum: value > maximum,
    amount:
      ownMessage(schema, "amount") !== undefined &&
      0 < value &&
      value <= maximum &&
      microsFromJsonNumber(value).ok === false,
  });
}

function listProblems(schema: Checked, list: unknown[], path: string): Problem[] {
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const ofLength = broken(schema, path, { minItems: list.length < minItems, maxItems: list.length > maxItems });
  if (ofLength.length > 0) return ofLength;
  const all = list.flatMap((each, place) => problemsOf(items, each, below(path, String(place))));
  const within = all.filter(({ rule }) => !rule.startsWith("enum"));
  // Only the first name that is not listed is refused, and only if nothing else is wrong.
  return within.length > 0 ? within : all.slice(0, 1);
}

function objectProblems(schema: Checked, value: Readonly<Record<string, unknown>>, path: string): Problem[] {
  const { properties = {}, required = [], additionalProperties, maxProperties = Number.POSITIVE_INFINITY } = schema;
  if (typeof additionalProperties === "object") {
    const values = Object.values(value).some((each) => typeof each !== "string");
    const bytes = new TextEncoder().encode(JSON.stringify(value)).length > 8_192;
    if (values) return [problem(schema, "values", path)];
    return broken(schema, path, { maxProperties: Object.keys(value).length > maxProperties, bytes });
  }
  const known = Object.entries(properties).flatMap(([name, part]) => {
    const [each, at] = [value[name], below(path, name)];
    if (each !== undefined && !isUnwantedNull(part, each)) return problemsOf(part, each, at);
    return broken(part, at, { absent: required.includes(name) });
  });
  const others = additionalProperties === false ? Object.keys(value).filter((name) => !(name in properties)) : [];
  return [...known, ...others.map((name) => problem(schema, "unknown", below(path, name)))];
}

function below(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** What the schema of one field cannot say. */
function rulesOf(name: keyof Bodies, body: Readonly<Record<string, unknown>>, isEnded: boolean): ErrorDetail[] {
  const schema = SCHEMAS[name] ?? {};
  const fields = Object.entries(schema.properties ?? {});
  const needed = fields.flatMap(([field, part]) => {
    const isMissed = body.productId === undefined && body[field] === undefined;
    return broken(part, field, { needed: isMissed && ownMessage(part, "needed") !== undefined });
  });
  if (isEnded) return needed;
  const isNothing = fields
    .map(([field]) => body[field])
    .every((value) => value === undefined || (value === null && name === "upsertCustomer"));
  const isWrongAssign = name === "resolvePayment" && (body.action === "ASSIGN") !== (body.invoiceId !== undefined);
  return [
    ...needed,
    ...broken(schema, "", { empty: isNothing && ownMessage(schema, "empty") !== undefined }),
    ...(isWrongAssign ? [ruleProblem("assign")] : []),
  ];
}

function isRedirectUrl(text: string): boolean {
  if (!/^https?:\/\/[^/]/i.test(text) || /[\p{Cc} \\]/u.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

/** Of the listed texts the one with the fewest letters to insert, delete or change. */
function nearest(text: string, listed: readonly unknown[]): string {
  const distances = listed.map((each) => distance(text.toLowerCase(), String(each)));
  return String(listed[distances.indexOf(Math.min(...distances))]);
}

function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, place) => place);
  for (const [place, letter] of [...from].entries()) {
    const next = [place + 1];
    for (const [at, other] of [...to].entries()) {
      const changed = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
