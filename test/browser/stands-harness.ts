// Shared by the tests of the script: pages that close when the test ends.
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { launchChromium } from "../support/page-browser.ts";
import { openStand, type Stand, type StandOptions } from "./script-stand.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

let browser: Browser;

let stands: Stand[] = [];

/** A page that closes when the test ends. */
export async function open(main: string, options: StandOptions & { readonly before?: string } = {}): Promise<Stand> {
  const stand = await openStand(browser, main, options);
  stands.push(stand);
  return stand;
}

export function useStands(): void {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const ending = stands;
    stands = [];
    for (const stand of ending) await stand.close();
  });
}

/** Waits until the page has sent this many requests, and has handled their answers. */
export async function untilAsked(stand: Stand, count: number): Promise<void> {
  await expect.poll(() => stand.asked.length).toBe(count);
  await stand.settle();
}
