// A user of the console: signs in with the code that the development mailbox got.
import type { Page } from "playwright-core";
import { inject } from "vitest";
import { until } from "../../scripts/demo-story/until.ts";
import { findingsEverywhere } from "../support/page-axe.ts";
import { untilIdle } from "../support/page-idle.ts";
import { codeMailedTo } from "./console-entry.ts";

const SETTLED_WITHIN_MS = 60_000;

/**
 * Console messages for answers that these tests expect: nobody is signed in yet, or the service is down. A busy machine's database may also
 * time out: the console retries.
 */
export const EXPECTED_IN_CONSOLE = /status of (40[13]|503)|ERR_INTERNET_DISCONNECTED/;

/** And when the page of a merchant is opened that the user does not belong to. */
export const REFUSED_IN_CONSOLE = /status of (40[134]|503)|There is no such merchant/;

export function freshAddress(): string {
  return `user-${crypto.randomUUID()}@example.com`;
}

/** The code of 8 digits in the newest email to an address. */
export function mailedCode(email: string): Promise<string> {
  return codeMailedTo(inject("testbed").baseUrl, email);
}

/** On the sign-in page: asks for a code, and enters it. */
export async function signIn(page: Page, email: string): Promise<void> {
  await proveMailbox(page, email);
  await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
}

/** Wherever the sign-in is shown. */
export async function proveMailbox(page: Page, email: string): Promise<void> {
  await page.getByLabel("Email address").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("Digit 1 of the code").click();
  await page.keyboard.type(await mailedCode(email));
}

/** What is wrong with the current page: axe in both schemes and widths, and sideways scrolling once a narrow window has settled. */
export async function findings(page: Page): Promise<readonly string[]> {
  // A tooltip under the pointer would stay where it was in the wide window.
  await page.mouse.move(0, 0);
  await page.setViewportSize({ width: 320, height: 800 });
  const excess = () =>
    page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  await until(excess, (pixels) => pixels === 0, SETTLED_WITHIN_MS);
  const found = await findingsEverywhere(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}

/** Waits until the page with this heading is there, and none of it is still loading. */
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
