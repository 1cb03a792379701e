// Decides from facts in storage whether the deployment works, and if not, why and since when. The same reasons are in `/healthz`, in `/metrics`, on
// the operators' page and in their emails (docs/operations/monitoring.md).
import { networkNamed } from "../../chains/registry/networks.ts";
import { doAllRefuse, restUntilMs, type SourceState } from "../../chains/sources/source-state.ts";
import { pauseMs } from "../../detection/passes/cursor-plan.ts";
import { isoTime, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";

export const REASON_CODES = [
  "DATABASE_UNAVAILABLE",
  "CONFIGURATION_INVALID",
  "CURSOR_STALE",
  "CRON_STOPPED",
  "ADDRESS_QUARANTINED",
  "DATABASE_NEARLY_FULL",
] as const;

type ReasonCode = (typeof REASON_CODES)[number];

/** Why the deployment is failing. */
export interface Reason {
  readonly code: ReasonCode;
  readonly network: string | null;
  readonly sinceMs: number | null;
  /** A sentence for operators; no secrets and no merchant data, because the public may read it. */
  readonly detail: string;
}

/** How far a network has been read. */
export interface CursorFacts {
  readonly network: string;
  readonly height: number | null;
  readonly tipHeight: number | null;
  readonly passedMs: number;
  readonly lastMovedAtMs: number;
  readonly tickedAtMs: number | null;
  readonly degradedSinceMs: number | null;
  /** Whether nothing on the network is watched. */
  readonly isResting: boolean;
  /**
   * The number of addresses that cannot be read with the others, because the source refuses them or they are flooded with transfers, and whose
   * merchants were notified. The next field says when the first notification was sent.
   */
  readonly quarantined: number;
  readonly quarantinedSinceMs: number | null;
  readonly pausedAtMs: number | null;
  /** The states of the network's sources if one of them failed recently; otherwise empty. */
  readonly sources: readonly SourceState[];
}

/** Whether alerts were proved to arrive. A time is null if the event never happened. */
export interface AlertProof {
  /** When the mail provider or the receiver last accepted a test alert. */
  readonly acceptedAtMs: number | null;
  /** The fingerprint of the settings with which it was sent. */
  readonly acceptedSettings: string | null;
  /** When an operator last confirmed that a test alert arrived. */
  readonly provedAtMs: number | null;
  /**
   * The fingerprint of the settings with which the confirmed test alert was sent; null if the release that recorded the proof stored no fingerprint.
   */
  readonly provedSettings: string | null;
  /** When an operator dismissed the warning. */
  readonly dismissedAtMs: number | null;
}

export const NEVER_TESTED: AlertProof = {
  acceptedAtMs: null,
  acceptedSettings: null,
  provedAtMs: null,
  provedSettings: null,
  dismissedAtMs: null,
};

export const PROOF_STATES = ["UNPROVED", "PROVED", "DISMISSED"] as const;

/**
 * A proof for the present settings counts more than a dismissal. A dismissal outlives a change of the settings, because it says that nobody reads alerts;
 * a later proof says the opposite, and ends it.
 */
export function proofStateOf(proof: AlertProof, alertSettings: string): (typeof PROOF_STATES)[number] {
  const { provedAtMs, provedSettings, dismissedAtMs } = proof;
  if (provedAtMs !== null && provedSettings === alertSettings) return "PROVED";
  return dismissedAtMs !== null && dismissedAtMs > (provedAtMs ?? 0) ? "DISMISSED" : "UNPROVED";
}

/** The facts that decide whether the deployment works. They are read in one short call. */
export interface Vitals {
  readonly cursors: readonly CursorFacts[];
  /** When the cron's jobs last began; null if never. */
  readonly cronRanAtMs: number | null;
  /** Null before the set-up. */
  readonly setUpAtMs: number | null;
  readonly alertProof: AlertProof;
  readonly databaseBytes: number;
  /** The number of invoices that the sweep has failed to settle more than once and has not settled since. */
  readonly unsettledInvoices: number;
}

/** Due work that is not done yet. */
export interface Queue {
  /** At most `MOST_COUNTED`. */
  readonly due: number;
  readonly oldestDueAtMs: number | null;
}

/** At most this many rows are counted, because each counted row is read. */
export const MOST_COUNTED = 10_000;

/** The backlog; not needed to decide whether the deployment works. */
export interface Queues {
  /** The expiry time of the open invoice that has been due for settlement longest. Leaves out invoices whose settlement has failed. */
  readonly oldestDueInvoiceMs: number | null;
  readonly deliveries: Queue;
  readonly receipts: Queue;
  /** Pending invitations and notices to teams. */
  readonly mails: Queue;
}

/** The settings that decide whether the deployment works. */
export interface StatusSettings {
  /** Canonical names of the networks with a source. */
  readonly networks: ReadonlySet<string>;
  /** POLL_SECONDS; if null, each network has its own polling interval. */
  readonly pollSeconds: number | null;
  readonly databaseLimitBytes: number;
  /** The fingerprint of the settings of alerts. */
  readonly alertSettings: string;
  /** Codes of faults that stop everything until they are corrected. */
  readonly fatalFaults: readonly string[];
}

/** If a network has not been read for this long, its payments count as unseen. A network that is polled less often gets more time. */
const STALE_AFTER_MS = 5 * MINUTE_MS;
const CRON_STOPPED_AFTER_MS = 5 * MINUTE_MS;
const NEARLY_FULL = 0.8;

/** Every reason, worst first; empty if all is well. `vitals`: undefined if storage does not answer. */
export function reasonsOf(vitals: Vitals | undefined, settings: StatusSettings, nowMs: number): readonly Reason[] {
  const { fatalFaults } = settings;
  const invalid = fatalFaults.map((code) => reason("CONFIGURATION_INVALID", `a variable is wrong: ${code}`));
  if (vitals === undefined) return [reason("DATABASE_UNAVAILABLE", "the database is not responding"), ...invalid];
  const cursors = vitals.cursors.filter(({ network }) => settings.networks.has(network));
  return [
    ...invalid,
    ...cronReasons(vitals, nowMs),
    ...cursors.flatMap((cursor) => cursorReasons(cursor, settings, nowMs)),
    ...cursors.flatMap(quarantineReasons),
    ...sizeReasons(vitals, settings),
  ];
}

function reason(code: ReasonCode, detail: string, of: Partial<Pick<Reason, "network" | "sinceMs">> = {}): Reason {
  return { code, network: null, sinceMs: null, ...of, detail };
}

/** The cron of a new deployment has a few minutes before it counts as stopped. A cron that never ran counts as stopped too. */
function cronReasons({ cronRanAtMs, setUpAtMs }: Vitals, nowMs: number): readonly Reason[] {
  const sinceMs = cronRanAtMs ?? setUpAtMs;
  if (sinceMs === null || nowMs - sinceMs < CRON_STOPPED_AFTER_MS) return [];
  const detail =
    cronRanAtMs === null
      ? "scheduled jobs have never run"
      : `scheduled jobs last ran at ${isoTime(cronRanAtMs)}; they run every minute`;
  return [reason("CRON_STOPPED", detail, { sinceMs })];
}

function cursorReasons(cursor: CursorFacts, settings: StatusSettings, nowMs: number): readonly Reason[] {
  const sinceMs = staleSinceMs(cursor, settings.pollSeconds, nowMs);
  if (sinceMs === null) return [];
  const { network, height, tipHeight } = cursor;
  const why = whyStale(cursor, nowMs);
  const read = height === null ? "has not been read" : `was read to block ${height} of ${tipHeight ?? "unknown"}`;
  const detail = `${network} ${read}, and payments on it are awaited${why}`;
  return [reason("CURSOR_STALE", detail, { network, sinceMs })];
}

function whyStale({ degradedSinceMs, sources }: CursorFacts, nowMs: number): string {
  if (degradedSinceMs === null) return "";
  const untilMs = restUntilMs(sources, nowMs);
  if (untilMs === null) return "; its source fails or has stopped";
  const what = doAllRefuse(sources, nowMs) ? "refuses further requests" : "fails";
  return `; each of its sources ${what}, and the first is asked again at ${isoTime(untilMs)}`;
}

/**
 * Since when payments on a network may be unseen; null if they are seen, if none is expected, or while an operator has paused the network. Three
 * causes count: the source fails, the watcher does not run, or the newest block that was read is old.
 */
export function staleSinceMs(
  cursor: Omit<CursorFacts, "quarantined" | "quarantinedSinceMs" | "sources">,
  pollSeconds: number | null,
  nowMs: number,
): number | null {
  const { network, isResting, pausedAtMs, degradedSinceMs, height, tipHeight, passedMs } = cursor;
  const known = networkNamed(network);
  if (isResting || pausedAtMs !== null || known === undefined) return null;
  const staleAfterMs = Math.max(STALE_AFTER_MS, 3 * pauseMs(known, pollSeconds, false));
  const lastSignMs = Math.max(cursor.tickedAtMs ?? 0, cursor.lastMovedAtMs);
  // A private test chain makes blocks only on request: at its tip everything has been read, however old the block is.
  const isAtTip = known.isRegtest && height !== null && height === tipHeight;
  const since = [degradedSinceMs, lastSignMs, ...(isAtTip ? [] : [passedMs])].flatMap((ms) =>
    ms !== null && nowMs - ms >= staleAfterMs ? [ms] : [],
  );
  return since.length === 0 ? null : Math.min(...since);
}

function quarantineReasons({ network, quarantined, quarantinedSinceMs: sinceMs }: CursorFacts): readonly Reason[] {
  if (quarantined === 0) return [];
  const detail = `${quarantined} ${quarantined === 1 ? "address" : "addresses"} on ${network} cannot be read with the others`;
  return [reason("ADDRESS_QUARANTINED", detail, { network, sinceMs })];
}

function sizeReasons({ databaseBytes }: Vitals, { databaseLimitBytes }: StatusSettings): readonly Reason[] {
  if (databaseBytes <= NEARLY_FULL * databaseLimitBytes) return [];
  const percent = Math.floor((100 * databaseBytes) / databaseLimitBytes);
  return [
    reason(
      "DATABASE_NEARLY_FULL",
      `the database is at ${percent}% of its limit; nothing can be stored once it is full`,
    ),
  ];
}

/**
 * The measurements recorded each minute: the lag of networks on which a payment is expected, how long the oldest item of each queue has been due, and
 * the size of the database.
 */
export function measuresOf(facts: Vitals & Queues, nowMs: number): readonly Measure[] {
  const lags = facts.cursors.flatMap((cursor): Measure[] => {
    const value = lagSecondsOf(cursor, nowMs);
    return value === null ? [] : [{ kind: "lag", subject: cursor.network, value }];
  });
  const oldest = Object.entries(oldestDueOf(facts, nowMs));
  return [
    ...lags,
    ...oldest.map(([subject, value]): Measure => ({ kind: "oldest_due", subject, value })),
    { kind: "database", subject: "bytes", value: facts.databaseBytes },
  ];
}

interface Measure {
  readonly kind: "lag" | "oldest_due" | "database";
  readonly subject: string;
  readonly value: number;
}

/** Seconds for which the oldest item of each queue has been due; 0 if nothing is due. */
export function oldestDueOf(facts: Queues, nowMs: number) {
  const since = (ms: number | null) => (ms === null ? 0 : Math.max(0, (nowMs - ms) / SECOND_MS));
  return {
    invoices: since(facts.oldestDueInvoiceMs),
    deliveries: since(facts.deliveries.oldestDueAtMs),
    receipts: since(facts.receipts.oldestDueAtMs),
    mails: since(facts.mails.oldestDueAtMs),
  };
}

/** Seconds since the time up to which everything was read; null while nothing is watched, or if nothing has been read. */
export function lagSecondsOf({ isResting, height, passedMs }: CursorFacts, nowMs: number): number | null {
  return isResting || height === null ? null : Math.max(0, Math.round((nowMs - passedMs) / SECOND_MS));
}
