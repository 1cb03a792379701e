// Summarizes creates and database calls since the last progress line, so that recovery from a stall is visible during a run.
import type { Gate } from "./gate.ts";
import { type Measured, otherStatuses, quantiles } from "./measured.ts";

interface Pulsing {
  readonly routes: ReadonlyMap<string, Measured>;
  readonly gate: Pick<Gate, "counts">;
}

const why = (answers: Measured) => {
  const statuses = otherStatuses(answers);
  return statuses === "" ? "" : ` (${statuses})`;
};

/** Returns a function that counts the successful and failed creates and database calls since its previous call. */
export function pulseOf({ routes, gate: { counts } }: Pulsing): () => string {
  const creates = () => routes.get("POST /invoices") ?? [];
  let before = { answers: creates().length, calls: counts.times.length, failed: counts.failed };
  return () => {
    const answers = creates().slice(before.answers);
    const times = counts.times.slice(before.calls);
    const failed = counts.failed - before.failed;
    before = { answers: creates().length, calls: counts.times.length, failed: counts.failed };
    const made = answers.filter(({ status }) => status < 300);
    const took = (of: readonly number[]) => (of.length === 0 ? "" : ` in ${quantiles(of).p50} ms`);
    return [
      `${made.length} made${took(made.map(({ ms }) => ms))}, ${answers.length - made.length} refused${why(answers)}`,
      `database ${times.length} calls${took(times)}, ${failed} failed`,
    ].join("; ");
  };
}
