// The browser that pages are tested in, without a window, driven by playwright-core. It is told to call nobody by itself.
import { type Browser, chromium } from "playwright-core";
import { chromiumProgram, howToInstallChromium } from "./page-program.ts";

const QUIET = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"],
  // A page that a test makes up counts as public, and may frame one of this machine.
  "--disable-features=LocalNetworkAccessChecks",
];

/** Throws, saying how to install it, where there is none. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error(howToInstallChromium());
  return chromium.launch({ executablePath, args: QUIET });
}
