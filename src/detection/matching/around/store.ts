import { type SQL, sql } from "drizzle-orm";
import type { InvoiceId } from "../../../lib/ids.ts";
import { parseJson } from "../../../lib/typed-json.ts";
import type { Rank } from "../../../platform/column-values.ts";
import { amountKey, amountKeySql, shelfSql, shelvesAt } from "../../../platform/db/amount-order.ts";
import { jsonObject } from "../../../platform/db/json-rows.ts";
import { prepared } from "../../../platform/db/prepared-statement.ts";
import { paymentMethods } from "../../../platform/db/schema/invoices.ts";
import { decodeMethod, listed, member, network, ofReservation, ranks, reservationTerms } from "../store.ts";
import type { Side } from "./nearest.ts";

/** More candidates than a user could review by hand. */
export const NEAR_AMOUNTS_READ = 200;
/** The most amounts to read of invoices that were not open at the time of the payment. */
export const OVER_AMOUNTS_READ = 20;
/** How many amounts, whether their invoices were open or not, are searched on either side of the payment's amount. */
const OVER_AMOUNTS_AMONG = 100;
/**
 * How far an amount may be from a payment, as a factor. A payment worth twice its invoice's price can still match, and an invoice that is half paid
 * asks for only half, so a payment may be four times an amount. The rest is a margin on both sides.
 */
const FARTHEST = 32n;

/** An amount whose neighbouring reservations are read. */
export interface WantedAmount {
  readonly key: string;
  readonly cryptocurrency: string;
  readonly address: string;
  readonly units: bigint;
  /** The payment's time; `openFromMs` is later, to allow for a block's timestamp that is too early. */
  readonly atMs: number;
  readonly openFromMs: number;
  /** `quoteSlackMs` of the network. */
  readonly slackMs: number;
}

function listOf(wanted: readonly WantedAmount[]): string {
  return JSON.stringify(
    wanted.map(({ units, ...each }) => ({
      ...each,
      units: units.toString(),
      at: amountKey(units),
      lowest: amountKey(units / FARTHEST),
      highest: amountKey(units * FARTHEST),
      shelves: shelvesAt({ atMs: each.atMs, untilMs: each.openFromMs }),
    })),
  );
}

const place = (name: string) => sql`${sql.raw(name)}.network = ${network}
  and ${sql.raw(name)}.cryptocurrency = ${member("cryptocurrency")} and ${sql.raw(name)}.address = ${member("address")}`;
const wasOpen = (
  held: string,
) => sql`${sql.raw(held)}.created_at_ms <= ${member("openFromMs")} and ${sql.raw(held)}.held_until_ms >= ${member("atMs")}
  and invoice.expires_at_ms >= ${member("atMs")} and (invoice.cancelled_at_ms is null or invoice.cancelled_at_ms > ${member("atMs")})`;
const key = (name: string) => sql.raw(amountKeySql(`${name}.`));
const isNumber = (name: string) => sql.raw(`${name}.units not glob '*[^0-9]*'`);
const onShelf = (name: string) => sql`${sql.raw(shelfSql(`${name}.`))} = shelf.value`;
// Invoices at an address are open for similar periods, so most shelf widths (amount-order.ts) have no amounts. One check over all shelves of a width
// skips these.
const shelvesOf = (rank: SQL) => sql`json_each(item.value, '$.shelves') width
  cross join json_each(width.value, '$.each') shelf on exists (select 1 from method_amounts some indexed by method_amounts_open
    where ${place("some")} and some.released_at_ms is null and some.rank = ${rank} and ${sql.raw(shelfSql("some."))} between width.value ->> '$.from' and width.value ->> '$.to')`;
// Each rank is read separately, so that the amounts of one rank never hide those of another.
const ofRank = (name: string) =>
  sql`${place(name)} and ${sql.raw(name)}.rank = ranked.value and ${sql.raw(name)}.released_at_ms is null`;
const rank = sql<Rank>`ranked.value`.as("ranked");

const above = (name: string) => sql`${key(name)} >= ${member("at")} and ${key(name)} <= ${member("highest")}`;
const below = (name: string) => sql`${key(name)} < ${member("at")} and ${key(name)} >= ${member("lowest")}`;
const asJson = (amounts: SQL) =>
  sql`(select json_group_array(json_array(found.units, found.invoice_id)) from (${amounts}) found)`;
const openSide = (range: SQL, order: string) =>
  asJson(sql`select near.units, near.invoice_id from method_amounts near indexed by method_amounts_open
    cross join invoices invoice on invoice.id = near.invoice_id where ${ofRank("near")} and ${onShelf("near")} and ${range} and ${isNumber("near")}
    and ${wasOpen("near")} order by ${key("near")} ${sql.raw(order)} limit ${sql.raw(String(NEAR_AMOUNTS_READ))}`);

/** For each wanted amount, the amounts around it of invoices that were open at its time, by rank and shelf: up to the nearest 200 on either side. */
export const selectOpenAround = prepared(
  (name: string, wanted: readonly WantedAmount[]) => ({ network: name, list: listOf(wanted) }),
  (db) =>
    db
      .select({
        key: sql<string>`side.key`.as("wanted_key"),
        rank: sql<Rank>`side.ranked`.as("ranked"),
        above: sql`side.above`.mapWith(sideIn).as("above"),
        below: sql`side.below`.mapWith(sideIn).as("below"),
      })
      .from(
        sql`(with side as materialized (select ${member("key")} as key, ranked.value as ranked, ${openSide(above("near"), "asc")} as above,
        ${openSide(below("near"), "desc")} as below from ${listed} cross join ${ranks} cross join ${shelvesOf(sql`ranked.value`)})
        select * from side where above <> '[]' or below <> '[]') side`,
      ),
);

function sideIn(json: string): Side {
  return { held: heldIn(json), isCut: heldIn(json).length === NEAR_AMOUNTS_READ };
}

function heldIn(json: string): Side["held"] {
  const held = parseJson<readonly (readonly [string, InvoiceId])[]>(json);
  return held.map(([units, invoiceId]) => ({ units: BigInt(units), invoiceId }));
}

const overSide = (range: SQL, order: string) =>
  asJson(sql`select any_one.units, any_one.invoice_id from (select near.* from method_amounts near indexed by method_amounts_amount
      where ${ofRank("near")} and ${range} order by ${key("near")} ${sql.raw(order)} limit ${sql.raw(String(OVER_AMOUNTS_AMONG))}) any_one
    cross join invoices invoice on invoice.id = any_one.invoice_id where ${isNumber("any_one")} and not (${wasOpen("any_one")})`);

/** The nearest amounts of each rank of invoices that were not open at the payment's time: they explain why those invoices were not matched. */
export const selectOverAround = prepared(
  (name: string, wanted: readonly WantedAmount[]) => ({ network: name, list: listOf(wanted) }),
  (db) =>
    db
      .select({
        key: sql<string>`${member("key")}`.as("wanted_key"),
        rank,
        above: sql`${overSide(above("near"), "asc")}`.mapWith(heldIn).as("above"),
        below: sql`${overSide(below("near"), "desc")}`.mapWith(heldIn).as("below"),
      })
      .from(sql`${listed} cross join ${ranks}`),
);

// Floating point is precise enough to sort by distance.
const wantedUnits = sql`cast(${member("units")} as real)`;

/** The nearest amount of each of the nearest 200 invoices of these ranks that were open at the payment's time, however many amounts each holds. */
export const selectOpenNearest = prepared(
  (name: string, wanted: readonly (WantedAmount & { readonly ranks: readonly Rank[] })[]) => ({
    network: name,
    list: listOf(wanted),
  }),
  (db) =>
    db
      .select({
        key: sql<string>`${member("key")}`.as("wanted_key"),
        rank,
        held: asJson(sql`select near.units, near.invoice_id,
          min(abs(${wantedUnits} - cast(near.units as real)) / cast(near.units as real)) as distance
        from ${shelvesOf(sql`ranked.value`)} cross join method_amounts near indexed by method_amounts_open on ${ofRank("near")} and ${onShelf("near")}
          and ${key("near")} between ${member("lowest")} and ${member("highest")}
        cross join invoices invoice on invoice.id = near.invoice_id where ${wasOpen("near")} and ${isNumber("near")}
        group by near.invoice_id order by distance limit ${sql.raw(String(NEAR_AMOUNTS_READ))}`)
          .mapWith(heldIn)
          .as("held"),
      })
      .from(
        sql`${listed} cross join ${ranks} on ranked.value in (select crowd.value from json_each(item.value, '$.ranks') crowd)`,
      ),
);

const openOf = (of: Rank) =>
  sql<number>`(select count(*) from (select distinct held.invoice_id from ${shelvesOf(sql.raw(String(of)))}
    cross join method_amounts held indexed by method_amounts_open on ${place("held")} and held.rank = ${sql.raw(String(of))} and held.released_at_ms is null
      and ${onShelf("held")} cross join invoices invoice on invoice.id = held.invoice_id where ${wasOpen("held")} limit 2))`.as(
    `open_${of}`,
  );
// Amounts released since the payment's time: only those held until that time or longer, which are few for a recent payment.
const hasReleased = sql<boolean>`exists (select 1 from method_amounts gone indexed by method_amounts_released
  cross join invoices invoice on invoice.id = gone.invoice_id where ${place("gone")} and gone.released_at_ms is not null and ${wasOpen("gone")})`
  .mapWith(Boolean)
  .as("has_released");

/**
 * How many invoices of each rank were open at each amount's time and have a reservation at its address (0, 1, or 2 for more), and whether other open
 * invoices have since released theirs.
 */
export const selectOpenInvoices = prepared(
  (name: string, wanted: readonly WantedAmount[]) => ({ network: name, list: listOf(wanted) }),
  (db) =>
    db
      .select({
        key: sql<string>`${member("key")}`.as("wanted_key"),
        1: openOf(1),
        2: openOf(2),
        3: openOf(3),
        hasReleased,
      })
      .from(listed),
);

// Only the first quote and those that can price a payment of that time: a history of quotes may be long, and one result holds hundreds of candidates.
const quotesThen = sql`case when json_valid(method.quotes) and json_type(method.quotes) = 'array'
  then (select json_group_array(json(quote.value)) from json_each(method.quotes) quote where quote.key = 0
    or quote.value ->> '$.askedFromMs' <= ${member("atMs")} + ${member("slackMs")}
    and quote.value ->> '$.lockedUntilMs' >= ${member("atMs")} - ${member("slackMs")}) || ''
  else method.quotes end`;

/** A reserved amount near a wanted one. */
export interface ChosenAmount extends Pick<WantedAmount, "key" | "cryptocurrency" | "address" | "atMs" | "slackMs"> {
  readonly units: bigint;
  readonly invoiceId: InvoiceId;
  /** Whether its invoice was open at `atMs`. */
  readonly isOpen: boolean;
}

/** The terms of these amounts, with the quotes that can price a payment of that time. Leaves out amounts released meanwhile. */
export const selectChosen = prepared(
  (name: string, amounts: readonly ChosenAmount[]) => {
    const list = amounts.map((each) => ({ ...each, units: each.units.toString() }));
    return { network: name, list: JSON.stringify(list) };
  },
  (db) =>
    db
      .select({
        ...reservationTerms,
        method: sql`json_set(${jsonObject(paymentMethods, "method", ["quotes"])}, '$.quotes', ${quotesThen})`
          .mapWith(decodeMethod)
          .as("method"),
        key: sql<string>`${member("key")}`.as("wanted_key"),
        isOpen: sql`${member("isOpen")}`.mapWith(Boolean).as("is_open"),
      })
      .from(
        sql`${listed} cross join method_amounts held on ${place("held")} and held.units = ${member("units")}
        and held.invoice_id = ${member("invoiceId")} and held.released_at_ms is null ${ofReservation}`,
      ),
);

/** The invoices that held exactly these units at the time of each amount and have released them since. */
export const selectReleasedExact = prepared(
  (name: string, wanted: readonly WantedAmount[]) => ({ network: name, list: listOf(wanted) }),
  (db) =>
    db.select({ ...reservationTerms, key: sql<string>`${member("key")}`.as("wanted_key") }).from(
      sql`${listed} cross join method_amounts held on ${place("held")} and held.units = ${member("units")} and held.released_at_ms is not null
        and held.created_at_ms <= ${member("openFromMs")} and held.held_until_ms >= ${member("atMs")} ${ofReservation}`,
    ),
);
