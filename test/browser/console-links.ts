// Moves between pages of the open console through its router, because loading a page by its address takes four times as long.
import type { Page } from "playwright-core";

const OVERTAKEN_AFTER_MS = 10_000;

/**
 * Goes to an address as a console link does, without reloading the console. Resolves once the page is drawn, before its data arrives. The console's
 * router is in `__TSR_ROUTER__`.
 */
export async function follow(page: Page, path: string): Promise<void> {
  // The router's promise may never settle if another navigation overtakes this one. The caller waits for the page's content anyway.
  const late = `new Promise((go) => setTimeout(go, ${OVERTAKEN_AFTER_MS}))`;
  await page.evaluate(`Promise.race([__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} }), ${late}])`);
}

/** Opens an address of the console: through a link if the console is open, otherwise by loading it. */
export async function goTo(page: Page, path: string): Promise<void> {
  const isOpen = await page.evaluate<boolean>("typeof __TSR_ROUTER__ === 'object'");
  await (isOpen ? follow(page, path) : page.goto(path));
}
