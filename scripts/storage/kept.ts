// How long the rows of each table are kept, and the file that decides it. Tests compare each time with its file, and these tables with those from
// which rows are deleted.

export interface Kept {
  readonly kept: string;
  /** The file's path below the root; absent if no file deletes rows of the table. */
  readonly decidedIn?: string;
}

const WITHOUT_END: Kept = { kept: "without end" };
const FORGET_EXPIRED = "src/accounts/sign-in/delete-expired.ts";
const FORGET_DELIVERIES = "src/notifications/delivery-log/forget-deliveries.ts";
const PASSES = "src/detection/passes";

export const KEPT: Readonly<Record<string, Kept>> = {
  users: WITHOUT_END,
  sessions: { kept: "30 days after they ended", decidedIn: "src/accounts/sessions/store.ts" },
  passkeys: { kept: "until the user removes it", decidedIn: "src/accounts/passkeys/store.ts" },
  identities: { kept: "until the user unlinks it", decidedIn: "src/accounts/identities/store.ts" },
  backup_codes: {
    kept: "until other codes replace them or the authenticator app is switched off",
    decidedIn: "src/accounts/totp/store.ts",
  },
  email_codes: { kept: "25 hours after they were requested", decidedIn: FORGET_EXPIRED },
  single_use_tokens: { kept: "until they are used or expire", decidedIn: FORGET_EXPIRED },
  factor_guesses: { kept: "until the window ends", decidedIn: FORGET_EXPIRED },
  merchants: { kept: "without end; a deleted merchant has `deleted_at_ms`" },
  teams: WITHOUT_END,
  members: { kept: "until the member leaves or is removed", decidedIn: "src/accounts/teams/store.ts" },
  invitations: WITHOUT_END,
  invitation_mails: { kept: "1 day", decidedIn: "src/accounts/invitations/store.ts" },
  api_keys: { kept: "without end; a deleted key has `revoked_at_ms`" },
  audit_events: WITHOUT_END,
  notices: { kept: "until ten minutes have passed and nothing waits", decidedIn: "src/accounts/notices/store.ts" },
  images: { kept: "7 days after nothing refers to them", decidedIn: "src/accounts/images/forget-images.ts" },
  image_facts: { kept: "7 days after nothing refers to the image", decidedIn: "src/accounts/images/forget-images.ts" },

  wallets: { kept: "without end; a deleted wallet has `deleted_at_ms`" },
  address_proofs: WITHOUT_END,
  invoices: WITHOUT_END,
  timeline_items: WITHOUT_END,
  payment_methods: WITHOUT_END,
  method_amounts: { kept: "40 days after the end of monitoring", decidedIn: "src/commerce/amounts/released.ts" },
  public_holds: {
    kept: "until the invoice ends, that of an address until a payment is seen",
    decidedIn: "migrations/0000_schema.sql",
  },
  payments: {
    kept: "without end; after a restore, one that nobody had asked for is read again",
    decidedIn: "src/commerce/restores/store.ts",
  },
  payment_claims: WITHOUT_END,
  left_out_transfers: { kept: "1 day", decidedIn: "src/detection/matching/unmatched/forget-left-out.ts" },
  report_buckets: WITHOUT_END,
  customers: { kept: "without end; a deleted customer has `deleted_at_ms` and no personal data" },
  customer_locations: { kept: "until the customer is deleted", decidedIn: "src/commerce/customers/store.ts" },
  products: { kept: "without end; a deleted product has `deleted_at_ms`" },
  search_words: {
    kept: "as long as the invoice or the customer has the word",
    decidedIn: "src/commerce/search-index/store.ts",
  },
  checkouts: WITHOUT_END,
  receipts: {
    kept: "without end, unless the invoice is no longer paid when the mail is due",
    decidedIn: "src/notifications/receipts/store.ts",
  },
  receipt_mails: { kept: "1 day", decidedIn: "src/notifications/receipts/store.ts" },
  unsettled_invoices: { kept: "until the invoice is settled", decidedIn: "src/commerce/unsettled/store.ts" },
  merchant_turns: { kept: "without end: one row for each job" },

  events: { kept: "90 days", decidedIn: "src/platform/events/forget-events.ts" },
  webhooks: { kept: "until the merchant deletes it", decidedIn: "src/notifications/webhooks/store.ts" },
  webhook_secrets: {
    kept: "until the endpoint is deleted, or its next rotation after the overlap",
    decidedIn: "src/notifications/webhooks/store.ts",
  },
  deliveries: { kept: "30 days after the last change", decidedIn: FORGET_DELIVERIES },
  delivery_attempts: { kept: "30 days after the last change of the delivery", decidedIn: FORGET_DELIVERIES },
  operations: { kept: "25 hours", decidedIn: "src/platform/idempotency/store.ts" },
  assertions: { kept: "never: the table is always empty" },

  network_cursors: { kept: "without end: one row for each network" },
  network_rereads: {
    kept: "until an operator ends it, or the next one of the network replaces it",
    decidedIn: "src/detection/rereads/store.ts",
  },
  watch_turns: {
    kept: "until a lap finds no watched address of the merchant, an hour after the last activation at the earliest",
    decidedIn: `${PASSES}/turns/store.ts`,
  },
  stuck_addresses: { kept: "until a source answers for the address", decidedIn: `${PASSES}/by-address/store.ts` },

  deployment: WITHOUT_END,
  set_up_links: {
    kept: "used ones without end; a new link replaces an unused one",
    decidedIn: "scripts/new-setup-link.ts",
  },
  deployment_keys: WITHOUT_END,
  key_walks: { kept: "without end: one row" },
  job_runs: { kept: "without end: one row for each job" },
  operator_alerts: {
    kept: "until the cause is gone, and an hour has passed since its last mail",
    decidedIn: "src/notifications/operator-alerts/alert.ts",
  },
  alert_proof: { kept: "without end: one row" },
  restores: { kept: "without end: one row for each restore" },
  restore_findings: WITHOUT_END,
};
