// Asks for the state of the invoice: when the server says that it changed, and every few seconds where no message will come. A hidden page rests.
import { lineTo } from "./line.ts";
import { currentMain } from "./page.ts";

/** While the socket is open, only to be sure. */
const SLOW_SECONDS = 60;
const LONGEST_PAUSE_SECONDS = 300;
const PATIENCE_MS = 15_000;
/** Stages that count blocks, for which no messages come; every part that shows progress counts too. */
const COUNTING: ReadonlySet<string | undefined> = new Set(["partial", "checking", "seen"]);

/** Takes an answer and the moment of `performance.now()` it came at, and says whether it was one. */
type OnState = (html: string, atMs: number) => boolean;

/** The result asks now, or as soon as the server wants to be asked. */
export function startLive(onState: OnState): () => void {
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
    // No message came for changes before the line opened. The first time the page is fresh, so there is no hurry.
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

/** Until the page asks again: milliseconds, with some jitter. */
function pauseAfter(failures: number, isOpen: boolean): number {
  const main = currentMain();
  const isCounting = COUNTING.has(main?.dataset.stage) || main?.querySelector("progress");
  const isLive = isOpen && failures === 0 && !isCounting;
  const seconds = (isLive ? SLOW_SECONDS : pollSeconds()) * 2 ** Math.min(failures, 6);
  return Math.min(LONGEST_PAUSE_SECONDS, seconds) * 1_000 * (0.9 + Math.random() / 5);
}

/**
 * Starts the one timer, and stops it; `ring` is to stop it first of all. What is due earlier stays: a socket that is lost again and again puts
 * nothing off.
 */
function timerFor(ring: () => void): readonly [start: (pauseMs: number) => void, stop: () => void] {
  /** 0 while nothing is due. */
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

/** Asks for the state, and says whether it was answered; and for how long the server does not want to be asked, at most 0 if it may be. */
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
        // Nobody may pay by a page of what is gone: the server says what is there instead.
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

/** A hidden page rests, and goes on when it is seen or online again. */
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
