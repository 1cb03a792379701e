// Which alerts operators get, by email and by webhook: at most one an hour for a cause while it lasts, and one when it is over. No second alert is
// sent for a cause that ends and returns within the hour, so that a source that fails every other minute does not fill a mailbox.
import { HOUR_MS } from "../../lib/time.ts";
import type { Reason } from "../deployment-status/status.ts";

export interface Alert {
  /** The code of the reason, with its network. */
  readonly cause: string;
  readonly detail: string;
  readonly beganAtMs: number;
  /** Null while the failure lasts. */
  readonly endedAtMs: number | null;
  /** When operators were last alerted that the failure lasts, in this episode or an earlier one. */
  readonly mailedAtMs: number;
  /** Whether operators were alerted to this episode. */
  readonly isMailed: boolean;
}

export interface AlertPlan {
  /** The new or changed rows. */
  readonly changed: readonly Alert[];
  /** Causes whose rows are deleted. */
  readonly forgotten: readonly string[];
  /** The content of an alert: `failing` are the causes that last and are due for an alert, `over` those that have just ended. */
  readonly failing: readonly Alert[];
  readonly over: readonly Alert[];
  /** Whether a cause that operators were alerted to still lasts, even if this alert does not repeat it. */
  readonly isFailing: boolean;
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
    isFailing: present.some(({ isMailed }) => isMailed),
  };
}

/** An alert in one line. */
export function headlineOf({ failing, over }: Pick<AlertPlan, "failing" | "over">): string {
  return failing.length === 0 ? `Over: ${causesOf(over)}` : `Needs an operator: ${causesOf(failing)}`;
}

function causesOf(alerts: readonly Alert[]): string {
  return alerts.map(({ cause }) => cause).join(", ");
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

/** Also true for a time in the future, which was written by a clock that was ahead. */
function isMailDue(mailedAtMs: number, nowMs: number): boolean {
  return nowMs - mailedAtMs >= MAILED_AGAIN_AFTER_MS || mailedAtMs > nowMs;
}
