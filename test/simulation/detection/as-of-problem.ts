// Checks one schedule of a history against the facts.
import type { AsOfTill } from "./as-of-adapter.ts";
import type { History } from "./as-of-facts.ts";
import type { Expected } from "./as-of-oracle.ts";
import { runSchedule, type Schedule } from "./as-of-schedule.ts";

/** What is wrong at the end of a schedule; undefined if the result matches the facts. */
export async function problemOf(
  till: AsOfTill,
  history: History,
  expected: Expected,
  schedule: Schedule,
): Promise<string | undefined> {
  return till.visit(async () => {
    try {
      await runSchedule(till, history, schedule);
    } catch (error) {
      return String(error);
    }
    const outcome = till.outcome();
    for (const [txHash, wanted] of expected.transfers) {
      const row = outcome.transfers.get(txHash);
      const stands = row === undefined ? "nowhere" : `${row.invoiceId} ${row.status}`;
      const should = `${wanted.invoiceId} ${wanted.status}`;
      if (stands !== should) return `${txHash} is ${stands}, not ${should} (${wanted.rule})`;
    }
    for (const [id, wanted] of expected.invoices) {
      const row = outcome.invoices.get(id);
      const stands = [row?.status, row?.received_micros, row?.confirmed_micros, row?.is_late].join(" ");
      const should = [wanted.status, wanted.receivedMicros, wanted.confirmedMicros, Number(wanted.isLate)].join(" ");
      if (stands !== should) return `${id} is ${stands}, not ${should}`;
    }
    return undefined;
  });
}
