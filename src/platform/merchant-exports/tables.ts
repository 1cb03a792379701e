// What an export of a merchant holds, table by table, and in which order it is read. All that hangs on an invoice is read with it in one batch, so each
// invoice is whole and as it was at one moment. What invoices refer to is read after them, so whatever they name is there.
// Rows are exported as they are stored: hashed, sealed and signed columns stay so, and there is no secret in the clear in any table.

/** Rows that are read page by page, in the order of `key`. SQL: `t` is the row, `page` the keys of the page. */
export interface Walk {
  readonly table: string;
  /** The rows of the merchant with an index that has the order of `key`; `t` only where it is not left out. */
  readonly from?: string;
  /** Which column says whose rows they are. */
  readonly scope?: string;
  readonly key: readonly string[];
  readonly limit: number;
  /** Leaves out what was made after the export of the merchant began. */
  readonly endsAtCut?: boolean;
  /** What an index has only rows of. */
  readonly where?: string;
  /** Of the rows that the page reads, those that are exported. Applied after the limit, so that each page reads a bounded number of rows. */
  readonly filter?: string;
  /** Rows that belong to those of the page: `from` begins with what is joined to `page`, and `c` is the row. */
  readonly companions?: readonly { readonly table: string; readonly from: string }[];
}

/** Rows that are few, and are read at once. `from`: with `?` for the merchant, if they are the merchant's; `c` is the row. */
export interface Whole {
  readonly table: string;
  readonly from: string;
}

const ofInvoice = (table: string) => ({ table, from: `${table} c on c.invoice_id = page.id` });

/**
 * How far networks were read before any invoice was: an import goes on from there, so a payment that an invoice of the export does not know yet is found
 * again. And the deployment's keys, which some of the merchant's rows are sealed or signed with: ids, fingerprints and sealed remains, no key.
 */
export const OPENING: readonly Whole[] = [
  { table: "network_cursors", from: "network_cursors c" },
  { table: "deployment_keys", from: "deployment_keys c" },
];

export const WALKS: readonly Walk[] = [
  // Before the events that they are about, so that none is owed that is not there. What was delivered, or failed for good, is a log that stays behind.
  {
    table: "deliveries",
    from: "webhooks w cross join deliveries t on t.webhook_id = w.id and t.status = 'PENDING'",
    scope: "w.merchant_id",
    key: ["webhook_id", "rowid"],
    limit: 500,
    endsAtCut: true,
  },
  // Before invoices: one that is assigned to an invoice meanwhile is read twice, and not never. Of a row that is there twice the later one counts.
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
        // Several methods never have one amount, so no row comes twice.
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

/** Who the merchant is, who belongs to it, where its money goes and who is told, all as at one moment. */
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
  // Those of the wallets that were ever there: a deleted wallet keeps its row.
  {
    table: "address_proofs",
    from: `(select distinct network, coalesce(key_hash, address) as target, merchant_id from wallets where merchant_id = ?) w
      cross join address_proofs c on c.network = w.network and c.target = w.target and c.merchant_id = w.merchant_id`,
  },
  { table: "merchants", from: "merchants c where c.id = ?" },
];

/** Tables whose rows have no rowid; of all others it is exported too, because the order of events and deliveries is that of their rowids. */
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

/** Why a table is in no export. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  sessions: "users sign in again",
  email_codes: "valid for minutes",
  single_use_tokens: "valid for minutes",
  factor_guesses: "counts of a quarter of an hour",
  deployment: "about the deployment, not about a merchant",
  set_up_links: "about the deployment; a link is valid for a day",
  operator_alerts: "mails to operators, about the deployment",
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
