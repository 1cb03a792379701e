// Minimal versions of the objects that the merchant's object calls, with what the oracle checks.
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";
import type { Lab } from "../engine/lab.ts";

/** Gives out indexes in the order in which they were first requested; an invoice always gets the same one. */
export class Allocator {
  readonly #sql: ObjectStorage["sql"];

  constructor(storage: ObjectStorage) {
    this.#sql = storage.sql;
    this.#sql.exec("CREATE TABLE IF NOT EXISTS allocations (address_index INTEGER PRIMARY KEY, invoice_id TEXT)");
    this.#sql.exec("CREATE INDEX IF NOT EXISTS allocations_invoice ON allocations (invoice_id)");
  }

  allocate(invoiceId: string): number {
    return this.find(invoiceId) ?? this.next(invoiceId);
  }

  find(invoiceId: string): number | undefined {
    const [known] = this.#sql.exec("SELECT address_index FROM allocations WHERE invoice_id = ?", invoiceId).toArray();
    return known === undefined ? undefined : Number(known.address_index);
  }

  next(invoiceId: string): number {
    const [row] = this.#sql
      .exec("INSERT INTO allocations (invoice_id) VALUES (?) RETURNING address_index", invoiceId)
      .toArray();
    return Number(row?.address_index);
  }
}

/** Numbers the requests of one caller. */
export class Limiter {
  readonly passed: number[] = [];
  #counted = 0;

  count(): number {
    this.#counted += 1;
    return this.#counted;
  }
}

/** Receives the wake-up calls, one per stored invoice. */
export class Queue {
  readonly woken = new Set<string>();
  /** Invoices that were not yet stored when their wake-up call came. */
  readonly early: string[] = [];

  take(lab: Lab, invoiceIds: readonly string[]): void {
    for (const id of invoiceIds) {
      this.woken.add(id);
      if (lab.rows("select 1 from events where invoice_id = ?", id).length === 0) this.early.push(id);
    }
  }
}
