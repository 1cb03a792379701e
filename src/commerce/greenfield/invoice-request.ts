// Converts plugins' requests about invoices into requests to our own API. Members that our API does not have are left out. Invalid values are passed
// on: our own schemas refuse them once the caller is authenticated.

import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { isObject, type Json } from "../../lib/typed-json.ts";
import { isMetadata, packed } from "./metadata.ts";
import { pairNamed } from "./payment-method-id.ts";

type Body = Readonly<Record<string, Json | undefined>>;

const MINUTE_SECONDS = MINUTE_MS / SECOND_MS;
/** The limits of our own create route. */
const LONGEST = { name: 200, url: 2_048, description: 1_000, tolerancePercent: 10 };

/**
 * The body for our own create route. The order number becomes part of the name, where our search finds it. It never becomes our external id, which
 * must be unique.
 */
export function createBodyOf(json: Json | undefined): Json | undefined {
  if (!isBody(json)) return json;
  const { amount, currency, metadata } = json;
  const checkout = isBody(json.checkout) ? json.checkout : {};
  const notes = isBody(metadata) ? metadata : {};
  const orderId = textOf(notes.orderId);
  const description = textOf(notes.itemDesc);
  return defined({
    name: cut(orderId === undefined ? "Invoice" : `Order ${orderId}`, LONGEST.name),
    // A top-up has no amount: any amount is accepted.
    rawAmount: amount === undefined || amount === null ? 0 : numberOf(amount),
    currency,
    description: description === undefined ? undefined : cut(description, LONGEST.description),
    metadata: ownMetadata(metadata),
    redirectUrl: withOrder(textOf(checkout.redirectURL), orderId ?? ""),
    expiresInSeconds: minutes(checkout.expirationMinutes),
    underpaidTolerancePercent: toleranceOf(checkout.paymentTolerance),
    paymentMethods: methodsOf(checkout.paymentMethods),
  });
}

/** Inserts the order id. The caller is not authenticated yet, so a string that our own schema will refuse as too long is not made even longer. */
function withOrder(url: string | undefined, orderId: string): string | undefined {
  if (url === undefined || url.length > LONGEST.url || orderId.length > LONGEST.name) return url;
  return url.replaceAll("{OrderId}", encodeURIComponent(orderId)).slice(0, LONGEST.url + 1);
}

/** The metadata as our own API stores it, or a value that our own schema refuses. */
export function ownMetadata(metadata: Json | undefined, isArchived = false): Json | undefined {
  if (metadata === null || metadata === undefined) return isArchived ? packed({ metadata: {}, isArchived }) : undefined;
  return isMetadata(metadata) ? packed({ metadata, isArchived }) : metadata;
}

interface ListAsked {
  /** The query for our own list. */
  readonly query: URLSearchParams;
  /** Filters that our own list lacks. */
  readonly orderIds: readonly string[];
  readonly statuses: readonly string[];
  readonly isWithArchived: boolean;
  readonly skip: number;
  readonly take: number;
}

const MOST = 100;

/** Our own list returns the newest hundred matching invoices; the filters that it lacks are applied to these. */
export function listAsked(asked: URLSearchParams): ListAsked {
  const orderIds = asked.getAll("orderId");
  const statuses = asked.getAll("status");
  const [skip, take] = [count(asked.get("skip"), 0), Math.min(MOST, count(asked.get("take"), 50))];
  const search = orderIds.length === 1 ? orderIds[0] : asked.get("textSearch");
  const query = new URLSearchParams({ limit: String(MOST), cursor: "" });
  if (search) query.set("search", search);
  for (const [theirs, ours] of [
    ["startDate", "createdFrom"],
    ["endDate", "createdTo"],
  ] as const) {
    const time = asked.get(theirs);
    if (time !== null) query.set(ours, timeOf(time));
  }
  return { query, orderIds, statuses, isWithArchived: asked.get("includeArchived") === "true", skip, take };
}

/** The invoices of our own list that match the other filters, in the list's order: at most `take` of them, after the first `skip`. */
export function listed<Item extends { readonly archived: boolean; readonly status: string; readonly metadata: Body }>(
  { orderIds, statuses, isWithArchived, skip, take }: ListAsked,
  found: readonly Item[],
): readonly Item[] {
  return found
    .filter(({ archived }) => isWithArchived || !archived)
    .filter(({ status }) => statuses.length === 0 || statuses.includes(status))
    .filter(({ metadata }) => orderIds.length === 0 || orderIds.includes(textOf(metadata.orderId) ?? ""))
    .slice(skip, skip + take);
}

/** Converts Unix seconds, in which Greenfield gives times. Any other string is left for our own schema to parse or refuse. */
function timeOf(text: string): string {
  const isSeconds = /^\d{1,11}$/.test(text);
  return isSeconds ? new Date(Number(text) * SECOND_MS).toISOString() : text;
}

function count(text: string | null, otherwise: number): number {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : otherwise;
}

export function isBody(json: Json | undefined): json is Body & Json {
  return isObject(json);
}

export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Greenfield gives amounts as strings; our API takes a number, which it reads by its shortest decimal text. */
function numberOf(value: Json): Json {
  return typeof value === "string" && /^\d{1,12}(\.\d{1,18})?$/.test(value) ? Number(value) : value;
}

function minutes(value: Json | undefined): Json | undefined {
  const number = value === undefined || value === null ? undefined : numberOf(value);
  return typeof number === "number" ? Math.round(number * MINUTE_SECONDS) : number;
}

function toleranceOf(value: Json | undefined): Json | undefined {
  const number = value === undefined || value === null ? undefined : numberOf(value);
  return typeof number === "number" ? Math.min(LONGEST.tolerancePercent, number) : number;
}

function methodsOf(value: Json | undefined): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return value;
  const named: readonly Json[] = value;
  if (named.length === 0) return undefined;
  return named.map((id) => (typeof id === "string" ? { ...pairNamed(id) } : id));
}

/** Cuts the text to `most` characters, never within a surrogate pair. */
function cut(text: string, most: number): string {
  return [...text].slice(0, most).join("");
}

/** Leaves out absent members, because our own schemas refuse undefined ones. */
export function defined(body: Body): Json {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]): [string, Json][] => (value === undefined ? [] : [[name, value]])),
  );
}
