import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { withinLimit } from "../../platform/db/retry.ts";
import type { AmountPlace } from "./amount-place.ts";
import type { InvoiceAmount, StandingAmount } from "./amount-request.ts";
import { selectStandingAt } from "./store.ts";

const ROWS_A_READ = 2_000;

/** The unreleased amounts at a place. Rejects with the database's error, so that the caller can retry. */
export async function readStanding(
  { db, sleep }: { readonly db: Db; readonly sleep: Sleep },
  place: AmountPlace,
): Promise<readonly StandingAmount[]> {
  const standing: StandingAmount[] = [];
  for (;;) {
    const last: InvoiceAmount = standing.at(-1) ?? { invoiceId: "", units: 0n };
    const found = selectStandingAt(db, place, { after: last, limit: ROWS_A_READ });
    const rows = await withinLimit(sleep, Promise.resolve(found));
    standing.push(...rows);
    if (rows.length < ROWS_A_READ) return standing;
  }
}
