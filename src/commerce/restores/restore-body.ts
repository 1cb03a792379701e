import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import type { RestoreEpoch } from "../../platform/deployment/restore-epoch.ts";
import type { Restore, RestoreFinding } from "./restore.ts";

const NOTHING = { objects: 0, revocations: 0, recovered: 0, findings: 0 };

/** `epoch`: the deployment's current restore. `restore`: the row of its import; undefined before the import has begun. */
export function restoreBodyOf(epoch: RestoreEpoch | undefined, restore: Restore | undefined) {
  if (epoch === undefined || restore === undefined) {
    const restoredTo = epoch === undefined ? null : isoTime(epoch.restoredToMs);
    const times = { beganAt: null, openedAt: null, endedAt: null };
    return {
      epoch: epoch?.number ?? 0,
      restoredTo,
      state: epoch === undefined ? "NONE" : "WAITING",
      ...NOTHING,
      ...times,
    };
  }
  const { objects, revocations, recovered, findings } = restore;
  return {
    epoch: restore.epoch,
    restoredTo: isoTime(restore.restoredToMs),
    state: stateOf(restore),
    objects,
    revocations,
    recovered,
    findings,
    beganAt: isoTime(restore.beganAtMs),
    openedAt: isoTimeOrNull(restore.openedAtMs),
    endedAt: isoTimeOrNull(restore.endedAtMs),
  };
}

function stateOf({ phase }: Restore): string {
  if (phase === "DONE") return "DONE";
  return phase === "REVOCATIONS" ? "CLOSED" : "IMPORTING";
}

export function findingBodyOf(finding: RestoreFinding) {
  const { id, epoch, reason, merchantId, invoiceId, network, cryptocurrency, address, units, known } = finding;
  return {
    id,
    epoch,
    reason,
    merchantId,
    invoiceId,
    network,
    cryptocurrency,
    address,
    amountUnits: units,
    known,
    createdAt: isoTime(finding.createdAtMs),
    reviewedAt: isoTimeOrNull(finding.reviewedAtMs),
  };
}
