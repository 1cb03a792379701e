// What the schedules' requests do: they create and change invoices, and revoke an API key. Each is decided like an operation of the product: from the
// facts of one read, while the batch asserts the facts that matter.
import { sql } from "drizzle-orm";
import { derivedId, type InvoiceId, type MerchantId, makeId } from "../../../src/lib/ids.ts";
import type { Db } from "../../../src/platform/db/client.ts";
import { prepared, preparedForEach, preparedInsert } from "../../../src/platform/db/prepared-statement.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { assertions } from "../../../src/platform/db/schema/operations.ts";
import type { Write } from "../../../src/platform/db/statement.ts";
import { withNews, withRevocations } from "../../../src/platform/db/statement.ts";
import type { FailureCode } from "../../../src/platform/failures.ts";

export const MERCHANT: MerchantId = "mer_00000000000000000000000000";

/** The event that each change to an existing invoice emits. */
const EVENT_OF = {
  pick: "payment.created",
  cancel: "invoice.cancelled",
  resolve: "invoice.resolved",
  refund: "invoice.refunded",
} as const;
type Change = keyof typeof EVENT_OF;
export const CHANGES: readonly [Change, ...Change[]] = ["pick", "cancel", "resolve", "refund"];
type Act = "create" | "revoke" | Change;

export interface Order {
  readonly key: string;
  readonly act: Act;
  /** For a change: the order that creates its invoice. */
  readonly on: Order | undefined;
  /** The fingerprint of the request's body, by client. */
  readonly prints: readonly string[];
  readonly email: string;
  readonly externalId: string | undefined;
  /** The API key that authorizes the request. */
  readonly credential: string;
  readonly isPoison: boolean;
  readonly isPublic: boolean;
  /** Whether the request has no Idempotency-Key and is sent only once. */
  readonly isKeyless: boolean;
  /** Whether the Worker at the edge sends the request, not the merchant's object, so that it is not part of a group. */
  readonly isBeside: boolean;
  /** The most invoices that may be open, the same for all orders; undefined if unlimited. */
  readonly room: number | undefined;
}

export interface Facts {
  readonly customerId: `cus_${string}` | null;
  /** The data of the event that records which invoice uses the external id. */
  readonly named: string | null;
  readonly isRevoked: number;
  /** The types of the invoice's events, in order. */
  readonly history: string | null;
}

const insertEvent = preparedInsert(events);
const insertCustomer = preparedInsert(customers);
const literal = sql.raw(`'${MERCHANT}'`);

/** Reads everything that a request may name in one statement, like the invoices' `selectNamed`. */
export const selectFacts = preparedForEach(
  (of: { email: string; named: string; credential: string; invoiceId: string }) => of,
  (db, of) =>
    db
      .select({
        at: sql<number>`asked.key`.as("at"),
        customerId: sql<Facts["customerId"]>`(select id from customers
          where merchant_id = ${literal} and email_key = asked.value->>'email')`.as("customer_id"),
        named: sql<string | null>`(select data from events where invoice_id = asked.value->>'named')`.as("named"),
        isRevoked: sql<number>`exists (select 1 from events where invoice_id = asked.value->>'credential')`.as(
          "revoked",
        ),
        history: sql<string | null>`(select group_concat(type order by sequence) from events
          where invoice_id = asked.value->>'invoiceId')`.as("history"),
      })
      .from(sql`json_each(${of.items}) asked`),
);

/** The number of open invoices, which are created and not cancelled. */
export const OPEN = `(select coalesce(sum(case type when 'invoice.created' then 1 when 'invoice.cancelled' then -1 else 0 end), 0) from events)`;

export const selectRoom = prepared(
  () => ({}),
  (db) => db.select({ open: sql<number>`${sql.raw(OPEN)}`.as("open") }).from(sql`(select 1)`),
);

const assertRoom = prepared(
  (room: number) => ({ room }),
  (db, of) => db.insert(assertions).select(sql`select 'room', 0 where ${sql.raw(OPEN)} > ${of.room}`),
  ([first]) => first ?? { room: 0 },
);

/** The `invoiceId` of the event that records that an external id is in use, or that a key is revoked. */
export const namedPlace = (externalId: string | undefined) => `external ${externalId}`;
export const credentialPlace = (credential: string) => `key ${credential}`;

/** Why a create is refused; undefined if it is not. */
export function createRefusal(
  order: Order,
  facts: Facts,
  of: { own: InvoiceId; open: number },
): FailureCode | undefined {
  if (facts.named !== null && JSON.parse(facts.named).invoiceId !== of.own) return "EXTERNAL_ID_EXISTS";
  return order.room !== undefined && of.open >= order.room ? "TOO_MANY_ACTIVE_INVOICES" : undefined;
}

/** Whether a change is due on an invoice, is already done, or why it is refused. */
export function changeOf(act: Change, history: readonly string[]): FailureCode | "due" | "done" {
  const has = (of: Change) => history.includes(EVENT_OF[of]);
  const isEnded = has("cancel") || has("resolve");
  switch (act) {
    case "pick":
      if (isEnded) return "INVOICE_NOT_PAYABLE";
      return has("pick") ? "done" : "due";
    case "cancel":
      return isEnded ? "INVOICE_NOT_CANCELLABLE" : "due";
    case "resolve":
      return isEnded ? "INVOICE_NOT_RESOLVABLE" : "due";
    case "refund":
      return has("resolve") && !has("refund") ? "due" : "NOTHING_TO_REVIEW";
  }
}

/** Whether an invoice's events are a possible history: each change must have been due after the changes before it. */
export function isHistory(types: readonly string[]): boolean {
  return types.every((type, n) => {
    if (n === 0) return type === "invoice.created";
    const act = CHANGES.find((each) => EVENT_OF[each] === type);
    return act !== undefined && changeOf(act, types.slice(0, n)) === "due";
  });
}

interface Row {
  readonly id: `evt_${string}`;
  readonly type: string;
  readonly invoiceId: string;
  readonly sequence: number;
  readonly data: string | null;
}

function eventOf(db: Db, row: Row) {
  return insertEvent(db, {
    ...row,
    merchantId: MERCHANT,
    invoiceId: row.invoiceId as InvoiceId,
    // Null gives a row that the database refuses.
    data: row.data as string,
    createdAtMs: 0,
    headSequence: null,
    headLength: null,
  });
}

export interface Made {
  readonly body: string;
  readonly statements: readonly Write[];
  readonly subjects: readonly string[];
}

export function createOf(
  db: Db,
  order: Order,
  of: { operationId: string; print: string; index: number; facts: Facts },
): Made {
  const { operationId, print, index, facts } = of;
  const { key, email, externalId, credential, isPublic } = order;
  const invoiceId = makeId("inv", operationId);
  const customerId = facts.customerId ?? derivedId("cus", operationId);
  const body = JSON.stringify({ key, print, isPublic, invoiceId, customerId, index, credential });
  const event = eventOf(db, {
    id: derivedId("evt", operationId),
    type: "invoice.created",
    invoiceId,
    sequence: 1,
    data: order.isPoison ? null : body,
  });
  const name = eventOf(db, {
    id: derivedId("evt", operationId, 1),
    type: "external",
    invoiceId: namedPlace(externalId),
    sequence: 1,
    data: JSON.stringify({ invoiceId }),
  });
  const customer = insertCustomer(db, {
    id: customerId,
    merchantId: MERCHANT,
    email,
    emailKey: email,
    name: null,
    address: null,
    phoneNumber: null,
    metadata: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    deletedAtMs: null,
    searchText: null,
    indexedAtMs: null,
  });
  return {
    body,
    statements: [
      ...(facts.customerId === null ? [customer] : []),
      withNews(event, () => ({ wake: [invoiceId] })),
      ...(externalId === undefined ? [] : [name]),
      ...(order.room === undefined ? [] : [assertRoom(db, order.room)]),
    ],
    subjects: [
      ...(facts.customerId === null ? [`customer ${email}`] : []),
      ...(externalId === undefined ? [] : [`externalId ${externalId}`]),
    ],
  };
}

/** `index`: the address index that the pick was given. */
export function eventOfChange(
  db: Db,
  order: Order,
  of: { operationId: string; print: string; invoiceId: string; history: readonly string[]; index: number | null },
): Made {
  const { operationId, print, invoiceId, history, index } = of;
  const { key, act, isPublic } = order;
  if (act === "create" || act === "revoke") throw new Error("no change of an invoice");
  const body = JSON.stringify({ key, print, isPublic, invoiceId, act, index });
  const row = {
    id: derivedId("evt", operationId),
    type: EVENT_OF[act],
    invoiceId,
    sequence: history.length + 1,
  } as const;
  return { body, statements: [eventOf(db, { ...row, data: body })], subjects: [] };
}

/** Revokes a key, along with its copy outside the database. */
export function revocationOf(db: Db, order: Order, operationId: string): Write {
  const { key, credential } = order;
  const row = eventOf(db, {
    id: derivedId("evt", operationId),
    type: "api_key.revoked",
    invoiceId: credentialPlace(credential),
    sequence: 1,
    data: JSON.stringify({ key }),
  });
  return withRevocations(row, [{ owner: MERCHANT, kind: "API_KEY", target: credential, columns: {} }]);
}
