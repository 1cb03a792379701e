// Keeps the last steps of a page test. If a test hangs, nothing else shows where it was.
import type { Browser, Logger, Page } from "playwright-core";

/** How many steps are kept: about half a page of the log. */
const KEPT = 24;
const ANSWER_WITHIN_MS = 3_000;

const steps = new WeakMap<Browser, readonly string[]>();

/** A logger for `launch`, and a function that assigns its steps to the running browser. */
export function stepLog(): { readonly logger: Logger; readonly keepFor: (browser: Browser) => void } {
  const kept: string[] = [];
  const logger: Logger = {
    isEnabled: (name) => name === "api",
    log: (_, __, message) => {
      kept.push(`${new Date().toISOString().slice(11, 23)} ${String(message)}`);
      if (kept.length > KEPT) kept.shift();
    },
  };
  return { logger, keepFor: (browser) => steps.set(browser, kept) };
}

/** The last steps in a browser. For each page also its address, whether it draws frames, and what it shows. */
export async function lastSteps(browser: Browser, pages: readonly Page[]): Promise<string> {
  // Copied first, since asking the pages is a step too.
  const done = [...(steps.get(browser) ?? [])];
  const states = await Promise.all(pages.map(stateOf));
  return ["The last steps of the browser:", ...done, ...states].join("\n");
}

export const openPages = (browser: Browser): readonly Page[] =>
  browser.contexts().flatMap((context) => context.pages());

const STATE = `new Promise((tell) => {
  const say = (frames) => tell(frames + "\\n" + document.body.innerText.slice(0, 2000));
  requestAnimationFrame(() => say("it draws"));
  setTimeout(() => say("it draws nothing for a second"), 1000);
})`;

async function stateOf(page: Page): Promise<string> {
  const late = new Promise<string>((answer) => {
    setTimeout(() => answer(`it did not answer within ${ANSWER_WITHIN_MS / 1_000} s`), ANSWER_WITHIN_MS);
  });
  const state = await Promise.race([page.evaluate<string>(STATE).catch(String), late]);
  return `${page.url()}: ${state}`;
}
