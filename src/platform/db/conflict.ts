// Why a batch was refused. D1 names the columns of a violated key in its message; drizzle's own message around it holds every bound
// value, so only what is parsed here may reach a log.

/** The constraint that made D1 roll a batch back. */
export type BatchConflict =
  | { readonly kind: "unique"; readonly table: string; readonly columns: readonly string[] }
  /** A fact of the `assertions` table did not hold; which one, the next read shows. */
  | { readonly kind: "assertion" };

const UNIQUE = /UNIQUE constraint failed: ((?:\w+\.\w+)(?:, \w+\.\w+)*)/;
const ASSERTION = /CHECK constraint failed: assertion_holds/;

/** Walks `cause`: `db.batch` throws D1's error, a single statement a DrizzleQueryError around it. Undefined for any other error. */
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

/** Whether `conflict` is the violation of exactly this key. */
export function isConflictOn(conflict: BatchConflict | undefined, table: string, columns?: readonly string[]): boolean {
  if (conflict?.kind !== "unique" || conflict.table !== table) return false;
  return columns === undefined || columns.join() === conflict.columns.join();
}

/** Keys that another writer may hold by right: the batch that fails is decided again. Any other violated key is a bug. */
const CONTENDED: readonly string[] = [
  "events(invoice_id, sequence)",
  "customers(merchant_id, email_key)",
  "invoices(merchant_id, external_id)",
  "amount_reservations(network, cryptocurrency, address, units, rank)",
  "payments(merchant_id, network, tx_hash, output_index)",
  "payments(network, tx_hash, output_index)",
  "members(merchant_id)",
  "members(merchant_id, user_id)",
  "users(email_key)",
  "identities(provider, subject)",
  "passkeys(credential_id)",
  "invitations(merchant_id, email_key)",
  "wallets(merchant_id, cryptocurrency, network)",
];

/** Whether a batch may have failed because of another writer; otherwise it is a bug and must throw. */
export function isContention(conflict: BatchConflict): boolean {
  return conflict.kind === "assertion" || CONTENDED.includes(describeConflict(conflict));
}

/** Throws where no other writer can have caused the conflict. `name` of what met it, as in "a ping". */
export function throwUnlessContention(name: string, conflict: BatchConflict | undefined): void {
  if (conflict !== undefined && !isContention(conflict)) throw new Error(`${name} met ${describeConflict(conflict)}`);
}

/** The constraint by name; no value of a row is in it. */
export function describeConflict(conflict: BatchConflict): string {
  return conflict.kind === "assertion" ? "an assertion" : `${conflict.table}(${conflict.columns.join(", ")})`;
}

/**
 * The messages of an error and its causes, without those of drizzle ("Failed query: ... params: ..."), which hold all bound values: a
 * value that looks like a violation must not be read as one, and none may be logged.
 */
export function d1Messages(error: unknown): readonly string[] {
  const messages: string[] = [];
  for (let at = error; at instanceof Error && messages.length < 8; at = at.cause) {
    messages.push(at.message.startsWith("Failed query:") ? "a query failed" : at.message);
  }
  return messages;
}
