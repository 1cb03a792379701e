// Fetches the state of the invoice when the server reports a change, and every few seconds if no message will come. A hidden page pauses.
import { lineTo } from "./line.ts";
import { currentMain } from "./page.ts";

/** Slow polling while the socket is open, as a fallback. */
const SLOW_SECONDS = 60;
const LONGEST_PAUSE_SECONDS = 300;
const PATIENCE_MS = 15_000;
/**
 * Stages in which the page counts confirmations, about which the server sends no messages. A page with a progress bar counts them too. The server
 * also sends no message about a claimed transaction that does not pay the invoice.
 */
const COUNTING: ReadonlySet<string | undefined> = new Set(["partial", "checking", "seen"]);

/** Takes a response and its time by `performance.now()`; returns whether it was a valid state. */
type OnState = (html: string, atMs: number) => boolean;

/**
 * The returned function fetches now, or as soon as the server allows. `onAsked` gets the number of requests that have failed since the last response.
 */
export function startLive(onState: OnState, onAsked: (failures: number) => void): () => void {
  let isOver = false;
  let isAsking = false;
  let isWanted = false;
  let failures = 0;
  let opened = 0;

  const schedule = () => {
    if (pollSeconds() === 0) return end();
    if (isOver || document.hidden) return;
    askIn(Math.max(pauseAfter(failures, line.isOpen()), earlyMs()));
  };

  const ask = async () => {
    rest();
    isWanted = true;
    if (isOver || isAsking) return;
    if (earlyMs() > 0) return askIn(earlyMs());
    isAsking = true;
    isWanted = false;
    failures = (await isAnswered()) ? 0 : failures + 1;
    isAsking = false;
    onAsked(failures);
    if (isWanted && failures === 0) return ask();
    schedule();
  };

  const end = () => {
    isOver = true;
    rest();
    line.close();
  };

  const [askIn, rest] = timerFor(ask);
  const [isAnswered, earlyMs] = stateReader(onState, end);
  const line = lineTo({
    path: () => currentMain()?.dataset.liveUrl,
    // Changes made before the connection opened sent no message. When the first connection opens, the page is still new, so there is no hurry.
    onOpen: () => {
      if (opened++ > 0) ask();
      else askIn(pollSeconds() * 1_000);
    },
    onNews: ask,
    onLoss: schedule,
  });

  const goOn = () => {
    if (isOver || document.hidden) return;
    line.open();
    ask();
  };

  if (pollSeconds() > 0) {
    followPage(rest, goOn);
    window.addEventListener("pagehide", line.close);
    line.open();
    schedule();
  } else isOver = true;
  return ask;
}

function pollSeconds(): number {
  return Number(currentMain()?.dataset.pollSeconds ?? 0);
}

/** Milliseconds until the next fetch, with some jitter. */
function pauseAfter(failures: number, isOpen: boolean): number {
  const main = currentMain();
  const isCounting = COUNTING.has(main?.dataset.stage) || main?.querySelector("progress, [data-part=claim]:not(.good)");
  const isLive = isOpen && failures === 0 && !isCounting;
  const seconds = (isLive ? SLOW_SECONDS : pollSeconds()) * 2 ** Math.min(failures, 6);
  return Math.min(LONGEST_PAUSE_SECONDS, seconds) * 1_000 * (0.9 + Math.random() / 5);
}

/**
 * Starts and stops a single timer. `ring` must stop the timer first. An earlier due time is kept, so that a socket that is lost repeatedly does not
 * postpone the next request.
 */
function timerFor(ring: () => void): readonly [start: (pauseMs: number) => void, stop: () => void] {
  /** 0 while no timer is running. */
  let timer = 0;
  let dueMs = 0;
  const stop = () => {
    clearTimeout(timer);
    timer = 0;
  };
  const start = (pauseMs: number) => {
    const atMs = performance.now() + pauseMs;
    if (timer !== 0 && atMs >= dueMs) return;
    stop();
    dueMs = atMs;
    timer = setTimeout(ring, pauseMs);
  };
  return [start, stop];
}

/** Fetches the state. Returns whether there was a response, and how long to wait before the next request (0 or less if it may be sent now). */
function stateReader(
  onState: OnState,
  onGone: () => void,
): readonly [read: () => Promise<boolean>, earlyMs: () => number] {
  let notBeforeMs = 0;
  let version: string | null = null;
  let lastText = "";

  const read = async () => {
    try {
      const response = await fetch(currentMain()?.dataset.stateUrl ?? "", {
        cache: "no-store",
        headers: version === null ? {} : { "if-none-match": version },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const atMs = performance.now();
      if (response.status === 404 || response.status === 410) {
        // The invoice is gone, so no one may pay on this page. The reloaded page explains what happened.
        onGone();
        location.reload();
      }
      const waitSeconds = Number(response.headers.get("retry-after"));
      if (!response.ok && waitSeconds > 0) notBeforeMs = atMs + waitSeconds * 1_000;
      if (!response.ok) return response.status === 304;
      const text = await response.text();
      if (text !== lastText && !onState(text, atMs)) return false;
      lastText = text;
      version = response.headers.get("etag");
      return true;
    } catch {
      return false;
    }
  };
  return [read, () => notBeforeMs - performance.now()];
}

/** Pauses a hidden page, and resumes when it is visible or online again. */
function followPage(rest: () => void, goOn: () => void): void {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) rest();
    else goOn();
  });
  window.addEventListener("online", goOn);
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) goOn();
  });
}
