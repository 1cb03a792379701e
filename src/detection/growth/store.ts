import { sql } from "drizzle-orm";
import type { PaymentId } from "../../lib/ids.ts";
import { jsonObject, orNull, rowDecoder } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { payments } from "../../platform/db/schema/payments.ts";

// A list is one JSON parameter. Each entry is looked up through an index: growth by its identifier, the value of a transaction by its block.
const network = sql.placeholder("network");
const listed = sql`json_each(${sql.placeholder("list")}) item`;
const member = (name: string) => sql.raw(`item.value ->> '$.${name}'`);
const isHere = (alias: string) =>
  sql.raw(`${alias}.to_address = item.value ->> '$.address' and ${alias}.block_hash = item.value ->> '$.blockHash'`);
const growthOfHeight = sql`grown.network = ${network} and grown.tx_hash = 'block:' || (${member("height")})`;
const growthHere = sql`${growthOfHeight} and ${isHere("grown")}`;
const nativeHere = sql`paid.network = ${network} and paid.output_index = 'native' and paid.block_height = ${member("height")}
  and ${isHere("paid")}`;

/** An address in one block. */
export interface BlockPlace {
  readonly address: string;
  readonly height: number;
  readonly blockHash: string;
}

const growthOnceHere = sql`${growthOfHeight} and grown.to_address = ${member("address")} and ${member("blockHash")} = coalesce(grown.block_hash,
    case when json_valid(grown.evidence) then grown.evidence ->> '$.explainedIn' end)`;

/**
 * The rows of growth stored for these addresses and blocks, of all merchants, including those that no longer count because transactions explained
 * them (these have no block); `row` is null if it cannot be decoded.
 */
export const selectStoredGrowth = prepared(
  (name: string, places: readonly BlockPlace[]) => ({ network: name, list: JSON.stringify(places) }),
  (db) =>
    db
      .select({
        id: sql<PaymentId>`grown.id`.as("grown_id"),
        address: sql<string>`grown.to_address`.as("grown_address"),
        blockHash: sql<string>`${member("blockHash")}`.as("grown_block"),
        row: sql`${jsonObject(payments, "grown")}`.mapWith(orNull(rowDecoder(payments))).as("row"),
      })
      .from(sql`${listed} cross join payments grown on ${growthOnceHere}`),
);

/** Payments to these addresses by transactions in these blocks, each once. */
export const selectExplainers = prepared(
  (name: string, places: readonly BlockPlace[]) => ({ network: name, list: JSON.stringify(places) }),
  (db) =>
    db
      .selectDistinct({
        address: sql<string>`paid.to_address`.as("paid_address"),
        blockHash: sql<string>`paid.block_hash`.as("paid_block"),
        txHash: sql<string>`paid.tx_hash`.as("paid_hash"),
        units: sql<string>`paid.amount_units`.as("paid_units"),
      })
      .from(sql`${listed} cross join payments paid on ${nativeHere}`),
);

/** A transfer of the native coin that a batch writes. */
export interface CountedOnce extends BlockPlace {
  readonly outputIndex: string;
  /** `explainerMark` of its transaction; null for growth. */
  readonly mark: string | null;
  /** For growth: the transactions that were subtracted. */
  readonly explainedBy: readonly string[];
  /** Rows of growth that the same batch removes. */
  readonly replaces: readonly PaymentId[];
}

const isReplaced = sql`grown.id in (select value from json_each(item.value, '$.replaces'))`;

/** Aborts the batch if growth and its explanation would both count; precedes the rows in the batch. */
export const assertCountedOnce = prepared(
  (name: string, transfers: readonly CountedOnce[]) => ({ network: name, list: JSON.stringify(transfers) }),
  (db) =>
    db.insert(assertions).select(
      sql`select 'coins count once', 0 where exists (select 1 from ${listed} where
      ${member("mark")} is null and exists (select 1 from payments paid where ${nativeHere}
        and substr(paid.tx_hash, 1, 12) not in (select value from json_each(item.value, '$.explainedBy')))
      or ${member("mark")} is null and exists (select 1 from payments grown where ${growthHere}
        and grown.output_index <> ${member("outputIndex")} and not ${isReplaced})
      or ${member("mark")} is not null and exists (select 1 from payments grown where ${growthHere} and not ${isReplaced}
        and ${member("mark")} not in (select value from json_each(grown.evidence, '$.explainedBy'))))`,
    ),
);
