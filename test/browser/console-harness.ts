// A user of the console, who signs in with the code from the development mailbox.
import type { Page } from "playwright-core";
import { inject } from "vitest";
import { until } from "../../scripts/demo-story/until.ts";
import { findingsEverywhere } from "../support/page-axe.ts";
import { untilIdle } from "../support/page-idle.ts";
import { codeMailedTo } from "./console-entry.ts";

const SETTLED_WITHIN_MS = 60_000;

/**
 * Console errors to tolerate: no user is signed in yet, the service cannot be reached, or the database of a busy machine timed out; the console
 * retries.
 */
export const EXPECTED_IN_CONSOLE = /status of (40[13]|503)|ERR_INTERNET_DISCONNECTED/;

/** Errors to tolerate when a user opens the page of a merchant to which they do not belong. */
export const REFUSED_IN_CONSOLE = /status of (40[134]|503)|This merchant does not exist/;

export function freshAddress(): string {
  return `user-${crypto.randomUUID()}@example.com`;
}

/** The newest 8-digit code that was emailed to an address. */
export function mailedCode(email: string): Promise<string> {
  return codeMailedTo(inject("testbed").baseUrl, email);
}

/** Requests a code on the sign-in page, and enters it. */
export async function signIn(page: Page, email: string): Promise<void> {
  await proveMailbox(page, email);
  await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
}

/** Signs in on the current page, which shows the sign-in form. */
export async function proveMailbox(page: Page, email: string): Promise<void> {
  await page.getByLabel("Email address").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("Digit 1 of the code").click();
  await page.keyboard.type(await mailedCode(email));
}

/** Accessibility problems of the current page: axe's findings in both colour schemes and widths. Fails if the narrow page still scrolls sideways. */
export async function findings(page: Page): Promise<readonly string[]> {
  // Moves the pointer away, because an open tooltip would keep its position from the wide window.
  await page.mouse.move(0, 0);
  await page.setViewportSize({ width: 320, height: 800 });
  const excess = () =>
    page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  await until(excess, (pixels) => pixels === 0, SETTLED_WITHIN_MS);
  const found = await findingsEverywhere(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}

/** Waits until the page with this heading is shown, and none of it is still loading. */
export async function untilPage(page: Page, heading: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await untilIdle(page);
}

/** A user's device that creates and uses passkeys without asking. */
export async function giveDevice(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
