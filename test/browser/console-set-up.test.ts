// The set-up as its operator sees it: a separate production server on which nobody has redeemed a link; `npm run setup-link` creates one, a
// virtual device holds the passkey.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";
import { type Server, startServer } from "../../scripts/server.ts";
import { readSettings } from "../../scripts/settings.ts";
import { startVisit, type Visit } from "../support/page-visit.ts";
import { findings, giveDevice, untilPage } from "./console-harness.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/** Nobody is signed in yet, or nothing is served yet. */
const EXPECTED = /status of (401|403|404|503)/;
/** Where to save pictures for viewing; none by default. */
const PICTURES = process.env.SET_UP_PICTURES;
/** As in wrangler.toml, except for the port. */
const PRODUCTION = {
  ENVIRONMENT: "production",
  PUBLIC_URL: "",
  SIGN_UP: "first",
  RATE_SOURCE: "coinbase,kraken",
  MAIL_PROVIDER: '{"kind":"cloudflare"}',
  WEBHOOK_LOOPBACK: "",
};

describeInBrowser("a deployment that nobody has set up", () => {
  const browsing = useBrowser();
  const folder = mkdtempSync(join(tmpdir(), "edgetill-set-up-"));
  let server: Server | undefined;
  let environment: Readonly<Record<string, string>>;
  let baseUrl = "";
  const visits: Visit[] = [];

  beforeAll(async () => {
    environment = { PORT: String(await findFreePort()), EDGETILL_HOME: join(folder, "home") };
    const settings = readSettings(environment);
    ({ baseUrl } = settings);
    const options = { logFile: join(folder, "server.log") };
    server = await startServer({ ...settings, variables: { ...settings.variables, ...PRODUCTION } }, options);
  });
  afterEach(async () => {
    const faults = visits.flatMap((visit) => visit.faults);
    for (const visit of visits.splice(0)) await visit.close();
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function visit(): Promise<Page> {
    const one = await startVisit(browsing.browser(), baseUrl, { reducedMotion: "reduce", alsoSaid: EXPECTED });
    visits.push(one);
    return one.page;
  }

  /** The path of a new link. */
  function newLink(): string {
    const env = { ...process.env, ...environment };
    const printed = execFileSync(process.execPath, ["scripts/setup-link.ts"], { encoding: "utf8", env });
    const [link = ""] = /http:\S+/.exec(printed) ?? [];
    expect(link).toMatch(new RegExp(`^${baseUrl}/setup#[\\w-]{43}$`));
    return link.slice(baseUrl.length);
  }

  async function fill(page: Page, name: string, email: string): Promise<void> {
    await page.getByLabel("Your name").fill(name);
    await page.getByLabel("Email address").fill(email);
    await page.getByRole("button", { name: "Create a passkey" }).click();
  }

  it("says so at every address, and at /setup without a link how to create one", async () => {
    const page = await visit();
    for (const path of ["/", "/console", "/sign-in", "/pay/inv_1"]) {
      const answer = await page.goto(path);
      expect(answer?.status()).toBe(503);
      await page.getByRole("heading", { level: 1, name: "Not set up yet" }).waitFor();
    }
    expect(await findings(page)).toEqual([]);
    await photograph(page, "not-set-up");
    await page.goto("/setup");
    await page.getByText("npm run setup-link").waitFor();
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-without-link");
  });

  it("is set up with the keyboard only: a link, a name and an address, a passkey, and on to the shop", async () => {
    const page = await visit();
    await giveDevice(page);
    await page.goto(newLink());
    await page.getByRole("heading", { level: 1, name: "Set up Edgetill" }).waitFor();
    // The token is in neither the address nor the history.
    expect(page.url()).toBe(`${baseUrl}/setup`);
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup");
    await page.getByRole("button", { name: "Create a passkey" }).click();
    await page.getByText("Enter your name").waitFor();
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-wrong");
    await page.getByLabel("Your name").focus();
    await page.keyboard.type("Ann Example");
    await page.keyboard.press("Tab");
    await page.keyboard.type("ann@example.com");
    await page.keyboard.press("Enter");
    await untilPage(page, "Welcome");
    expect(await findings(page)).toEqual([]);
    await page.getByLabel("Name of your shop or business").fill("Corner shop");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("Address or extended public key").waitFor();
    const me = await page.request.get("/api/v1/me");
    expect(await me.json()).toMatchObject({ email: "ann@example.com", name: "Ann Example", isOperator: true });
    // The passkey to sign in with from now on.
    await page.context().clearCookies();
    await page.goto("/sign-in");
    await page.getByText("New accounts are by invitation only.").waitFor();
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.waitForURL(/\/console/);
  });

  it("accepts a link once: a used, replaced or wrong one says what to do, and a new one adds a passkey", async () => {
    const page = await visit();
    await giveDevice(page);
    const replaced = newLink();
    const link = newLink();
    for (const path of [replaced, "/setup#guessed"]) {
      await page.goto("about:blank");
      await page.goto(path);
      await fill(page, "Mallory", "mallory@example.com");
      await page.getByText("This link no longer works").waitFor();
    }
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-over");
    await page.goto("about:blank");
    await page.goto(link);
    await fill(page, "Somebody", "Ann@example.com");
    await page.waitForURL(/\/console/);
    const me = await page.request.get("/api/v1/me");
    expect(await me.json()).toMatchObject({ email: "ann@example.com", name: "Ann Example", factors: { passkeys: 2 } });
    await page.goto("about:blank");
    await page.goto(link);
    await fill(page, "Ann", "ann@example.com");
    await page.getByText("This link no longer works").waitFor();
  });
});

/** Wide and narrow, light and dark, if pictures are wanted. */
async function photograph(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  for (const width of [1280, 390])
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`) });
    }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
}
