// The deployment's status as operators read it.
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import {
  type AlertProof,
  type CursorFacts,
  lagSecondsOf,
  proofStateOf,
  type Queue,
  type Queues,
  type Reason,
  reasonsOf,
  type StatusSettings,
  type Vitals,
} from "./status.ts";

export function statusBodyOf(facts: Vitals & Queues, settings: StatusSettings, nowMs: number) {
  const { databaseLimitBytes: limitBytes } = settings;
  const reasons = reasonsOf(facts, settings, nowMs);
  return {
    status: reasons.length === 0 ? ("OK" as const) : ("FAILING" as const),
    checkedAt: isoTime(nowMs),
    reasons: reasons.map(reasonBodyOf),
    networks: cursorsOf(facts, settings, nowMs).map((cursor) => networkBodyOf(cursor, nowMs)),
    cron: { lastRunAt: isoTimeOrNull(facts.cronRanAtMs) },
    database: { bytes: facts.databaseBytes, limitBytes },
    invoices: { oldestDueAt: isoTimeOrNull(facts.oldestDueInvoiceMs), unsettled: facts.unsettledInvoices },
    deliveries: queueBodyOf(facts.deliveries),
    receipts: queueBodyOf(facts.receipts),
    mails: queueBodyOf(facts.mails),
    alerts: alertProofBodyOf(facts.alertProof, settings),
  };
}

export function alertProofBodyOf(proof: AlertProof, { alertSettings }: Pick<StatusSettings, "alertSettings">) {
  const { acceptedAtMs, acceptedSettings } = proof;
  return {
    state: proofStateOf(proof, alertSettings),
    testAcceptedAt: isoTimeOrNull(acceptedSettings === alertSettings ? acceptedAtMs : null),
    provedAt: isoTimeOrNull(proof.provedAtMs),
    dismissedAt: isoTimeOrNull(proof.dismissedAtMs),
  };
}

export function reasonBodyOf({ code, network, sinceMs, detail }: Reason) {
  return { code, network, since: isoTimeOrNull(sinceMs), detail };
}

/** The cursor of every network that has a source or was ever watched. */
export function cursorsOf(
  vitals: Vitals | undefined,
  { networks }: StatusSettings,
  nowMs: number,
): readonly CursorFacts[] {
  const cursors = vitals?.cursors ?? [];
  const never = [...networks].filter((name) => !cursors.some(({ network }) => network === name));
  return [...cursors, ...never.map((network) => neverWatched(network, nowMs))].toSorted((one, other) =>
    one.network < other.network ? -1 : 1,
  );
}

function neverWatched(network: string, nowMs: number): CursorFacts {
  return {
    network,
    height: null,
    tipHeight: null,
    passedMs: nowMs,
    lastMovedAtMs: nowMs,
    tickedAtMs: null,
    degradedSinceMs: null,
    isResting: true,
    quarantined: 0,
    quarantinedSinceMs: null,
    pausedAtMs: null,
    sources: [],
  };
}

function networkBodyOf(cursor: CursorFacts, nowMs: number) {
  const { network, height, tipHeight, quarantined, degradedSinceMs, pausedAtMs, isResting } = cursor;
  return {
    network,
    cursorHeight: height,
    tipHeight,
    lagSeconds: lagSecondsOf(cursor, nowMs),
    isWaitedOn: !isResting,
    quarantinedAddresses: quarantined,
    degradedSince: isoTimeOrNull(degradedSinceMs),
    pausedAt: isoTimeOrNull(pausedAtMs),
  };
}

function queueBodyOf({ due, oldestDueAtMs }: Queue) {
  return { due, oldestDueAt: isoTimeOrNull(oldestDueAtMs) };
}
