// Shows the time of the last answer while the server or the payer's connection is down. The rest of the page stays.
import type { Clock } from "./clock.ts";
import { all, say } from "./page.ts";

/** A single failure may already be over at the next request. */
const SAID_AFTER = 2;

/** Call the result after each request for the state, with the number of failures since the last answer. */
export function startStale(clock: Clock): (failures: number) => void {
  // Where the server has shown again what it showed before, it says since when that is known.
  const shownMs = Number(all("[data-stale]")[0]?.dataset.stale);
  let isOld = shownMs > 0;
  let answeredMs = isOld ? shownMs : clock.nowMs();

  return (failures) => {
    if (failures === 0) [answeredMs, isOld] = [clock.nowMs(), false];
    for (const note of all("[data-stale]")) {
      const isFresh = failures < SAID_AFTER && !isOld;
      if (note.hidden === isFresh) continue;
      note.hidden = isFresh;
      const time = note.querySelector("time");
      if (time === null || isFresh) continue;
      time.dateTime = new Date(answeredMs).toISOString();
      time.textContent = new Date(answeredMs).toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" });
      say(note.textContent ?? "");
    }
  };
}
