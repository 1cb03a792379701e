// From page to page of the open console, as its links lead: a page that was loaded by its address costs four times as much.
import type { Page } from "playwright-core";

const OVERTAKEN_AFTER_MS = 10_000;

/**
 * Goes on to an address as a link of the console does: nothing is loaded again that the console has. Ends once the page is drawn, with what it reads still
 * to come. The router keeps itself in this variable.
 */
export async function follow(page: Page, path: string): Promise<void> {
  // The router's promise may stay open where another navigation overtakes this one. Whoever follows waits for what the page shows, anyway.
  const late = `new Promise((go) => setTimeout(go, ${OVERTAKEN_AFTER_MS}))`;
  await page.evaluate(`Promise.race([__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} }), ${late}])`);
}

/** Opens an address of the console: where the console is open as one of its links does, and else by loading it. */
export async function goTo(page: Page, path: string): Promise<void> {
  const isOpen = await page.evaluate<boolean>("typeof __TSR_ROUTER__ === 'object'");
  await (isOpen ? follow(page, path) : page.goto(path));
}
