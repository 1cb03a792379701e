import { sql } from "drizzle-orm";
import { parseJson } from "../../lib/typed-json.ts";
import type { Db } from "../../platform/db/client.ts";
import { type PreparedStatement, prepared } from "../../platform/db/prepared-statement.ts";
import { reportBuckets } from "../../platform/db/schema/report-buckets.ts";
import { COUNTS, type ReportEntry, type Sums } from "./bucket.ts";
import { digitGroupsOf, valueOfDigitGroups } from "./digit-groups.ts";

const ADDED = [
  ...COUNTS,
  "unitsLow",
  "unitsMid",
  "unitsHigh",
  "fiatLow",
  "fiatHigh",
] as const satisfies readonly (keyof typeof reportBuckets.$inferSelect)[];
type Added = Readonly<Record<(typeof ADDED)[number], bigint>>;

const columnOf = (name: (typeof ADDED)[number]) => sql.raw(reportBuckets[name].name);
const member = (name: string) => sql.raw(`item.value ->> '$.${name}'`);

const addItems = prepared(
  (items: readonly Item[]) => ({ items: JSON.stringify(items) }),
  (db, of) =>
    db
      .insert(reportBuckets)
      .select(
        // The rows for one bucket are added up first, so that many invoices created in one batch write only one row.
        sql`select invoice.merchant_id, ${member("startsAtMs")}, invoice.currency, ${member("network")}, ${member("cryptocurrency")},
        ${sql.join(
          ADDED.map((name) => sql`coalesce(sum(${member(name)}), 0)`),
          sql`, `,
        )}
        from json_each(${of.items}) item cross join invoices invoice on invoice.id = ${member("invoiceId")} group by 1, 2, 3, 4, 5`,
      )
      .onConflictDoUpdate({
        target: [
          reportBuckets.merchantId,
          reportBuckets.startsAtMs,
          reportBuckets.currency,
          reportBuckets.network,
          reportBuckets.cryptocurrency,
        ],
        set: Object.fromEntries(
          ADDED.map((name) => [name, sql`report_buckets.${columnOf(name)} + excluded.${columnOf(name)}`]),
        ),
      }),
  (all) => ({ items: JSON.stringify(all.flatMap(({ items }) => parseJson<readonly Item[]>(items))) }),
);

type Item = Readonly<Record<string, string | number>>;

/**
 * Adds entries to the buckets of their invoices' merchants and currencies. Put the statement in the batch of the change that it counts, after the
 * insert of a new invoice, so that a change is counted exactly when it is stored.
 */
export function addEntries(db: Db, entries: readonly ReportEntry[]): readonly PreparedStatement<unknown>[] {
  return entries.length === 0 ? [] : [addItems(db, entries.map(itemOf))];
}

function itemOf({ sums, ...place }: ReportEntry): Item {
  const { units = 0n, fiatMicros = 0n, ...counts } = sums;
  const [unitsLow = 0n, unitsMid = 0n, unitsHigh = 0n] = digitGroupsOf(units, 3);
  const [fiatLow = 0n, fiatHigh = 0n] = digitGroupsOf(fiatMicros, 2);
  const added: Partial<Added> = { ...counts, unitsLow, unitsMid, unitsHigh, fiatLow, fiatHigh };
  const changed = Object.entries(added).filter(([, value]) => value !== 0n);
  return { ...place, ...Object.fromEntries(changed.map(([name, value]) => [name, Number(value)])) };
}

interface Asked {
  readonly periods: readonly { readonly startsAtMs: number; readonly endsAtMs: number }[];
  /** Undefined for all currencies. */
  readonly currency?: string | undefined;
}

/** The sums of each period, by currency and coin. Reads only the buckets of the periods. `merchantId` may be unchecked. */
export const selectPeriodSums = prepared(
  (merchantId: string, { periods, currency = "" }: Asked) => ({
    merchantId,
    periods: JSON.stringify(periods.map(({ startsAtMs, endsAtMs }) => [startsAtMs, endsAtMs])),
    currency,
  }),
  (db, of) =>
    db
      .select({
        period: sql<number>`period.key`.as("period"),
        currency: sql<string>`bucket.currency`.as("bucket_currency"),
        network: sql<string>`bucket.network`.as("bucket_network"),
        cryptocurrency: sql<string>`bucket.cryptocurrency`.as("bucket_cryptocurrency"),
        sums: sql`json_object(${sql.join(
          ADDED.map((name) => sql`${sql.raw(`'${name}'`)}, cast(sum(bucket.${columnOf(name)}) as text)`),
          sql`, `,
        )})`
          .mapWith(sumsIn)
          .as("sums"),
      })
      .from(
        sql`json_each(${of.periods}) period cross join report_buckets bucket on bucket.merchant_id = ${of.merchantId}
        and bucket.starts_at_ms >= period.value ->> 0 and bucket.starts_at_ms < period.value ->> 1 and ${of.currency} in ('', bucket.currency)`,
      )
      .groupBy(sql`1, 2, 3, 4`)
      .orderBy(sql`1, 2, 3, 4`),
);

function sumsIn(json: string): Sums {
  const text = parseJson<Readonly<Record<keyof Added, string>>>(json);
  const { unitsLow, unitsMid, unitsHigh, fiatLow, fiatHigh, ...counts } = text;
  const big = (each: readonly string[]) => valueOfDigitGroups(each.map(BigInt));
  const { created, paid, overpaid, underpaid, expired, cancelled, timed, secondsToPaid, payments, unpriced } = counts;
  return {
    created: BigInt(created),
    paid: BigInt(paid),
    overpaid: BigInt(overpaid),
    underpaid: BigInt(underpaid),
    expired: BigInt(expired),
    cancelled: BigInt(cancelled),
    timed: BigInt(timed),
    secondsToPaid: BigInt(secondsToPaid),
    payments: BigInt(payments),
    unpriced: BigInt(unpriced),
    units: big([unitsLow, unitsMid, unitsHigh]),
    fiatMicros: big([fiatLow, fiatHigh]),
  };
}
