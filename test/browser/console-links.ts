// Moves between pages of the open console through its links: loading a page by its address costs four times as much.
import type { Page } from "playwright-core";

const OVERTAKEN_AFTER_MS = 10_000;

/**
 * Follows a console link to an address without reloading what the console has. Ends once the page is drawn, before its data arrives. The router
 * stores itself in this variable.
 */
export async function follow(page: Page, path: string): Promise<void> {
  // The router's promise may stay open where another navigation overtakes this one. The caller waits for the page's content anyway.
  const late = `new Promise((go) => setTimeout(go, ${OVERTAKEN_AFTER_MS}))`;
  await page.evaluate(`Promise.race([__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} }), ${late}])`);
}

/** Opens an address of the console: through a link if the console is open, otherwise by loading it. */
export async function goTo(page: Page, path: string): Promise<void> {
  const isOpen = await page.evaluate<boolean>("typeof __TSR_ROUTER__ === 'object'");
  await (isOpen ? follow(page, path) : page.goto(path));
}
