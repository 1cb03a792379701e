// What an operator's report about a test alert changes. Only an operator can tell, by looking into a mailbox or an on-call tool, whether alerts
// arrive.
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { type AlertProof, proofStateOf } from "../deployment-status/status.ts";

/** What an operator reports about a test alert. */
export const OUTCOMES = ["ARRIVED", "DISMISSED"] as const;

export type Outcome = (typeof OUTCOMES)[number];

interface Now {
  readonly nowMs: number;
  /** The fingerprint of the present settings of alerts. */
  readonly alertSettings: string;
}

/** What an outcome changes; null if it changes nothing. An arrival needs a test alert that was accepted with the present settings. */
export function changedProof(
  proof: AlertProof,
  outcome: Outcome,
  { nowMs, alertSettings }: Now,
): Result<Partial<AlertProof> | null, Failure> {
  const { acceptedAtMs, acceptedSettings, provedAtMs } = proof;
  const state = proofStateOf(proof, alertSettings);
  if (outcome === "DISMISSED") return ok(state === "UNPROVED" ? { dismissedAtMs: nowMs } : null);
  if (acceptedAtMs === null || acceptedSettings !== alertSettings) return err({ code: "TEST_ALERT_MISSING" });
  const isKnown = state === "PROVED" && provedAtMs !== null && provedAtMs >= acceptedAtMs;
  return ok(isKnown ? null : { provedAtMs: nowMs, provedSettings: alertSettings });
}
