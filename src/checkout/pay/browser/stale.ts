// Shows the time of the last response while the server or the payer's connection is down. The rest of the page does not change.
import type { Clock } from "./clock.ts";
import { all, say } from "./page.ts";

/** The number of failures after which the time is shown. After a single failure, the next request may already succeed. */
const SAID_AFTER = 2;

/** Call the returned function after each request for the state, with the number of failures since the last response. */
export function startStale(clock: Clock): (failures: number) => void {
  // If the server rendered the page from a copy, the page has the time of the copy.
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
