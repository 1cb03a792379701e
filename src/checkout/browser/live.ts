// Asks for the state of the invoice: when the server says that it changed, and every few seconds where nobody says so. A page that nobody
// looks at rests.
import { lineTo } from "./line.ts";
import { currentMain } from "./page.ts";

/** While the socket is open, only to be sure. */
const SLOW_SECONDS = 60;
const LONGEST_PAUSE_SECONDS = 300;
const PATIENCE_MS = 15_000;
/** Where blocks count, and nobody tells of each block. */
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
  /** Whether the state was asked for since the socket stood: what changed before nobody told. */
  let isSettled = false;
  let timer = 0;

  const pollSeconds = () => Number(currentMain()?.dataset.pollSeconds ?? 0);

  const schedule = () => {
    clearTimeout(timer);
    if (pollSeconds() === 0) return end();
    if (isOver || document.hidden) return;
    const isTold = line.isOpen && isSettled && !COUNTING.has(currentMain()?.dataset.stage);
    const seconds = (isTold ? SLOW_SECONDS : pollSeconds()) * 2 ** Math.min(failures, 6);
    const pauseMs = Math.min(LONGEST_PAUSE_SECONDS, seconds) * 1_000 * (0.9 + Math.random() / 5);
    timer = setTimeout(ask, Math.max(pauseMs, notBeforeMs - performance.now()));
  };

  const ask = async () => {
    clearTimeout(timer);
    isWanted = true;
    if (isOver || isAsking) return;
    const earlyMs = notBeforeMs - performance.now();
    if (earlyMs > 0) {
      timer = setTimeout(ask, earlyMs);
      return;
    }
    isAsking = true;
    isWanted = false;
    const wasOpen = line.isOpen;
    failures = (await isAnswered()) ? 0 : failures + 1;
    isSettled ||= wasOpen && failures === 0;
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
      if (response.status === 404 || response.status === 410) end();
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
    clearTimeout(timer);
    line.close();
  };

  const line = lineTo({
    path: () => currentMain()?.dataset.liveUrl,
    onOpen: () => {
      isSettled = false;
      // The first time the page is fresh from the server, and a poll will come soon.
      if (opened++ > 0) ask();
      else schedule();
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
      if (document.hidden) clearTimeout(timer);
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
