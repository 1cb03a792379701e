// The floor's objects as plain classes over an object's SQL; floor/worker.ts wraps them for workerd.
import { GROUP, RESERVATIONS, WALLET } from "./sql.ts";

export type SqlValue = string | number | null;

/** The part of a Durable Object's storage that the floor uses. */
export interface ObjectSql {
  exec(sql: string, ...params: SqlValue[]): { toArray(): Record<string, unknown>[] };
}

/** Idempotency keys of one merchant. */
export class KeyReservations {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
    sql.exec(RESERVATIONS.createTable);
  }

  /** One read and one write: false if the key is known. */
  reserve(key: string, bodyHash: string, nowMs: number): boolean {
    if (this.#isKnown(key)) return false;
    this.#sql.exec(RESERVATIONS.insert, key, bodyHash, nowMs);
    return true;
  }

  /** The second call of FULL2 and FULLD, which keeps the exact answer. */
  complete(key: string, answer: string): void {
    this.#sql.exec(RESERVATIONS.complete, answer, key);
  }

  /** For FULLM: the reservation and the address index in one call and one commit; undefined if the key is known. */
  reserveWithIndex(key: string, bodyHash: string, nowMs: number): number | undefined {
    if (this.#isKnown(key)) return undefined;
    this.#sql.exec(RESERVATIONS.createIndexTable);
    const index = numberIn(this.#sql.exec(RESERVATIONS.nextIndex).toArray(), "idx") - 1;
    this.#sql.exec(RESERVATIONS.insertWithIndex, key, bodyHash, String(index), nowMs);
    return index;
  }

  #isKnown(key: string): boolean {
    return this.#sql.exec(RESERVATIONS.find, key).toArray().length > 0;
  }
}

export class AddressIndex {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
    sql.exec(WALLET.createIndex);
    sql.exec(WALLET.createAddresses);
    sql.exec(WALLET.start);
  }

  allocate(invoiceId: string): number {
    const index = numberIn(this.#sql.exec(WALLET.readIndex).toArray(), "idx");
    this.#sql.exec(WALLET.writeIndex, index + 1);
    this.#sql.exec(WALLET.insertAddress, index, invoiceId, null);
    return index;
  }
}

/** The address indices for the creates that one object groups. */
export class GroupIndices {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
    sql.exec(GROUP.createIndex);
  }

  /** Reserves `count` address indices, and returns the first. */
  take(count: number): number {
    return numberIn(this.#sql.exec(GROUP.takeIndices, count).toArray(), "idx") - count;
  }
}

function numberIn(rows: readonly Record<string, unknown>[], column: string): number {
  const value = rows[0]?.[column];
  if (typeof value !== "number") throw new Error(`no number in ${column}`);
  return value;
}
