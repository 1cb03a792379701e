// The tables in an export of a merchant, in the order in which they are read. Everything that belongs to an invoice is read with it in one batch, so
// each invoice is complete and consistent. Rows that invoices refer to are read after the invoices, so they are always included. Rows are exported as
// stored, with hashed, sealed and signed columns unchanged; no table holds a secret in plain text.

/** Rows that are read page by page, in the order of `key`. SQL: `t` is the row, `page` the keys of the page. */
export interface Walk {
  readonly table: string;
  /** SQL that reads the table as `t` through an index in the order of `key`; the table alone if absent. */
  readonly from?: string;
  /** The column that names the owner of the rows. */
  readonly scope?: string;
  readonly key: readonly string[];
  readonly limit: number;
  /** Leaves out rows created after the export of the merchant began. */
  readonly endsAtCut?: boolean;
  /** The condition of a partial index. */
  readonly where?: string;
  /** The rows on the page that are exported. Applied after the limit, so that each page reads a bounded number of rows. */
  readonly filter?: string;
  /** Further rows that belong to the rows on the page: `from` starts with the table joined to `page`, and `c` is the row. */
  readonly companions?: readonly { readonly table: string; readonly from: string }[];
}

/** A few rows, read all at once. `from` has a `?` for the merchant if the rows are the merchant's; `c` is the row. */
export interface Whole {
  readonly table: string;
  readonly from: string;
}

const ofInvoice = (table: string) => ({ table, from: `${table} c on c.invoice_id = page.id` });

/**
 * How far networks had been read before any invoice was read: an import continues from there, so a payment that an exported invoice does not have yet
 * is found again. Also the deployment's keys with which some of the merchant's rows are sealed or signed: ids, fingerprints, and the kept parts of
 * retired keys, but no secret in plain text.
 */
export const OPENING: readonly Whole[] = [
  { table: "network_cursors", from: "network_cursors c" },
  { table: "deployment_keys", from: "deployment_keys c" },
];

export const WALKS: readonly Walk[] = [
  // Deliveries are read before events, so that no delivery lacks its event. Those that succeeded or failed for good are only a log, not exported.
  {
    table: "deliveries",
    from: "webhooks w cross join deliveries t on t.webhook_id = w.id and t.status = 'PENDING'",
    scope: "w.merchant_id",
    key: ["webhook_id", "rowid"],
    limit: 500,
    endsAtCut: true,
  },
  // Payments without an invoice are read before invoices: one that is assigned in the meantime is read twice rather than missed. If a row occurs
  // twice, the later one counts.
  {
    table: "payments",
    key: ["created_at_ms", "id"],
    limit: 1_000,
    endsAtCut: true,
    filter: "t.invoice_id is null",
  },
  {
    table: "invoices",
    key: ["created_at_ms", "id"],
    limit: 50,
    endsAtCut: true,
    companions: [
      ofInvoice("payment_methods"),
      ofInvoice("timeline_items"),
      ofInvoice("events"),
      ofInvoice("payments"),
      ofInvoice("payment_claims"),
      ofInvoice("public_holds"),
      ofInvoice("checkouts"),
      ofInvoice("receipts"),
      {
        table: "method_amounts",
        // Two methods never share an amount, so no row occurs twice.
        from: `payment_methods m on m.invoice_id = page.id cross join method_amounts c on c.network = m.network
          and c.cryptocurrency = m.cryptocurrency and c.address = m.address and c.invoice_id = m.invoice_id`,
      },
      {
        table: "customers",
        from: `invoices i on i.id = page.id cross join customers c on c.id = i.customer_id and c.deleted_at_ms is not null group by c.id`,
      },
    ],
  },
  { table: "events", key: ["rowid"], limit: 1_000, endsAtCut: true, filter: "t.invoice_id is null" },
  {
    table: "customers",
    where: "t.deleted_at_ms is null",
    key: ["created_at_ms", "id"],
    limit: 500,
    companions: [{ table: "customer_locations", from: "customer_locations c on c.customer_id = page.id" }],
  },
  { table: "products", key: ["name", "rowid"], limit: 500 },
  { table: "images", key: ["name"], limit: 5 },
  { table: "image_facts", key: ["name"], limit: 1_000 },
  { table: "report_buckets", key: ["starts_at_ms", "currency", "network", "cryptocurrency"], limit: 500 },
  { table: "audit_events", key: ["created_at_ms", "id"], limit: 500, endsAtCut: true },
];

const USERS = "members m cross join users u on u.id = m.user_id";

/** The merchant, its team, its keys, wallets and webhook endpoints, as one consistent snapshot. */
export const CLOSING: readonly Whole[] = [
  ...["teams", "members", "invitations", "api_keys", "wallets", "webhooks"].map((table) => ({
    table,
    from: `${table} c where c.merchant_id = ?`,
  })),
  { table: "users", from: `members m cross join users c on c.id = m.user_id where m.merchant_id = ?` },
  ...["passkeys", "identities", "backup_codes"].map((table) => ({
    table,
    from: `${USERS} cross join ${table} c on c.user_id = u.id where m.merchant_id = ?`,
  })),
  {
    table: "webhook_secrets",
    from: "webhooks w cross join webhook_secrets c on c.webhook_id = w.id where w.merchant_id = ?",
  },
  // This includes the proofs of deleted wallets, because a deleted wallet keeps its row.
  {
    table: "address_proofs",
    from: `(select distinct network, coalesce(key_hash, address) as target, merchant_id from wallets where merchant_id = ?) w
      cross join address_proofs c on c.network = w.network and c.target = w.target and c.merchant_id = w.merchant_id`,
  },
  { table: "merchants", from: "merchants c where c.id = ?" },
];

/** Tables whose rows have no rowid. Other rows are exported with their rowid, because events and deliveries are ordered by it. */
export const WITHOUT_ROWID: ReadonlySet<string> = new Set([
  "address_proofs",
  "audit_events",
  "checkouts",
  "customer_locations",
  "customers",
  "invoices",
  "method_amounts",
  "public_holds",
  "report_buckets",
  "timeline_items",
]);

/** Why a table is not exported. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  sessions: "users sign in again",
  email_codes: "valid for minutes",
  single_use_tokens: "valid for minutes",
  factor_guesses: "counts of a quarter of an hour",
  deployment: "about the deployment, not about a merchant",
  set_up_links: "about the deployment; a link is valid for a day",
  operator_alerts: "alerts to operators, about the deployment",
  alert_proof: "about the deployment: whether its alerts arrive",
  restores: "about the deployment: how far an import has come",
  restore_findings: "about the deployment, for its operators",
  network_rereads: "about the deployment's networks",
  key_walks: "how far a job has come",
  job_runs: "how far a job has come",
  search_words: "made again by a job, from the rows that they find",
  merchant_turns: "how far a job has come",
  unsettled_invoices: "when a job tries again; it tries at once",
  watch_turns: "made again by a trigger when payment methods are inserted",
  stuck_addresses: "found again by the watcher",
  left_out_transfers: "decided again by the watcher, with the same result",
  delivery_attempts: "a log of what was sent, with what receivers answered",
  receipt_mails: "counts of an hour and a day, for limits",
  invitation_mails: "counts of a day, for limits",
  notices: "mails that are joined for minutes",
  operations: "answers of 25 hours, whose keys are in the merchant's object and do not come along",
  assertions: "always empty",
};

export const EXPORTED: ReadonlySet<string> = new Set(
  [...OPENING, ...CLOSING, ...WALKS, ...WALKS.flatMap(({ companions = [] }) => companions)].map(({ table }) => table),
);
