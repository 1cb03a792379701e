import type { Clock } from "./clock.ts";
import { all } from "./page.ts";

const SECOND_MS = 1_000;
const ASK_AT_MOST_EVERY_MS = 60_000;

/**
 * Counts down every `time[data-deadline]`. Calls `onZero` at zero, and again with growing pauses while the page shows the same deadline. Call the
 * returned function when the page has changed.
 */
export function startCountdown(clock: Clock, onZero: () => void): () => void {
  let timer = 0;
  let over = { deadline: "", times: 0, nextMs: 0 };

  const askAgain = (deadline: string) => {
    if (over.deadline !== deadline) over = { deadline, times: 0, nextMs: 0 };
    if (performance.now() < over.nextMs) return;
    const pauseMs = Math.min(ASK_AT_MOST_EVERY_MS, SECOND_MS * 2 ** over.times) * (0.75 + Math.random() / 2);
    over = { deadline, times: over.times + 1, nextMs: performance.now() + pauseMs };
    onZero();
  };

  const tick = () => {
    clearTimeout(timer);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const time of all("time[data-deadline]")) {
      const { deadline = "" } = time.dataset;
      const leftMs = Math.max(0, Number(deadline) - clock.nowMs());
      const text = leftText(Math.ceil(leftMs / SECOND_MS));
      if (time.textContent !== text) time.textContent = text;
      if (leftMs === 0) askAgain(deadline);
      nextMs = Math.min(nextMs, leftMs % SECOND_MS || SECOND_MS);
    }
    if (!document.hidden && nextMs <= SECOND_MS) timer = setTimeout(tick, nextMs + 5);
  };

  document.addEventListener("visibilitychange", tick);
  return tick;
}

/** `mm:ss`, or `h:mm:ss`. */
function leftText(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3_600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}
