// Which emails operators get: at most one an hour for a cause while it lasts, and one when it is over. A cause that comes and goes within the hour is held
// back, so that a source that fails every other minute does not fill a mailbox.
import { HOUR_MS } from "../../lib/time.ts";
import type { Reason } from "../deployment-status/status.ts";

export interface Alert {
  /** The code of the reason, with its network. */
  readonly cause: string;
  readonly detail: string;
  readonly beganAtMs: number;
  /** Null while it lasts. */
  readonly endedAtMs: number | null;
  /** When the last email about an ongoing failure was sent, in this episode or an earlier one. */
  readonly mailedAtMs: number;
  /** Whether this episode was emailed. */
  readonly isMailed: boolean;
}

export interface AlertPlan {
  /** The new rows; only those that change. */
  readonly changed: readonly Alert[];
  /** Causes that are forgotten. */
  readonly forgotten: readonly string[];
  /** The content of an email: causes that last, and causes that are over. */
  readonly failing: readonly Alert[];
  readonly over: readonly Alert[];
}

const MAILED_AGAIN_AFTER_MS = HOUR_MS;

export function planAlerts(known: readonly Alert[], reasons: readonly Reason[], nowMs: number): AlertPlan {
  const causes = new Map(reasons.map((reason) => [causeOf(reason), reason.detail]));
  const present = [...causes].map(([cause, detail]) =>
    ongoing(
      known.find((each) => each.cause === cause),
      { cause, detail },
      nowMs,
    ),
  );
  const absent = known.filter(({ cause }) => !causes.has(cause));
  const ended = absent.filter(({ endedAtMs }) => endedAtMs === null).map((alert) => ({ ...alert, endedAtMs: nowMs }));
  const quiet = absent.filter(({ endedAtMs, mailedAtMs }) => endedAtMs !== null && isMailDue(mailedAtMs, nowMs));
  const changed = present.filter((alert) => !known.includes(alert));
  return {
    changed: [...changed, ...ended],
    forgotten: quiet.map(({ cause }) => cause),
    failing: changed.filter(({ isMailed }) => isMailed),
    over: ended.filter(({ isMailed }) => isMailed),
  };
}

function causeOf({ code, network }: Reason): string {
  return network === null ? code : `${code} ${network}`;
}

/** The row of a current cause; `known` itself if nothing changes. */
function ongoing(known: Alert | undefined, of: Pick<Alert, "cause" | "detail">, nowMs: number): Alert {
  const mailed = { ...of, endedAtMs: null, mailedAtMs: nowMs, isMailed: true };
  if (known === undefined) return { ...mailed, beganAtMs: nowMs };
  const beganAtMs = known.endedAtMs === null ? known.beganAtMs : nowMs;
  if (isMailDue(known.mailedAtMs, nowMs)) return { ...mailed, beganAtMs };
  return known.endedAtMs === null ? known : { ...known, ...of, beganAtMs, endedAtMs: null, isMailed: false };
}

/** A time in the future was written by a clock that was ahead. */
function isMailDue(mailedAtMs: number, nowMs: number): boolean {
  return nowMs - mailedAtMs >= MAILED_AGAIN_AFTER_MS || mailedAtMs > nowMs;
}
