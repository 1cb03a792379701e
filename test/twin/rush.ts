// Many creates of one shop at once, and the same while the database is reset: a shared failure must not become a call per create. A database that is
// reset under load would then get much more load, and be reset again.
import type { Day } from "./day.ts";
import type { Gate } from "./gate.ts";

export interface Rushes {
  /** Database calls until all were answered. */
  readonly calm: number;
  /** Calls that met the database while it was reset from a read on, and the most of them at the same time. */
  readonly reset: number;
  readonly atOnce: number;
  /** Writes of creates, repeats not counted, that met it while it was reset from a write of many on. */
  readonly writes: number;
  /** Empty, or sentences. */
  readonly wrong: readonly string[];
}

/** As many as a group of requests holds. */
const INVOICES = 64;
/** The database is reset for this long; then those who were refused ask again. */
const RESET_MS = { read: 1_000, write: 2_000 };
/** Less than holds up the next read of a merchant: on a slow machine creates arrive one after the other, and would be in no group. */
const GATHERED_MS = 900;
/** A group asks for one thing at a time, and there are few other groups and watchers. */
const MOST_AT_ONCE = 24;
/** Of those who had read before it was reset: a group, and the next one. What is halved, each part three times, is many more in this time. */
const MOST_WRITES = 3;
/** The size of what a create reads first; jobs, watchers and deliveries read with shorter statements. */
const CREATE_BYTES = 5_000;
/** The size of a write for some fifteen creates and more. */
const MANY_BYTES = 50_000;
/** Creates may arrive too far apart for a write of many. */
const MOST_TRIES = 3;

/** For a moment without sales. */
export async function rushesOf(day: Day, gate: Gate): Promise<Rushes> {
  // The first has more to read than those after it.
  await day.rush(INVOICES);
  const before = gate.counts.calls;
  await day.rush(INVOICES);
  const calm = gate.counts.calls - before;
  const reading = gate.resetFrom({ way: "read", leastBytes: CREATE_BYTES, afterMs: GATHERED_MS, forMs: RESET_MS.read });
  await day.rush(INVOICES);
  const { calls: reset, atOnce } = reading;
  const writing = gate.resetFrom({ way: "write", leastBytes: MANY_BYTES, afterMs: 0, forMs: RESET_MS.write });
  for (let tries = 0; tries < MOST_TRIES && writing.calls === 0; tries++) await day.rush(INVOICES);
  const { likeFirst: writes } = writing;
  // Else the next write of many in the day would meet it.
  if (writing.calls === 0) gate.resetFrom({ way: "write", leastBytes: Number.POSITIVE_INFINITY, afterMs: 0, forMs: 0 });
  const took = `${INVOICES} creates at once took ${calm} calls of the database`;
  const wrong = [
    // A group asks three times, its requests' clients once more or twice: some 20 calls. One for each create would be 64 each time.
    ...(reset < INVOICES && atOnce <= MOST_AT_ONCE
      ? []
      : [`${took}, and ${reset}, ${atOnce} of them at the same time, while it was reset for ${RESET_MS.read} ms`]),
    ...(writes <= MOST_WRITES
      ? []
      : [`${took}, and ${writes} different writes were sent while it was reset for ${RESET_MS.write} ms`]),
  ];
  return { calm, reset, atOnce, writes, wrong };
}
