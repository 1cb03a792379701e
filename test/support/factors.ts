// Authenticator apps and clocks for tests on workerd.
import { eq } from "drizzle-orm";
import { HOTP, Secret } from "otpauth";
import { expect, vi } from "vitest";
import { users } from "../../src/platform/db/schema/users.ts";
import { type Answer, type Ask, sendWith } from "./access.ts";
import { type Browser, freshEmail, newBrowser, signIn } from "./browser.ts";
import { testDb } from "./worker-merchant.ts";

export const STEP_MS = 30_000;
export const TOTP = "/api/v1/me/totp";
export const SECOND_FACTOR = "/api/v1/auth/second-factor";
export const STEP_UP = "/api/v1/auth/step-up";

/** Stops the clock in the middle of a time step, so that no test crosses from one step to the next. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Math.floor(Date.now() / STEP_MS) * STEP_MS + STEP_MS / 2 });
}

export function passTime(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** The code an app shows now, or this many steps from now. */
export function appCode(secret: string, stepsAway = 0): string {
  return HOTP.generate({
    secret: Secret.fromBase32(secret),
    counter: Math.floor(Date.now() / STEP_MS) + stepsAway,
  });
}

/** Six digits that are not the code of any nearby step. */
export function wrongCode(secret: string): string {
  const right = [-2, -1, 0, 1, 2].map((away) => appCode(secret, away));
  const wrong = ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !right.includes(code));
  if (wrong === undefined) throw new Error("every wrong code is right");
  return wrong;
}

interface AppHolder {
  readonly email: string;
  /** The session that set the app up. */
  readonly browser: Browser;
  readonly secret: string;
  readonly backupCodes: readonly string[];
}

/** A user who has just signed in. */
export async function newcomer(): Promise<{ readonly email: string; readonly browser: Browser }> {
  const [email, browser] = [freshEmail(), newBrowser()];
  expect((await signIn(browser, email)).json).toMatchObject({ state: "active" });
  return { email, browser };
}

/** A user with an authenticator app, whose set-up used the code of the previous time step. */
export async function appHolder(): Promise<AppHolder> {
  const { email, browser } = await newcomer();
  const secret = await begin(browser);
  const confirmed = await browser.post(`${TOTP}/confirm`, { code: appCode(secret, -1) });
  expect(confirmed.status, confirmed.text).toBe(200);
  return { email, browser, secret, backupCodes: codesIn(confirmed) };
}

/** The secret of an authenticator that awaits its first code. */
export async function begin(browser: Browser): Promise<string> {
  const begun = await browser.post(TOTP);
  expect(begun.status, begun.text).toBe(200);
  return String(begun.json?.secret);
}

export function codesIn({ json }: Answer): readonly string[] {
  const codes = json?.backupCodes;
  if (!Array.isArray(codes)) throw new Error("no backup codes");
  return codes.map(String);
}

/** Another browser of the same user, before its second factor. */
export async function pendingBrowser(email: string): Promise<Browser> {
  const browser = newBrowser();
  expect((await signIn(browser, email)).json).toMatchObject({ state: "pending_2fa" });
  return browser;
}

/** Several browsers of one user before their second factor, created one at a time because each reads the newest email. */
export async function pendingBrowsers(email: string, count: number): Promise<readonly Browser[]> {
  const browsers: Browser[] = [];
  while (browsers.length < count) browsers.push(await pendingBrowser(email));
  return browsers;
}

/** Sends a browser's request, against the test's own bindings. */
export function askWith(changes: Partial<Env>, browser: Browser, path: string, ask: Ask): Promise<Answer> {
  const cookie = Object.entries(browser.cookies())
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");
  return sendWith(changes, path, { ...ask, headers: { origin: "http://localhost:8787", cookie } });
}

/** The row of the user with this email address. */
export async function userOf(email: string) {
  const [user] = await testDb.select().from(users).where(eq(users.emailKey, email));
  if (user === undefined) throw new Error("no such user");
  return user;
}
