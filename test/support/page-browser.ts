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
  // A page that a test makes up counts as public; this lets it frame one of this machine.
  "--disable-features=LocalNetworkAccessChecks",
];

/** If the browser is not installed, throws with instructions. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error(howToInstallChromium());
  const { logger, keepFor } = stepLog();
  const browser = await chromium.launch({ executablePath, args: QUIET, logger });
  keepFor(browser);
  return browser;
}
