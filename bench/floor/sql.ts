// Every statement of the floor, in one list: test/unit/bench/floor.test.ts checks the shapes against it, so the baseline cannot
// drift.

/**
 * The floor's own tables: the minimum that a create must write, without settings, wallets, events or stored answers of operations.
 */
export const TABLES: readonly string[] = [
  "CREATE TABLE api_key (id TEXT PRIMARY KEY, merchant_id TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, permissions TEXT NOT NULL, revoked_at INTEGER)",
  "CREATE TABLE customer (id TEXT PRIMARY KEY, merchant_id TEXT NOT NULL, email TEXT, name TEXT, address TEXT, phone TEXT, created_at INTEGER NOT NULL)",
  "CREATE TABLE invoice (id TEXT PRIMARY KEY, merchant_id TEXT NOT NULL, customer_id TEXT, product_id TEXT, name TEXT NOT NULL, description TEXT, redirect_url TEXT, raw_amount TEXT NOT NULL, end_amount TEXT NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL, expires_at INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL)",
  "CREATE INDEX invoice_merchant ON invoice (merchant_id, created_at DESC, id DESC)",
  "CREATE TABLE timeline (id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, payment_status TEXT NOT NULL, time INTEGER NOT NULL)",
  "CREATE INDEX timeline_invoice ON timeline (invoice_id)",
  "CREATE TABLE payment (id TEXT PRIMARY KEY, invoice_id TEXT NOT NULL, address TEXT NOT NULL, amount TEXT, at INTEGER NOT NULL)",
  "CREATE INDEX payment_invoice ON payment (invoice_id)",
  "CREATE TABLE idem (merchant_id TEXT NOT NULL, k TEXT NOT NULL, h TEXT NOT NULL, res TEXT, at INTEGER NOT NULL, PRIMARY KEY (merchant_id, k)) WITHOUT ROWID",
];

const INVOICE_COLUMNS =
  "id,merchant_id,customer_id,name,description,redirect_url,raw_amount,end_amount,currency,status,expires_at,created_at,updated_at";

export const D1 = {
  insertKey: "INSERT INTO api_key VALUES (?,?,?,?,?,NULL)",
  findKey: "SELECT id,merchant_id,kind,permissions FROM api_key WHERE hash=? AND revoked_at IS NULL",
  insertCustomer: "INSERT INTO customer (id,merchant_id,email,name,address,phone,created_at) VALUES (?,?,?,?,?,?,?)",
  insertInvoice: `INSERT INTO invoice (${INVOICE_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)`,
  insertTimeline: "INSERT INTO timeline VALUES (?,?,?,?)",
  insertPayment: "INSERT INTO payment VALUES (?,?,?,?,?)",
  insertAnswer: "INSERT INTO idem VALUES (?,?,?,?,?)",
  selectOne: "SELECT 1",
  countRows:
    "SELECT (SELECT count(*) FROM invoice) AS invoices, (SELECT count(*) FROM timeline) AS items, (SELECT count(*) FROM payment) AS payments",
} as const;

/** Statements of a group. On D1 there is one per table, no matter how many rows; the others run in the group's object. */
export const GROUP = {
  findKeys:
    "SELECT hash,merchant_id,permissions FROM api_key WHERE hash IN (SELECT value FROM json_each(?)) AND revoked_at IS NULL",
  findAnswers: "SELECT k,h,res FROM idem WHERE merchant_id='mer_1' AND k IN (SELECT value FROM json_each(?))",
  insertCustomers: insertFromJson("customer (id,merchant_id,email,name,address,phone,created_at)", 7),
  insertInvoices: insertFromJson(`invoice (${INVOICE_COLUMNS})`, 13),
  insertTimelines: insertFromJson("timeline", 4),
  insertPayments: insertFromJson("payment", 5),
  insertAnswers: insertFromJson("idem", 5),
  createIndex: "CREATE TABLE IF NOT EXISTS w (id INTEGER PRIMARY KEY, idx INTEGER NOT NULL)",
  takeIndices: "INSERT INTO w VALUES (1,?) ON CONFLICT (id) DO UPDATE SET idx=idx+excluded.idx RETURNING idx",
} as const;

/** Inserts the rows of one JSON array of arrays. */
function insertFromJson(table: string, columns: number): string {
  const values = Array.from({ length: columns }, (_, i) => `value->>${i}`);
  return `INSERT INTO ${table} SELECT ${values.join(",")} FROM json_each(?)`;
}

/** Statements in the object that reserves idempotency keys. */
export const RESERVATIONS = {
  createTable: "CREATE TABLE IF NOT EXISTS idem (k TEXT PRIMARY KEY, h TEXT NOT NULL, res TEXT, at INTEGER NOT NULL)",
  find: "SELECT h,res FROM idem WHERE k=?",
  insert: "INSERT INTO idem (k,h,at) VALUES (?,?,?)",
  complete: "UPDATE idem SET res=? WHERE k=?",
  createIndexTable: "CREATE TABLE IF NOT EXISTS w (id INTEGER PRIMARY KEY, idx INTEGER NOT NULL)",
  nextIndex: "INSERT INTO w VALUES (1,1) ON CONFLICT (id) DO UPDATE SET idx=idx+1 RETURNING idx",
  insertWithIndex: "INSERT INTO idem (k,h,res,at) VALUES (?,?,?,?)",
} as const;

/** Statements in the object that counts a wallet's addresses. */
export const WALLET = {
  createIndex: "CREATE TABLE IF NOT EXISTS w (id INTEGER PRIMARY KEY, idx INTEGER NOT NULL)",
  createAddresses: "CREATE TABLE IF NOT EXISTS a (i INTEGER PRIMARY KEY, inv TEXT NOT NULL, addr TEXT)",
  start: "INSERT OR IGNORE INTO w VALUES (1, 0)",
  readIndex: "SELECT idx FROM w WHERE id=1",
  writeIndex: "UPDATE w SET idx=? WHERE id=1",
  insertAddress: "INSERT INTO a VALUES (?,?,?)",
} as const;
