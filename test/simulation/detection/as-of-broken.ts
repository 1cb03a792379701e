// Mistakes of release 1, reintroduced one by one: the schedules must catch each of them.
import type { AsOfVariant } from "./as-of-adapter.ts";
import { DAY } from "./as-of-facts.ts";

/** A quote renewed at the same units counts from its renewal, so a payment made earlier counts for the previous quote. */
export const redated: AsOfVariant = { name: "equal quotes get a new date", redatesQuotes: true };

/** An ended quote is honoured until the invoice is no longer monitored. */
export const honoured: AsOfVariant = { name: "an ended quote is honoured forever", lockMs: 400 * DAY };

/** A transfer is valued and matched by the quote at the time of reading. */
export const byToday: AsOfVariant = {
  name: "old payments are matched by today's quote",
  look: async (till, apply) => {
    const before = till.rows("select invoice_id, quotes from payment_methods");
    till.rows(
      `update payment_methods set quotes = json_array(json_object('amountUnits', amount_units, 'rate', rate,
        'forMicros', cast(quote_for_micros as text), 'askedFromMs', activated_at_ms, 'lockedUntilMs', locked_until_ms + ?))`,
      400 * DAY,
    );
    try {
      await apply();
    } finally {
      for (const { invoice_id, quotes } of before) {
        till.rows("update payment_methods set quotes = ? where invoice_id = ?", quotes ?? null, invoice_id ?? null);
      }
    }
  },
};

/** An invoice that is cancelled before a block is read is not a candidate for the block's transfers, even if it was open when the block was mined. */
export const byStatus: AsOfVariant = {
  name: "the only candidate is judged by its status at reading time",
  look: async (till, apply) => {
    const cancelled = till.rows("select id, cancelled_at_ms from invoices where cancelled_at_ms is not null");
    till.rows("update invoices set cancelled_at_ms = created_at_ms - ? where cancelled_at_ms is not null", DAY);
    try {
      await apply();
    } finally {
      for (const { id, cancelled_at_ms } of cancelled) {
        till.rows("update invoices set cancelled_at_ms = ? where id = ?", cancelled_at_ms ?? null, id ?? null);
      }
    }
  },
};
