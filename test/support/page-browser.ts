// The browser that pages are tested in, without a window, driven by playwright-core. Its own background requests are switched off.
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
  // A page that a test makes up counts as public, and may frame one of this machine.
  "--disable-features=LocalNetworkAccessChecks",
];

/** If the browser is not installed, throws and says how to install it. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error(howToInstallChromium());
  const { logger, keepFor } = stepLog();
  const browser = await chromium.launch({ executablePath, args: QUIET, logger });
  keepFor(browser);
  return browser;
}
