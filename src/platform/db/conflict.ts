// Why D1 refused a batch. D1's message names the columns of a violated key. Drizzle's message around it contains every bound value, so only what is
// parsed here may be logged.

/** The constraint that made D1 roll a batch back. */
export type BatchConflict =
  | { readonly kind: "unique"; readonly table: string; readonly columns: readonly string[] }
  /** An asserted fact is not true (the `assertions` table); the next read shows which one. */
  | { readonly kind: "assertion" };

const UNIQUE = /UNIQUE constraint failed: ((?:\w+\.\w+)(?:, \w+\.\w+)*)/;
const ASSERTION = /CHECK constraint failed: assertion_holds/;

/**
 * Follows `cause`, because `db.batch` throws D1's error, but a single statement throws a DrizzleQueryError around it. Undefined for any other error.
 */
export function batchConflict(error: unknown): BatchConflict | undefined {
  for (const message of d1Messages(error)) {
    if (ASSERTION.test(message)) return { kind: "assertion" };
    const columns = UNIQUE.exec(message)?.[1]
      ?.split(", ")
      .map((column) => column.split("."));
    const table = columns?.[0]?.[0];
    if (columns !== undefined && table !== undefined) {
      return { kind: "unique", table, columns: columns.map(([, column = ""]) => column) };
    }
  }
  return undefined;
}

/** Whether `conflict` violates exactly this key, or, without `columns`, any key of the table. */
export function isConflictOn(conflict: BatchConflict | undefined, table: string, columns?: readonly string[]): boolean {
  if (conflict?.kind !== "unique" || conflict.table !== table) return false;
  return columns === undefined || columns.join() === conflict.columns.join();
}

/** Keys that another writer can legitimately have inserted first: the failed change is decided again. A violation of any other key is a bug. */
const CONTENDED: readonly string[] = [
  "events(invoice_id, sequence)",
  "customers(merchant_id, email_key)",
  "invoices(merchant_id, external_id)",
  "payments(network, tx_hash, output_index, merchant_id)",
  "payments(network, tx_hash, output_index)",
  "members(merchant_id)",
  "members(merchant_id, user_id)",
  "users(email_key)",
  "identities(provider, subject)",
  "passkeys(credential_id)",
  "invitations(merchant_id, email_key)",
  "wallets(merchant_id, cryptocurrency, network)",
];

/** Whether another writer can have caused the conflict; otherwise it is a bug and must be thrown. */
export function isContention(conflict: BatchConflict): boolean {
  return conflict.kind === "assertion" || CONTENDED.includes(describeConflict(conflict));
}

/** Throws if no other writer can have caused the conflict. `name`: what was written, such as "a ping". */
export function throwUnlessContention(name: string, conflict: BatchConflict | undefined): void {
  if (conflict !== undefined && !isContention(conflict)) throw new Error(`${name} met ${describeConflict(conflict)}`);
}

/** Names the constraint, without any value from a row. */
export function describeConflict(conflict: BatchConflict): string {
  return conflict.kind === "assertion" ? "an assertion" : `${conflict.table}(${conflict.columns.join(", ")})`;
}

/**
 * The messages of an error and its causes, without drizzle's ("Failed query: ... params: ..."). That message contains all bound values: one of them
 * could look like a violation, and values must not be logged.
 */
export function d1Messages(error: unknown): readonly string[] {
  const messages: string[] = [];
  for (let at = error; at instanceof Error && messages.length < 8; at = at.cause) {
    messages.push(at.message.startsWith("Failed query:") ? "a query failed" : at.message);
  }
  return messages;
}
