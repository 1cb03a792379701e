// How often the sources of one network may be tried. A trial uses requests from the same allowance as watching the network.
import { LIMITS } from "../../lib/limits.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";

interface TakenTrial {
  /** When the trials of the last minute began, in order, with this one if it is allowed. */
  readonly times: readonly number[];
  /** 0 if the trial is allowed. */
  readonly waitSeconds: number;
}

/** `times`: those of an earlier result. Times in the future, which a clock that was ahead wrote, do not count. */
export function takeTrial(times: readonly number[], nowMs: number): TakenTrial {
  const recent = times.filter((ms) => ms <= nowMs && ms > nowMs - MINUTE_MS);
  const [first] = recent;
  if (first === undefined || recent.length < LIMITS.sourceTrialsPerNetworkAndMinute)
    return { times: [...recent, nowMs], waitSeconds: 0 };
  return { times: recent, waitSeconds: Math.max(1, Math.ceil((first + MINUTE_MS - nowMs) / SECOND_MS)) };
}
