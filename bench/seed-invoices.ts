// Fills a merchant with old invoices and their relations, in SQL: creating a million over HTTP would take an hour.
import type { BenchDatabase } from "./serve.ts";

const MINUTE_MS = 60_000;
/** Rows per statement. */
const CHUNK = 10_000;
/** Invoices per customer. */
const INVOICES_A_CUSTOMER = 10;

/**
 * An id in the form of a ULID. Its digits are the invoice's number `n`, so ids sort in order of creation.
 */
const id = (prefix: string, n: string) => `'${prefix}_01' || printf('%024d', ${n})`;
const CUSTOMER_NUMBER = `(n / ${INVOICES_A_CUSTOMER}) * ${INVOICES_A_CUSTOMER}`;

const NUMBERS =
  "WITH RECURSIVE numbers(n) AS (SELECT cast(?1 AS integer) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2)";
/** ?3 is the merchant, ?4 the time of invoice 0; each further invoice is created a second later. */
const CREATED_AT = "?4 + n * 1000";

/** SQL of the values that differ between seeded invoices. */
interface State {
  readonly status: string;
  readonly paidMicros: string;
  readonly expiresAt: string;
}

/** Numbers as the product writes them (src/commerce/search-index/words.ts). */
const PADDED = "printf('%07d', n)";
const wordsOf = (kind: "I" | "C", words: string, which = "?4 > 0") =>
  `INSERT OR IGNORE INTO search_words (merchant_id, kind, word, id)
   ${NUMBERS} SELECT ?3, '${kind}', word.value, ${id(kind === "I" ? "inv" : "cus", "n")}
   FROM numbers, json_each(json_array(${words})) word WHERE ${which}`;

const statementsOf = ({ status, paidMicros, expiresAt }: State): readonly string[] => [
  `INSERT INTO customers (id, merchant_id, email, email_key, name, created_at_ms, updated_at_ms, search_text, indexed_at_ms)
   ${NUMBERS} SELECT ${id("cus", "n")}, ?3, 'seed-' || n || '@example.com', 'seed-' || n || '@example.com', 'Seed', ${CREATED_AT}, ${CREATED_AT},
     ' seed#seed#' || n || '#example#com', ${CREATED_AT}
   FROM numbers WHERE n % ${INVOICES_A_CUSTOMER} = 0`,
  `INSERT INTO invoices (id, merchant_id, customer_id, external_id, name, amount_micros, currency, status, received_micros, confirmed_micros, is_late,
     needs_review, warnings, underpaid_tolerance_micros, overpaid_tolerance_micros, late_payment_policy, rate_lock_seconds,
     monitor_seconds, origin, event_sequence, timeline_position, expires_at_ms, monitor_until_ms, created_at_ms, updated_at_ms, search_text,
     indexed_at_ms)
   ${NUMBERS} SELECT ${id("inv", "n")}, ?3, ${id("cus", CUSTOMER_NUMBER)}, 'SHOP-2026-' || ${PADDED}, 'Order ' || n, 25500000, 'USD',
     ${status}, ${paidMicros}, ${paidMicros}, 0,
     0, '[]', 255000, 1275000, 'REVIEW', 3600,
     86400, 'API', 1, 1, ${expiresAt}, ${expiresAt} + 86400000, ${CREATED_AT}, ${CREATED_AT}, ' order ' || n || '#shop#2026#' || ${PADDED} || '#' || n,
     ${CREATED_AT} FROM numbers`,
  wordsOf("C", "'seed', n || '', 'example', 'com'", `?4 > 0 AND n % ${INVOICES_A_CUSTOMER} = 0`),
  wordsOf("I", `'order', n || '', 'shop', '2026', ${PADDED}`),
  `INSERT INTO timeline_items (id, invoice_id, position, payment_status, time_ms)
   ${NUMBERS} SELECT ${id("itl", "n")}, ${id("inv", "n")}, 1, 'AWAITING_PAYMENT', ${CREATED_AT} FROM numbers`,
  `INSERT INTO events (id, merchant_id, type, invoice_id, sequence, data, created_at_ms)
   ${NUMBERS} SELECT ${id("evt", "n")}, ?3, 'invoice.created', ${id("inv", "n")}, 1, '{}', ${CREATED_AT} FROM numbers`,
];

const FINISHED: State = {
  status: "CASE WHEN n % 10 = 0 THEN 'EXPIRED' ELSE 'PAID' END",
  paidMicros: "25500000",
  expiresAt: `${CREATED_AT} + 3600000`,
};

export interface SeededRange {
  /** How many bytes the word index has added to the database. */
  readonly wordBytes: number;
  /** Creation time and id of the invoice with this number; 0 is the oldest. */
  readonly positionOf: (n: number) => { readonly createdAtMs: number; readonly id: string };
}

/** Adds `count` finished invoices, one customer for every ten, and for each a timeline item and an event. */
export async function seedInvoices(
  database: BenchDatabase,
  merchantId: string,
  count: number,
  progress: (text: string) => void,
): Promise<SeededRange> {
  const startMs = Date.now() - (count + 3_600) * 1_000;
  let wordBytes = 0;
  for (let from = 0; from < count; from += CHUNK) {
    progress(`seeding invoices, ${from} of ${count}`);
    const to = Math.min(from + CHUNK, count);
    wordBytes += await insert(database, FINISHED, [from, to, merchantId, startMs]);
  }
  const row = await database
    .prepare("SELECT count(*) AS rows FROM invoices WHERE merchant_id = ?")
    .bind(merchantId)
    .first<{ rows: number }>();
  if (row?.rows !== count) throw new Error(`${row?.rows} invoices were seeded, not ${count}`);
  return {
    wordBytes,
    positionOf: (n) => ({ createdAtMs: startMs + n * 1_000, id: `inv_01${String(n).padStart(24, "0")}` }),
  };
}

/**
 * Adds `count` invoices without payments, divided evenly among the merchants. All of them became due within the last minute.
 */
export async function seedDueInvoices(
  database: BenchDatabase,
  merchantIds: readonly string[],
  count: number,
  progress: (text: string) => void,
): Promise<void> {
  const ofEach = count / merchantIds.length;
  if (ofEach % INVOICES_A_CUSTOMER !== 0) throw new Error(`${count} invoices cannot be divided evenly`);
  const nowMs = Date.now();
  const startMs = nowMs - (count + 3_600) * 1_000;
  const state = { status: "'AWAITING_PAYMENT'", paidMicros: "0", expiresAt: `${nowMs - MINUTE_MS} + n % ${MINUTE_MS}` };
  for (const [n, merchantId] of merchantIds.entries()) {
    for (let from = 0; from < ofEach; from += CHUNK) {
      progress(`seeding due invoices, ${n * ofEach + from} of ${count}`);
      const first = n * ofEach;
      await insert(database, state, [first + from, first + Math.min(from + CHUNK, ofEach), merchantId, startMs]);
    }
  }
}

/** The values of ?1 to ?4. */
type Values = readonly [number, number, string, number];

/** Returns how many bytes the word statements have added to the database. */
async function insert(database: BenchDatabase, state: State, values: Values): Promise<number> {
  const statements = statementsOf(state);
  const done = await database.batch(statements.map((sql) => database.prepare(sql).bind(...values)));
  const bytesAfter = (n: number) => done[n]?.meta.size_after ?? Number.NaN;
  return statements
    .map((sql, n) => (sql.includes("search_words") ? bytesAfter(n) - bytesAfter(n - 1) : 0))
    .reduce((sum, bytes) => sum + bytes, 0);
}
