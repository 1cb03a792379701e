// Asks for the state of the invoice: when the server says that it changed, and every few seconds where no message will come. A hidden page rests.
import { lineTo } from "./line.ts";
import { currentMain } from "./page.ts";

/** While the socket is open, only to be sure. */
const SLOW_SECONDS = 60;
const LONGEST_PAUSE_SECONDS = 300;
const PATIENCE_MS = 15_000;
/** Stages that count blocks, for which no messages come; every part that shows progress counts too. */
const COUNTING: ReadonlySet<string | undefined> = new Set(["partial", "checking", "seen"]);

export interface Live {
  /** Asks now, or as soon as the server wants to be asked. */
  ask(): void;
}

/** `onState` takes an answer and the moment of `performance.now()` it came at, and says whether it was one. */
export function startLive(onState: (html: string, atMs: number) => boolean): Live {
  let isOver = false;
  let isAsking = false;
  let isWanted = false;
  let failures = 0;
  let notBeforeMs = 0;
  let version: string | null = null;
  let lastText = "";
  let opened = 0;
  let timer = 0;
  let dueMs = Number.POSITIVE_INFINITY;

  const isCounting = () => {
    const main = currentMain();
    return COUNTING.has(main?.dataset.stage) || Boolean(main?.querySelector("progress"));
  };

  const pollSeconds = () => Number(currentMain()?.dataset.pollSeconds ?? 0);

  const rest = () => {
    clearTimeout(timer);
    dueMs = Number.POSITIVE_INFINITY;
  };

  /** What is due earlier stays: a socket that is lost again and again puts nothing off. */
  const askIn = (pauseMs: number) => {
    const atMs = performance.now() + pauseMs;
    if (atMs >= dueMs) return;
    rest();
    dueMs = atMs;
    timer = setTimeout(ask, pauseMs);
  };

  const schedule = () => {
    if (pollSeconds() === 0) return end();
    if (isOver || document.hidden) return;
    const isLive = line.isOpen && failures === 0 && !isCounting();
    const seconds = (isLive ? SLOW_SECONDS : pollSeconds()) * 2 ** Math.min(failures, 6);
    const pauseMs = Math.min(LONGEST_PAUSE_SECONDS, seconds) * 1_000 * (0.9 + Math.random() / 5);
    askIn(Math.max(pauseMs, notBeforeMs - performance.now()));
  };

  const ask = async () => {
    rest();
    isWanted = true;
    if (isOver || isAsking) return;
    const earlyMs = notBeforeMs - performance.now();
    if (earlyMs > 0) return askIn(earlyMs);
    isAsking = true;
    isWanted = false;
    failures = (await isAnswered()) ? 0 : failures + 1;
    isAsking = false;
    if (isWanted && failures === 0) return ask();
    schedule();
  };

  const isAnswered = async (): Promise<boolean> => {
    try {
      const response = await fetch(currentMain()?.dataset.stateUrl ?? "", {
        cache: "no-store",
        headers: version === null ? {} : { "if-none-match": version },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const atMs = performance.now();
      if (response.status === 404 || response.status === 410) {
        // Nobody may pay by a page of what is gone: the server says what is there instead.
        end();
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

  const end = () => {
    isOver = true;
    rest();
    line.close();
  };

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
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) rest();
      else goOn();
    });
    window.addEventListener("online", goOn);
    window.addEventListener("pagehide", line.close);
    window.addEventListener("pageshow", ({ persisted }) => {
      if (persisted) goOn();
    });
    line.open();
    schedule();
  } else isOver = true;
  return { ask };
}
