// The response of `/healthz`. It is public, so it contains no secrets and no merchant data.
import { restUntilMs } from "../../chains/sources/source-state.ts";
import { isoTimeOrNull } from "../../lib/time.ts";
import { type CursorFacts, lagSecondsOf, proofStateOf, reasonsOf, type StatusSettings, type Vitals } from "./status.ts";
import { cursorsOf, reasonBodyOf } from "./status-body.ts";

interface HealthOf {
  readonly version: string;
  /** Undefined if storage does not answer. */
  readonly vitals: Vitals | undefined;
  readonly settings: StatusSettings;
  /** Codes of all faults of the configuration. */
  readonly faults: readonly string[];
  readonly nowMs: number;
}

/** `status` is degraded if and only if there is a reason. Warnings do not change it. */
export function healthBodyOf({ version, vitals, settings, faults, nowMs }: HealthOf) {
  const reasons = reasonsOf(vitals, settings, nowMs);
  const unsettledInvoices = vitals?.unsettledInvoices ?? 0;
  const cursors = cursorsOf(vitals, settings, nowMs).filter(({ network }) => settings.networks.has(network));
  return {
    version,
    status: reasons.length === 0 ? ("ok" as const) : ("degraded" as const),
    database: vitals === undefined ? ("unavailable" as const) : ("ok" as const),
    reasons: reasons.map(reasonBodyOf),
    networks: Object.fromEntries(cursors.map((cursor) => [cursor.network, networkOf(cursor, nowMs)])),
    unsettledInvoices,
    warnings: [
      ...faults,
      ...(settings.networks.size === 0 ? ["NETWORK_NOT_WATCHED"] : []),
      ...(unsettledInvoices > 0 ? ["INVOICES_UNSETTLED"] : []),
      ...(areAlertsUnproved(vitals, settings) ? ["ALERTS_UNPROVED"] : []),
    ],
  };
}

/** False until the deployment is set up: before that, nobody can send a test alert. */
function areAlertsUnproved(vitals: Vitals | undefined, { alertSettings }: StatusSettings): boolean {
  if (vitals === undefined || vitals.setUpAtMs === null) return false;
  return proofStateOf(vitals.alertProof, alertSettings) === "UNPROVED";
}

function networkOf(cursor: CursorFacts, nowMs: number) {
  const { height, tipHeight, isResting, degradedSinceMs, quarantined: unreadAddresses } = cursor;
  const degradedSince = isoTimeOrNull(degradedSinceMs);
  const lagSeconds = lagSecondsOf(cursor, nowMs);
  const askedAgainAt = isoTimeOrNull(isResting ? null : restUntilMs(cursor.sources, nowMs));
  return { height, tipHeight, lagSeconds, isResting, degradedSince, askedAgainAt, unreadAddresses };
}
