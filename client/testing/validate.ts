// Checks requests against the schemas of the API, with the rules between fields that a schema cannot say.
import type * as Api from "../api-types.ts";
import type { ErrorDetail } from "../errors.ts";
import type { NewInvoice } from "../resources.ts";
import { microsOf } from "./decimals.ts";
import { invalid } from "./refusal.ts";
import { EVENT_TYPES, SCHEMAS } from "./tables.ts";

/** The part of JSON Schema that the API's requests use. */
export interface Checked {
  readonly type?: string | readonly string[];
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
  if (!isBody(name, body, problems)) throw invalid(problems);
  return body;
}

/** Null is an absent member, unless the member may be null. */
function withoutNulls({ properties = {} }: Checked, body: unknown): unknown {
  if (!isObject(body)) return body;
  const isKept = ([name, value]: readonly [string, unknown]) => {
    const known = properties[name];
    return value !== null || known === undefined || problemsOf(known, null, "").length === 0;
  };
  return Object.fromEntries(Object.entries(body).filter(isKept));
}

function isBody<Name extends keyof Bodies>(name: Name, body: unknown, problems: ErrorDetail[]): body is Bodies[Name] {
  if (body === undefined) problems.push({ path: "", message: "a JSON body is required" });
  else problems.push(...problemsOf(SCHEMAS[name] ?? {}, body, ""), ...rulesOf(name, body));
  // With a product both may be left out.
  if (name === "createInvoice" && isObject(body) && body.productId !== undefined) {
    const needed = problems.filter(({ message }) => message !== ABSENT);
    problems.splice(0, problems.length, ...needed);
  }
  return problems.length === 0;
}

/** The query, checked; names that no schema knows are ignored. */
export function queryOf(name: string, query: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const schema = SCHEMAS[name] ?? {};
  const problems = problemsOf(schema, readQuery(schema, query), "");
  const { type, cursor, after } = query;
  if (name === "listEvents" && type !== undefined && typesNamed(type).length === 0)
    problems.push({ path: "type", message: "is not an event type" });
  if (name === "listEvents" && cursor !== undefined && after !== undefined)
    problems.push({ path: "cursor", message: "must not be used together with after" });
  if (problems.length > 0) throw invalid(problems);
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

const ABSENT = "is required";

function problemsOf(schema: Checked, value: unknown, path: string): ErrorDetail[] {
  const { anyOf } = schema;
  if (anyOf !== undefined) {
    const all = anyOf.map((each) => problemsOf(each, value, path));
    return all.find((each) => each.length === 0) ?? all[0] ?? [];
  }
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return [{ path, message: `must be ${types.join(" or ")}` }];
  if (schema.enum !== undefined && value !== null && !schema.enum.includes(value))
    return [{ path, message: `must be one of ${schema.enum.join(", ")}` }];
  if (typeof value === "string") return textProblems(schema, value, path);
  if (typeof value === "number") return numberProblems(schema, value, path);
  if (Array.isArray(value)) return listProblems(schema, value, path);
  return isObject(value) ? objectProblems(schema, value, path) : [];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  return type === "integer" ? Number.isSafeInteger(value) : typeof value === type;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textProblems({ minLength = 0, maxLength, pattern }: Checked, value: string, path: string): ErrorDetail[] {
  const length = [...value].length;
  if (length < minLength) return [{ path, message: "must not be empty" }];
  if (maxLength !== undefined && length > maxLength)
    return [{ path, message: `must have at most ${maxLength} characters` }];
  const isFitting = pattern === undefined || new RegExp(pattern).test(value);
  return isFitting ? [] : [{ path, message: `must fit ${pattern}` }];
}

function numberProblems({ minimum, maximum }: Checked, value: number, path: string): ErrorDetail[] {
  if (minimum !== undefined && value < minimum) return [{ path, message: `must be at least ${minimum}` }];
  return maximum !== undefined && value > maximum ? [{ path, message: `must be at most ${maximum}` }] : [];
}

function listProblems({ items = {}, minItems = 0, maxItems }: Checked, list: unknown[], path: string): ErrorDetail[] {
  if (list.length < minItems) return [{ path, message: `must have at least ${minItems} items` }];
  if (maxItems !== undefined && list.length > maxItems)
    return [{ path, message: `must have at most ${maxItems} items` }];
  return list.flatMap((each, place) => problemsOf(items, each, below(path, String(place))));
}

function objectProblems(schema: Checked, value: Readonly<Record<string, unknown>>, path: string): ErrorDetail[] {
  const { properties = {}, required = [], additionalProperties, maxProperties } = schema;
  const absent = required.filter((name) => value[name] === undefined);
  if (maxProperties !== undefined && Object.keys(value).length > maxProperties)
    return [{ path, message: `must have at most ${maxProperties} keys` }];
  return [
    ...absent.map((name) => ({ path: below(path, name), message: ABSENT })),
    ...Object.entries(value).flatMap(([name, each]) => {
      const known = properties[name];
      if (known !== undefined) return problemsOf(known, each, below(path, name));
      if (additionalProperties === false) return [{ path: below(path, name), message: "unknown field" }];
      // A text among the values of an object that is not one is a problem of the object.
      const isText = typeof additionalProperties !== "object" || typeof each === "string";
      return isText ? [] : [{ path, message: "must be an object whose values are strings" }];
    }),
  ];
}

function below(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** What a schema cannot say. */
function rulesOf(name: keyof Bodies, body: unknown): ErrorDetail[] {
  if (!isObject(body)) return [];
  const given = Object.values(body).filter((value) => value !== undefined);
  const problems: ErrorDetail[] = [];
  if (/^update(Product|Customer|Webhook)$/.test(name) && given.length === 0)
    problems.push({ path: "", message: "must contain at least one field" });
  if (name === "upsertCustomer" && given.every((value) => value === null))
    problems.push({ path: "", message: "must contain at least one field that is not null" });
  if (name === "resolvePayment" && (body.action === "ASSIGN") !== (body.invoiceId !== undefined))
    problems.push({ path: "invoiceId", message: "is required with ASSIGN and not allowed with the others" });
  for (const path of ["rawAmount", "price"]) {
    const amount = body[path];
    if (typeof amount === "number" && amount > 0 && amount <= 1_000_000 && microsOf(amount) === 0n)
      problems.push({ path, message: "must be 0 or at least 0.0000005" });
  }
  if (typeof body.redirectUrl === "string" && !isRedirectUrl(body.redirectUrl))
    problems.push({ path: "redirectUrl", message: "must be an http or https URL without a user name or password" });
  if (isObject(body.metadata) && new TextEncoder().encode(JSON.stringify(body.metadata)).length > 8_192)
    problems.push({ path: "metadata", message: "must be at most 8,192 bytes as JSON" });
  return problems;
}

function isRedirectUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === "http:" || protocol === "https:") && username === "" && password === "";
}
