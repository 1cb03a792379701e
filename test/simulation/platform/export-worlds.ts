// Databases of generated merchants, with rows in every exported table and values that a text format may damage.
import type { DatabaseSync } from "node:sqlite";
import fc from "fast-check";

export const NOW_MS = Date.UTC(2026, 10, 23, 3);

/** Quotes, control characters, other scripts, text that looks like SQL or JSON, and texts longer than a statement may be. */
const anyText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom(
    "it's; DROP TABLE x;--",
    '{"a":"\\u0000"}',
    "line\nline\r\n\ttab",
    "'",
    '"',
    "CASE WHEN END;",
    "日本語 🎉",
    "",
  ),
  fc.constantFrom(9_999, 30_001).map((length) => "Ü'a".repeat(length / 3)),
);
const anyInteger = fc.oneof(fc.nat({ max: 9 }), fc.constantFrom(0, -1, 2 ** 53 - 1, NOW_MS - 1));

export const anyWorld = fc.record({
  texts: fc.array(anyText, { minLength: 1, maxLength: 6 }),
  integers: fc.array(anyInteger, { minLength: 1, maxLength: 5 }),
  merchants: fc.array(fc.record({ invoices: fc.nat({ max: 8 }), others: fc.nat({ max: 3 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
});
export type World = typeof anyWorld extends fc.Arbitrary<infer W> ? W : never;

type Value = string | number | null;
type Given = Readonly<Record<string, Value>>;

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly isUnique: number;
}

const COLUMNS = `SELECT name, type, "notnull", EXISTS (SELECT 1 FROM pragma_index_list(?1) i JOIN pragma_index_info(i.name) c
  WHERE i."unique" = 1 AND c.name = t.name) AS isUnique FROM pragma_table_info(?1) t`;

/** Fills the database. `insert` gives a row values for all columns that are not in `named`. */
export function fill(sqlite: DatabaseSync, world: World): void {
  let drawn = 0;
  const next = <T>(values: readonly T[]): T => values[drawn++ % values.length] as T;
  const insert = (table: string, named: Given): void => {
    // An import leaves these columns to a job.
    const given: Given = { ...named, search_text: null, indexed_at_ms: null };
    const columns = sqlite.prepare(COLUMNS).all(table) as unknown as Column[];
    const values = columns.map(({ name, type, notnull, isUnique }): Value => {
      const own = given[name];
      if (own !== undefined) return own;
      if (notnull === 0 && drawn++ % 3 === 0) return null;
      if (type.toLowerCase() === "integer") return next(world.integers);
      // A number at the end keeps texts unique. Texts of unique columns are also cut.
      const text = next(world.texts);
      return `${isUnique === 1 ? text.slice(0, 300) : text}${++drawn}`;
    });
    const names = columns.map(({ name }) => `"${name}"`).join();
    sqlite.prepare(`INSERT INTO ${table} (${names}) VALUES (${values.map(() => "?").join()})`).run(...values);
  };
  insert("network_cursors", { network: "ETH", is_resting: 0, progress: "{}" });
  insert("deployment_keys", { keyring: "ROW_MAC_KEY", key_id: "k1", fingerprint: "f1" });
  for (const [at, { invoices, others }] of world.merchants.entries()) {
    const merchant = { merchant_id: `mer_${at}`, created_at_ms: NOW_MS - 1_000 };
    insert("merchants", { id: `mer_${at}`, active_invoices: 0, public_invoices: 0 });
    for (let n = 0; n < invoices; n++)
      fillInvoice(insert, `inv_${at}x${n}`, { ...merchant, created_at_ms: NOW_MS - 9_000 - (n % 3) });
    for (let n = 0; n <= others; n++) fillOthers(insert, `${at}x${n}`, merchant);
    insert("teams", merchant);
  }
}

type Insert = (table: string, given: Given) => void;
type OfMerchant = { readonly merchant_id: string; readonly created_at_ms: number };

function fillInvoice(insert: Insert, id: string, of: OfMerchant): void {
  const own = { ...of, invoice_id: id };
  const pair = { network: "ETH", cryptocurrency: "USDT", address: `0x${id}` };
  insert("invoices", {
    ...of,
    id,
    customer_id: `cus_gone${id}`,
    event_sequence: 2,
    status: "AWAITING_PAYMENT",
    origin: "API",
  });
  insert("customers", { ...of, id: `cus_gone${id}`, deleted_at_ms: NOW_MS });
  insert("payment_methods", { ...own, ...pair, address_index: 3, status: "ACTIVE" });
  insert("method_amounts", { ...own, ...pair, released_at_ms: null });
  for (const sequence of [1, 2]) insert("events", { ...own, id: `evt_${id}x${sequence}`, sequence });
  for (const position of [0, 1]) insert("timeline_items", { ...own, position });
  for (const table of ["payments", "payment_claims"]) insert(table, { ...own, id: `${table}_${id}` });
  for (const table of ["checkouts", "receipts", "public_holds"]) insert(table, own);
}

function fillOthers(insert: Insert, id: string, of: OfMerchant): void {
  const webhook = { webhook_id: `whk_${id}` };
  insert("webhooks", { ...of, id: webhook.webhook_id });
  insert("webhook_secrets", { ...webhook, id: `sec_${id}` });
  insert("deliveries", { ...of, ...webhook, id: `del_${id}`, status: "PENDING" });
  insert("users", { id: `usr_${id}` });
  insert("members", { ...of, id: `mem_${id}`, user_id: `usr_${id}` });
  for (const table of ["passkeys", "identities", "backup_codes"]) insert(table, { user_id: `usr_${id}` });
  insert("wallets", {
    ...of,
    id: `wal_${id}`,
    network: "ETH",
    address: `0x${id}`,
    key_hash: `hash${id}`,
    next_index: 500,
    mac_key_id: "k1",
  });
  insert("address_proofs", { ...of, network: "ETH", target: `hash${id}` });
  insert("customers", { ...of, id: `cus_${id}`, deleted_at_ms: null });
  insert("customer_locations", { ...of, customer_id: `cus_${id}` });
  insert("payments", { ...of, id: `pay_${id}`, invoice_id: null });
  insert("events", { ...of, id: `evt_${id}`, invoice_id: null, sequence: null });
  for (const table of ["invitations", "api_keys", "products", "audit_events"])
    insert(table, { ...of, id: `${table}_${id}` });
  for (const table of ["images", "image_facts", "report_buckets"]) insert(table, of);
}
