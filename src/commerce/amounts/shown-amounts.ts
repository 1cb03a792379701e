// The terms that payers were shown with the amounts at a place, for recovering lost invoices (commerce/restores). They are written together with the
// amount, and kept even after the amount is freed, because a database can be restored to its state of a month ago.
import type { ObjectStorage } from "../../lib/object-storage.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { AmountAnswer, AmountRequest, GivenAmounts, GivenAmountsSince } from "./amount-request.ts";
import { padded, rankIn, unitsIn } from "./amount-tables.ts";

const KEPT_MS = 31 * DAY_MS;
/** How many old rows are deleted for each new one: more than one, so that the table shrinks. */
const FORGOTTEN = 2;

export class ShownAmounts {
  readonly #sql: ObjectStorage["sql"];

  constructor({ sql }: Pick<ObjectStorage, "sql">) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS shown (
        place INTEGER PRIMARY KEY AUTOINCREMENT, invoice_id TEXT NOT NULL, units TEXT NOT NULL, merchant_id TEXT NOT NULL,
        price_units TEXT NOT NULL, rank INTEGER NOT NULL, held_until_ms INTEGER NOT NULL, terms TEXT NOT NULL, at_ms INTEGER NOT NULL,
        UNIQUE (invoice_id, units)
      )`,
    );
  }

  /** Keeps the terms of given amounts. An amount that is given to its invoice again keeps its first terms. Synchronous, like the allocation. */
  note(requests: readonly AmountRequest[], answers: readonly AmountAnswer[]): void {
    for (const [n, { invoiceId, merchantId, priceUnits, terms, nowMs }] of requests.entries()) {
      const answer = answers[n];
      if (answer?.kind !== "given" || terms === undefined) continue;
      const { units, rank, heldUntilMs } = answer;
      this.#sql.exec(
        `INSERT INTO shown (invoice_id, units, merchant_id, price_units, rank, held_until_ms, terms, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`,
        invoiceId,
        padded(units),
        merchantId,
        padded(priceUnits),
        rank,
        heldUntilMs,
        terms,
        nowMs,
      );
      this.#sql.exec(
        "DELETE FROM shown WHERE place IN (SELECT place FROM shown ORDER BY place LIMIT ?) AND at_ms < ?",
        FORGOTTEN,
        nowMs - KEPT_MS,
      );
    }
  }

  /** Lists amounts in the order in which they were given. */
  since({ sinceMs, after, limit }: GivenAmountsSince): GivenAmounts {
    const rows = this.#sql
      .exec("SELECT * FROM shown WHERE place > ? AND at_ms >= ? ORDER BY place LIMIT ?", after, sinceMs, limit)
      .toArray();
    return rows.map((row) => ({
      place: Number(row.place),
      invoiceId: String(row.invoice_id),
      units: unitsIn(row.units),
      merchantId: String(row.merchant_id),
      priceUnits: unitsIn(row.price_units),
      rank: rankIn(row.rank),
      heldUntilMs: Number(row.held_until_ms),
      terms: String(row.terms),
      atMs: Number(row.at_ms),
    }));
  }
}
