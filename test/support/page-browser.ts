// The headless browser for page tests, driven by playwright-core. Its own background requests are off.
import { type Browser, chromium } from "playwright-core";
import { chromiumProgram, howToInstallChromium } from "./page-program.ts";
import { stepLog } from "./page-steps.ts";

const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--hide-scrollbars",
  // Chromium treats a page that a test makes up as public. This lets it frame a page of this machine.
  "--disable-features=LocalNetworkAccessChecks",
];

/** Starts the browser. If it is not installed, throws with instructions. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error(howToInstallChromium());
  const { logger, keepFor } = stepLog();
  const browser = await chromium.launch({ executablePath, args: QUIET, logger });
  keepFor(browser);
  return browser;
}
