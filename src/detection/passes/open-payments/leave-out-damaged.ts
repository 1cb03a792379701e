// Decodes payments for a recheck. An unreadable row is left out and named in the log: it waits for a user and does not block the recheck of the
// others.
import type { Network } from "../../../chains/registry/networks.ts";
import type { OpenPayment } from "../look-elsewhere.ts";
import type { WatchDependencies } from "../watch-pass.ts";
import type { OpenRow } from "./store.ts";

/** The most rows that one log line names. */
const NAMED = 5;

export function leaveOutDamaged(
  deps: Pick<WatchDependencies, "report">,
  { name }: Pick<Network, "name">,
  rows: readonly OpenRow[],
): readonly OpenPayment[] {
  const readable = rows.flatMap(({ row, spends, position, needsSecond }) =>
    row === null || spends === null ? [] : [{ ...row, spends, position, needsSecond }],
  );
  const damaged = rows.filter(({ row, spends }) => row === null || spends === null);
  if (damaged.length > 0) {
    const ids = damaged.slice(0, NAMED).map(({ id }) => id);
    deps.report(
      `watchers: ${name} has ${damaged.length} unreadable payments, which are not rechecked: ${ids.join(", ")}`,
    );
  }
  return readable;
}
