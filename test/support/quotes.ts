// Moves an invoice's quotes into the past, as if that much time had passed since they were made.
import { and, eq, sql } from "drizzle-orm";
import { parseQuotes, printQuotes } from "../../src/commerce/quotes/quotes.ts";
import type { InvoiceId } from "../../src/lib/ids.ts";
import type { Db } from "../../src/platform/db/client.ts";
import { paymentMethods } from "../../src/platform/db/schema/invoices.ts";
import { methodAmounts } from "../../src/platform/db/schema/method-amounts.ts";

/** Makes everything stored about the quotes of an invoice's methods `byMs` older, including their reserved amounts. */
export async function ageQuotes(db: Db, invoiceId: InvoiceId, byMs: number): Promise<void> {
  const methods = await db.select().from(paymentMethods).where(eq(paymentMethods.invoiceId, invoiceId));
  const older = (ms: number | null) => (ms === null ? null : ms - byMs);
  for (const method of methods) {
    const quotes = parseQuotes(method.quotes).map((quote) => ({
      ...quote,
      askedFromMs: quote.askedFromMs - byMs,
      lockedUntilMs: quote.lockedUntilMs - byMs,
    }));
    const { cryptocurrency, network } = method;
    await db
      .update(paymentMethods)
      .set({
        quotedAtMs: older(method.quotedAtMs),
        lockedUntilMs: older(method.lockedUntilMs),
        activatedAtMs: older(method.activatedAtMs),
        quotes: printQuotes(quotes),
      })
      .where(
        and(
          eq(paymentMethods.invoiceId, invoiceId),
          eq(paymentMethods.cryptocurrency, cryptocurrency),
          eq(paymentMethods.network, network),
        ),
      );
  }
  await db
    .update(methodAmounts)
    .set({ createdAtMs: sql`created_at_ms - ${byMs}` })
    .where(eq(methodAmounts.invoiceId, invoiceId));
}
