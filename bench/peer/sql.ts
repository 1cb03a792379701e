// The peer's tables and statements: the floor's rows, and an event like the product's.

export const TABLES = `
CREATE TABLE api_keys (id text PRIMARY KEY, merchant_id text NOT NULL, hash text NOT NULL UNIQUE, permissions text NOT NULL, revoked_at bigint);
CREATE TABLE wallets (merchant_id text PRIMARY KEY, next_index integer NOT NULL);
CREATE TABLE idempotency_keys (
  merchant_id text NOT NULL, key text NOT NULL, body_hash text NOT NULL, answer text, created_at bigint NOT NULL, PRIMARY KEY (merchant_id, key)
);
CREATE TABLE customers (
  id text PRIMARY KEY, merchant_id text NOT NULL, email text, name text, address text, phone text, created_at bigint NOT NULL
);
CREATE TABLE invoices (
  id text PRIMARY KEY, merchant_id text NOT NULL, customer_id text, name text NOT NULL, description text, redirect_url text,
  raw_amount numeric(20, 6) NOT NULL, end_amount numeric(20, 6) NOT NULL, currency text NOT NULL, status text NOT NULL,
  expires_at bigint NOT NULL, created_at bigint NOT NULL, updated_at bigint NOT NULL
);
CREATE INDEX invoices_merchant ON invoices (merchant_id, created_at DESC, id DESC);
CREATE TABLE timeline_items (id text PRIMARY KEY, invoice_id text NOT NULL, status text NOT NULL, at bigint NOT NULL);
CREATE INDEX timeline_items_invoice ON timeline_items (invoice_id);
CREATE TABLE payment_methods (id text PRIMARY KEY, invoice_id text NOT NULL, address text NOT NULL, amount numeric, created_at bigint NOT NULL);
CREATE INDEX payment_methods_invoice ON payment_methods (invoice_id);
CREATE TABLE events (
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, merchant_id text NOT NULL, type text NOT NULL, invoice_id text NOT NULL,
  body text NOT NULL, created_at bigint NOT NULL
);
CREATE INDEX events_merchant ON events (merchant_id, sequence);
`;

export const INSERT_KEY = "INSERT INTO api_keys VALUES ($1, $2, $3, 'INVOICE_CREATE', NULL)";
export const INSERT_WALLET = "INSERT INTO wallets VALUES ($1, 0)";

/** Each is prepared once per connection, under its name. */
export const STATEMENTS = {
  findKey: "SELECT id, merchant_id, permissions FROM api_keys WHERE hash = $1 AND revoked_at IS NULL",
  reserveKey:
    "INSERT INTO idempotency_keys (merchant_id, key, body_hash, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
  insertCustomer: "INSERT INTO customers VALUES ($1, $2, $3, $4, $5, $6, $7)",
  insertInvoice: "INSERT INTO invoices VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
  insertTimelineItem: "INSERT INTO timeline_items VALUES ($1, $2, $3, $4)",
  takeIndex: "UPDATE wallets SET next_index = next_index + 1 WHERE merchant_id = $1 RETURNING next_index - 1 AS index",
  insertMethod: "INSERT INTO payment_methods VALUES ($1, $2, $3, NULL, $4)",
  insertEvent:
    "INSERT INTO events (merchant_id, type, invoice_id, body, created_at) VALUES ($1, 'invoice.created', $2, $3, $4)",
  keepAnswer: "UPDATE idempotency_keys SET answer = $3 WHERE merchant_id = $1 AND key = $2",
} as const;

export const COUNT_ROWS = `SELECT
  (SELECT count(*)::int FROM invoices) AS invoices, (SELECT count(*)::int FROM timeline_items) AS items,
  (SELECT count(*)::int FROM events) AS events, (SELECT count(answer)::int FROM idempotency_keys) AS answers,
  current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit`;
