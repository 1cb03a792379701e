// Many creates of one shop at once, and the same while the database is reset: a shared failure must not become a call per create. A database that is
// reset under load would then get much more load, and be reset again.
import type { Day } from "./day.ts";
import type { Gate } from "./gate.ts";

export interface Rushes {
  /** Database calls until all were answered. */
  readonly calm: number;
  /** Calls that met the database while it was reset. */
  readonly reset: number;
  /** Empty, or a sentence. */
  readonly wrong: readonly string[];
}

/** As many as a group of requests holds. */
const INVOICES = 64;
/** So long the database is reset; then those who were refused ask again. */
const RESET_MS = 1_000;

/** For a moment without sales. */
export async function rushesOf(day: Day, gate: Gate): Promise<Rushes> {
  const { counts } = gate;
  // The first has more to read than those after it.
  await day.rush(INVOICES);
  const before = { ...counts };
  await day.rush(INVOICES);
  const calm = counts.calls - before.calls;
  gate.resetForMs = RESET_MS;
  await day.rush(INVOICES);
  const met = counts.reset - before.reset;
  // A group asks three times, its requests' clients once more or twice: some 20 calls. One for each create would be 64 each time.
  const isGood = met < INVOICES;
  const wrong = `${INVOICES} creates at once took ${calm} calls of the database, and ${met} while it was reset for ${RESET_MS} ms`;
  return { calm, reset: met, wrong: isGood ? [] : [wrong] };
}
