// What the service says to each problem of a request, for the client's fake: every schema is tried with a value that breaks one of its rules, and
// the message is kept as a template. So the fake repeats the service's words, whether they are Zod's or a contract's own.
import type { z } from "zod";
import type { Schema } from "../client/scripts/client-types.ts";
import { canonicalPairs } from "../src/chains/registry/pair.ts";
import { termsOf } from "../src/commerce/invoices/product-terms.ts";
import { CURSOR_REFUSAL } from "../src/lib/pagination.ts";
import type { Result } from "../src/lib/result.ts";
import { parseEndpointUrl } from "../src/notifications/webhooks/endpoint-url.ts";
import { nearestSubscription } from "../src/notifications/webhooks/subscription.ts";
import type { Failure, FieldProblem } from "../src/platform/failures.ts";
import { validate } from "../src/platform/http/validate.ts";

type Texts = Readonly<Record<string, string>>;

/** Where a schema is: the request that has it, and its path there. */
interface Place {
  readonly request: z.ZodType;
  readonly path: readonly string[];
  /** Every value of a query is a text. */
  readonly isQuery: boolean;
}

/** A value that breaks one rule. */
interface Probe {
  readonly rule: string;
  readonly value: unknown;
  /** What the message may speak of: the placeholders of its template. */
  readonly facts?: Texts;
  /** Where below the schema the problem is. */
  readonly at?: string;
}

/** Rules that are members of a schema. One that the service does not check is left out. */
const LIMITS = ["minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems", "maxProperties"];
/** The rules of which a schema shows nothing but the message. */
const HIDDEN = ["needed", "text", "amount", "values", "bytes", "empty", "enumFar"];

/** The schema with `says`: the template of the message by the rule that is broken, or one for all of them. */
export function withMessages(schema: Schema, place: Place): Schema {
  const says = saidOf(schema, place);
  const own = Object.entries(schema).filter(([name]) => !LIMITS.includes(name) || name in says);
  const within = (part: Schema, ...names: readonly string[]) =>
    withMessages(part, { ...place, path: [...place.path, ...names] });
  const properties = Object.entries(schema.properties ?? {}).map(([name, part]) => [name, within(part, name)] as const);
  const isRequired = ([, { says: said }]: (typeof properties)[number]) =>
    typeof said === "string" || "absent" in Object(said);
  return {
    ...Object.fromEntries(own),
    ...(schema.properties === undefined ? {} : { properties: Object.fromEntries(properties) }),
    ...(schema.required === undefined ? {} : { required: properties.filter(isRequired).map(([name]) => name) }),
    ...(isSchema(schema.items) ? { items: within(schema.items, "0") } : {}),
    ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map((part) => within(part)) }),
    says: oneForAll(says),
  };
}

function oneForAll(says: Texts): Texts | string {
  const [first, another, ...others] = Object.values(says);
  return first !== undefined && [another, ...others].every((each) => each === first) ? first : says;
}

/** The most frequent message of each rule, and the schemas without it. */
export function withUsual(schemas: unknown): { readonly usual: Texts; readonly schemas: unknown } {
  const counts: Record<string, Record<string, number>> = {};
  eachSays(schemas, (says) => {
    for (const [rule, message] of Object.entries(says)) {
      const of = counts[rule] ?? {};
      counts[rule] = { ...of, [message]: (of[message] ?? 0) + 1 };
    }
    return says;
  });
  const most = (of: Readonly<Record<string, number>>) => Object.entries(of).toSorted(([, a], [, b]) => b - a)[0]?.[0];
  const shared = Object.entries(counts).filter(([rule]) => !HIDDEN.includes(rule));
  const usual = Object.fromEntries(shared.map(([rule, of]) => [rule, most(of) ?? ""]));
  const rare = eachSays(schemas, (says) => {
    const left = Object.entries(says).filter(([rule, message]) => usual[rule] !== message);
    return left.length === 0 ? undefined : Object.fromEntries(left);
  });
  return { usual, schemas: rare };
}

function eachSays(schemas: unknown, change: (says: Texts) => Texts | undefined): unknown {
  return JSON.parse(
    JSON.stringify(schemas, (name, value) => (name === "says" && typeof value !== "string" ? change(value) : value)),
  );
}

/** The problems of rules that no schema has, by a name of the fake's own. */
export function rulesBetween(requestOf: (operationId: string) => z.ZodType): Readonly<Record<string, FieldProblem>> {
  const pair = { cryptocurrency: "USDT", network: "ETH" };
  const product = JSON.parse('{ "isActive": true, "deletedAtMs": null, "priceMicros": 1, "currency": "{currency}" }');
  const terms = termsOf({ productId: "prd_1", name: "Tea", currency: "USD" }, product, false);
  return {
    assign: only(validate(requestOf("resolvePayment"), { action: "ASSIGN", reason: "Paid" })),
    cursorAndAfter: only(validate(requestOf("listEvents"), { cursor: "", after: "0" })),
    cursor: CURSOR_REFUSAL.details[0],
    duplicate: { ...only(canonicalPairs([pair, pair])), path: "paymentMethods.{place}" },
    productCurrency: only(terms),
  };
}

/** Why the URL of an endpoint is refused, by a name of the fake's own. */
export function urlReasons(): Texts {
  const urls = {
    tooLong: `https://shop.com/${"x".repeat(2_048)}`,
    unseen: "https://shop.com/ ",
    scheme: "http://shop.com",
    user: "https://a@shop.com",
    fragment: "https://shop.com/#a",
    notUrl: "https://[",
    port: "https://shop.com:444",
    example: "https://shop.example",
    address: "https://1.2.3.4",
    dot: "https://shop.com.",
    reserved: "https://shop.local",
    label: "https://shop",
    name: "https://-shop.com",
    echo: "https://1.2.3.4.nip.io",
  };
  const reasonOf = (url: string) => {
    const parsed = parseEndpointUrl(url, { isLoopbackOpen: true });
    if (parsed.ok) throw new Error(`${url} is no refused URL`);
    return templateOf(parsed.error, { end: "local" });
  };
  return Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, reasonOf(url)]));
}

function saidOf(schema: Schema, { request, path, isQuery }: Place): Texts {
  if (isQuery && path.length === 0) return {};
  const said = probesOf(schema, path, isQuery).flatMap(({ rule, value, facts = {}, at }) => {
    const sent = isQuery && value !== undefined ? String(value) : value;
    const where = (at === undefined ? path : [...path, at]).join(".");
    const message = problemsOf(validate(request, nested(path, sent))).find((each) => each.path === where)?.message;
    if (message === undefined) return [];
    // A member that another may stand for has a message of its own.
    const isNeeded = rule === "absent" && message.startsWith("is required without");
    return [[isNeeded ? "needed" : rule, templateOf(message, facts)] as const];
  });
  const { enumFar, ...says } = Object.fromEntries(said);
  const namesNearest = says.enum?.includes("{nearest}") ?? false;
  return namesNearest && enumFar !== undefined ? { ...says, enumFar } : says;
}

function probesOf(schema: Schema, path: readonly string[], isQuery: boolean): readonly Probe[] {
  const { type, anyOf } = schema;
  const absent: Probe = { rule: path.length === 0 ? "body" : "absent", value: undefined, facts: factsOf(schema) };
  if (anyOf !== undefined) return [absent];
  if (type === "string") return [absent, ...textProbes(schema, isQuery)];
  if (type === "number" || type === "integer") return [absent, ...numberProbes(schema, isQuery)];
  if (type === "boolean") return [absent, wrongType(schema, "x")];
  if (type === "array") return [absent, ...listProbes(schema)];
  return type === "object" ? [absent, ...objectProbes(schema, path)] : [];
}

/** Everything that a message says about a schema. */
function factsOf(schema: Schema): Texts {
  const limits = LIMITS.flatMap((name) => (typeof schema[name] === "number" ? [[name, String(schema[name])]] : []));
  const list = schema.enum?.join(", ") ?? "";
  const options = schema.enum?.map((each) => JSON.stringify(each)).join("|") ?? "";
  return { ...Object.fromEntries(limits), list, options };
}

function wrongType(schema: Schema, value: unknown): Probe {
  const expected = `expected ${schema.type === "integer" ? "number" : schema.type}`;
  return { rule: "type", value, facts: { ...factsOf(schema), expected, received: `received ${typeof value}` } };
}

function textProbes(schema: Schema, isQuery: boolean): readonly Probe[] {
  const { minLength, maxLength, pattern, enum: options } = schema;
  const facts = factsOf(schema);
  const probes: readonly (Probe | false)[] = [
    !isQuery && wrongType(schema, 0),
    minLength === 1 && { rule: "minLength", value: "", facts },
    typeof maxLength === "number" && { rule: "maxLength", value: "x".repeat(maxLength + 1), facts },
    options !== undefined && {
      rule: "enum",
      value: "pong",
      facts: { ...facts, nearest: nearestSubscription("pong") ?? "" },
    },
    options !== undefined && { rule: "enumFar", value: "x".repeat(41), facts },
    pattern !== undefined && { rule: "pattern", value: "?" },
    options === undefined && pattern === undefined && { rule: "text", value: "?" },
  ];
  return probes.filter((probe) => probe !== false);
}

function numberProbes(schema: Schema, isQuery: boolean): readonly Probe[] {
  const { minimum, maximum, type } = schema;
  const facts = factsOf(schema);
  const probes: readonly (Probe | false)[] = [
    wrongType(schema, "x"),
    typeof minimum === "number" && { rule: "minimum", value: minimum - 1, facts },
    typeof maximum === "number" && { rule: "maximum", value: maximum + 1, facts },
    type === "integer" && !isQuery && { rule: "integer", value: 100_000.5 },
    type === "number" && { rule: "amount", value: 1e-9 },
  ];
  return probes.filter((probe) => probe !== false);
}

function listProbes(schema: Schema): readonly Probe[] {
  const { items, minItems = 0, maxItems } = schema;
  const facts = factsOf(schema);
  const many = Array.from({ length: Number(maxItems) + 1 }, () => fitting(isSchema(items) ? items : {}));
  const none: readonly Probe[] = minItems === 0 ? [] : [{ rule: "minItems", value: [], facts }];
  return [wrongType(schema, 0), ...none, { rule: "maxItems", value: many, facts }];
}

function objectProbes(schema: Schema, path: readonly string[]): readonly Probe[] {
  const wrong = wrongType(schema, 0);
  if (schema.additionalProperties === false) {
    const empty: readonly Probe[] = path.length === 0 ? [{ rule: "empty", value: {} }] : [];
    return [wrong, { rule: "unknown", value: { "?": 0 }, at: "?" }, ...empty];
  }
  const many = Array.from({ length: Number(schema.maxProperties) + 1 }, (_, place) => [`k${place}`, "v"]);
  return [
    wrong,
    { rule: "values", value: { a: 0 } },
    { rule: "maxProperties", value: Object.fromEntries(many), facts: factsOf(schema) },
    { rule: "bytes", value: { a: "x".repeat(10_000) } },
  ];
}

/** A value that a schema takes. */
function fitting({ enum: options, properties = {} }: Schema): unknown {
  const members = Object.entries(properties).map(([name, part]) => [name, fitting(part)]);
  return members.length > 0 ? Object.fromEntries(members) : (options?.[0] ?? "x");
}

/** The value where a path says, in a request that has nothing else. */
function nested([first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return value;
  const within = nested(rest, value);
  return first === "0" ? [within] : { [first]: within };
}

/** A message with placeholders for the facts that it names, the longest first. */
function templateOf(message: string, facts: Texts): string {
  const named = Object.entries(facts).filter(([, fact]) => fact !== "");
  return named
    .toSorted(([, a], [, b]) => b.length - a.length)
    .reduce(
      (text, [name, fact]) => text.split(new RegExp(`(?<!\\w)${quoted(fact)}(?!\\w)`)).join(`{${name}}`),
      message,
    );
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function problemsOf(result: Result<unknown, Failure>): readonly FieldProblem[] {
  return !result.ok && result.error.code === "VALIDATION_FAILED" ? result.error.details : [];
}

function only(result: Result<unknown, Failure>): FieldProblem {
  const [problem, another] = problemsOf(result);
  if (problem === undefined || another !== undefined) throw new Error("the service refuses this for another reason");
  return problem;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
