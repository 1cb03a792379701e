// Many simultaneous creates of one shop, also while the database is reset. A database that is reset under load may be reset again if the load grows,
// so a shared failure must not cause one call per create. The database may get at most twice its usual calls.
import type { Day } from "./day.ts";
import type { Gate } from "./gate.ts";

export interface Rushes {
  /** Database calls until all creates were answered, without a reset. */
  readonly calm: number;
  /** Calls that reached the database during a reset that began at a read, and their maximum concurrency. */
  readonly reset: number;
  readonly atOnce: number;
  /** Different writes of creates that reached the database during a reset that began at a write of many creates. */
  readonly writes: number;
  /** Problems as sentences; empty if there are none. */
  readonly wrong: readonly string[];
}

/** The number of requests that fit into one group. */
const INVOICES = 64;
/** The duration of each reset. Clients that are refused retry after it. */
const RESET_MS = { read: 1_000, write: 2_000 };
/**
 * How long the first read stays unanswered, so that the other creates join one group. It is shorter than the second after which the next read stops
 * waiting, because on a slow machine the creates would then form several groups.
 */
const GATHERED_MS = 900;
/** A group sends one request at a time, and there are few other groups and watchers. */
const MOST_AT_ONCE = 24;
/**
 * The write of the group that had read before the reset, and the write of the next group. Halving a group, with three tries for each part, would
 * cause far more writes.
 */
const MOST_WRITES = 3;
/** The minimum size of the first read of a create; jobs, watchers and deliveries read with shorter statements. */
const CREATE_BYTES = 5_000;
/** The size of a write for about fifteen creates. */
const MANY_BYTES = 50_000;
/** A rush is repeated this often if no write is large enough, because creates may arrive too far apart to share a write. */
const MOST_TRIES = 3;

/** Call this only while there are no sales. */
export async function rushesOf(day: Day, gate: Gate): Promise<Rushes> {
  // The first rush is not counted, because it reads more than later ones.
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
  // Otherwise the reset would hit the day's next large write.
  if (writing.calls === 0) gate.resetFrom({ way: "write", leastBytes: Number.POSITIVE_INFINITY, afterMs: 0, forMs: 0 });
  const took = `${INVOICES} creates at once took ${calm} calls of the database`;
  const wrong = [
    // A call that fails during a reset is repeated once, hence twice the calls. One call per create would be 64.
    ...(reset <= 2 * calm && atOnce <= MOST_AT_ONCE
      ? []
      : [`${took}, and ${reset}, ${atOnce} of them at the same time, while it was reset for ${RESET_MS.read} ms`]),
    ...(writes <= MOST_WRITES
      ? []
      : [`${took}, and ${writes} different writes were sent while it was reset for ${RESET_MS.write} ms`]),
  ];
  return { calm, reset, atOnce, writes, wrong };
}
