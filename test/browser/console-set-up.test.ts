// The set-up as the operator sees it, on a separate production server where no one has redeemed a link. `npm run setup-link` creates a link, and a
// virtual device holds the passkey.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, it } from "vitest";
import { publicSourcesOf } from "../../scripts/deploy/public-sources.ts";
import { findFreePort } from "../../scripts/free-port.ts";
import { type Server, startServer } from "../../scripts/server.ts";
import { readSettings } from "../../scripts/settings.ts";
import { parseChainSources } from "../../src/chains/sources/chain-sources.ts";
import { startVisit, type Visit } from "../support/page-visit.ts";
import { findings, giveDevice, untilPage } from "./console-harness.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/** Errors to tolerate: no user is signed in yet, nothing is served yet, or the server is being restarted. */
const EXPECTED = /status of (401|403|404|503)|net::ERR_/;
/** Where to save pictures for viewing; none by default. */
const PICTURES = process.env.SET_UP_PICTURES;
/** The variables of a new production deployment, except for its mail. */
const PRODUCTION = {
  ENVIRONMENT: "production",
  PUBLIC_URL: "",
  SIGN_UP: "first",
  RATE_SOURCE: "coinbase,kraken",
  WEBHOOK_LOOPBACK: "",
};

describeInBrowser("a deployment that nobody has set up", () => {
  const browsing = useBrowser();
  const folder = mkdtempSync(join(tmpdir(), "edgetill-set-up-"));
  let server: Server | undefined;
  let start: (changes?: Readonly<Record<string, string>>) => Promise<Server>;
  let environment: Readonly<Record<string, string>>;
  let baseUrl = "";
  let provider: HttpServer | undefined;
  /** What the mail provider answers. */
  let mailStatus = 200;
  const visits: Visit[] = [];

  beforeAll(async () => {
    environment = { PORT: String(await findFreePort()), EDGETILL_HOME: join(folder, "home") };
    const settings = readSettings(environment);
    ({ baseUrl } = settings);
    const mailPort = await findFreePort();
    provider = createServer((_, response) => response.writeHead(mailStatus).end("{}")).listen(mailPort, "127.0.0.1");
    const mail = JSON.stringify({ kind: "resend", apiKey: "re_1", url: `http://127.0.0.1:${mailPort}` });
    const variables = { ...settings.variables, ...PRODUCTION, MAIL_PROVIDER: mail };
    const options = { logFile: join(folder, "server.log") };
    start = (changes) => startServer({ ...settings, variables: { ...variables, ...changes } }, options);
    server = await start();
  });
  afterEach(async () => {
    mailStatus = 200;
    const faults = visits.flatMap((visit) => visit.faults);
    for (const visit of visits.splice(0)) await visit.close();
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await server?.stop();
    provider?.close();
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

  it("says at every URL that it is not set up, and at /setup shows how to create a link", async () => {
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

  it("is set up with the keyboard only: link, name, email address, passkey, test alert, and first shop", async () => {
    const page = await visit();
    await giveDevice(page);
    await page.goto(newLink());
    await page.getByRole("heading", { level: 1, name: "Set up Edgetill" }).waitFor();
    // The token must be in neither the address nor the history.
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
    // The first of two optional steps.
    await page.getByRole("heading", { level: 1, name: "Check that alerts reach you" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-alerts");
    await page.getByRole("button", { name: "Send test alert" }).click();
    await page.getByText("ann@example.com: accepted by the mail provider").waitFor();
    await page.getByRole("button", { name: "It arrived" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-alerts-sent");
    expect(await warnings(page)).toContain("ALERTS_UNPROVED");
    await page.getByRole("button", { name: "Skip for now" }).click();
    await page.getByRole("heading", { level: 1, name: "Choose data sources" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-sources");
    await page.getByRole("button", { name: "Skip for now" }).click();
    await untilPage(page, "Welcome");
    expect(await findings(page)).toEqual([]);
    await page.getByLabel("Name of your shop or business").fill("Corner shop");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("Address or extended public key").waitFor();
    const me = await page.request.get("/api/v1/me");
    expect(await me.json()).toMatchObject({ email: "ann@example.com", name: "Ann Example", isOperator: true });
    // From now on the operator signs in with this passkey.
    await page.context().clearCookies();
    await page.goto("/sign-in");
    await page.getByText("New accounts are by invitation only.").waitFor();
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.waitForURL(/\/console/);
  });

  it("says why a test alert was refused, does not let it be confirmed, sends another on request, and lets the user skip the step", async () => {
    const page = await visit();
    await giveDevice(page);
    await page.goto(newLink());
    await fill(page, "Bob Example", "bob@example.com");
    mailStatus = 422;
    await page.getByRole("button", { name: "Send test alert" }).click();
    await page.getByText("Some alerts were not sent").waitFor();
    await page.getByText("bob@example.com: status 422").waitFor();
    expect(await page.getByRole("button", { name: "It arrived" }).count()).toBe(0);
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-alerts-refused");
    mailStatus = 200;
    await page.getByRole("button", { name: "Send another test alert" }).click();
    await page.getByRole("button", { name: "It arrived" }).waitFor();
    expect(await page.getByText("status 422").count()).toBe(0);
    // What a later attempt was refused is not what arrived before.
    mailStatus = 422;
    await page.getByRole("button", { name: "Send another test alert" }).click();
    await page.getByText("bob@example.com: status 422").waitFor();
    expect(await page.getByRole("button", { name: "It arrived" }).count()).toBe(0);
    await page.getByRole("button", { name: "Skip for now" }).click();
    await page.getByRole("heading", { level: 1, name: "Choose data sources" }).waitFor();
    expect(await warnings(page)).toContain("ALERTS_UNPROVED");
  });

  it("offers public sources with the commands that add them, and tests a network's source as soon as it is added", async () => {
    const page = await visit();
    await giveDevice(page);
    await page.goto(newLink());
    await fill(page, "Carol Example", "carol@example.com");
    await page.getByRole("button", { name: "Skip for now" }).click();
    await page.getByLabel("ETH", { exact: true }).check();
    await page.getByLabel("LTC", { exact: true }).check();
    for (const { vendor, network, document, readOn, limit, learns } of [
      ...publicSourcesOf("LTC"),
      ...publicSourcesOf("ETH"),
    ]) {
      await page.getByText(`${network}: ${vendor}`).waitFor();
      expect(await page.locator(`a[href="${document}"]`).count()).toBe(1);
      for (const text of [`read on ${readOn}`, limit, learns]) await page.getByText(text).first().waitFor();
    }
    await page.getByText("LTC has one public source, which no other can contradict").waitFor();
    await page.getByText("require two vendors to agree").waitFor();
    const shown = (name: string) => page.getByLabel(name, { exact: true }).textContent();
    const deployment = "<name of the deployment>";
    expect(await shown("Command that tries and adds the sources")).toBe(
      `npm run deploy -- --name ${deployment} --public-sources LTC,ETH`,
    );
    expect(await shown("Command that adds the sources")).toBe(
      `npm run wrangler -- secret put CHAIN_SOURCES --name ${deployment}`,
    );
    const parsed = parseChainSources({ CHAIN_SOURCES: (await shown("Value to paste")) ?? "" });
    expect(parsed.ok && [...parsed.value.keys()]).toEqual(["LTC", "ETH"]);
    await page.getByText("No source yet: LTC, ETH.").waitFor();
    expect(await page.getByRole("button", { name: /Try sources/ }).count()).toBe(0);
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-sources-chosen");
    // What the command would do, with a node of this machine.
    await server?.stop();
    const { chainUrl } = inject("testbed");
    server = await start({ CHAIN_SOURCES: JSON.stringify({ ETH: [{ kind: "evm-rpc", url: chainUrl }] }) });
    await page.getByText("ETH has a source now").waitFor({ timeout: 60_000 });
    await page.getByText("No source yet: LTC.").waitFor();
    await page.getByRole("button", { name: "Try sources: ETH" }).click();
    await page.getByText("Every source of ETH works").waitFor();
    await page.getByText(/works, block [\d,]+ in [\d,]+ ms/).waitFor();
    expect(await findings(page)).toEqual([]);
    await photograph(page, "setup-sources-tried");
    expect(await warnings(page)).not.toContain("NETWORK_NOT_WATCHED");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(/\/console/);
  });

  it("accepts a setup link only once: a used, replaced or invalid link shows what to do, and a new link adds a passkey", async () => {
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
    // Nobody has confirmed a test alert yet, so this link asks again; a network has a source by now, so it does not offer any.
    await page.getByRole("button", { name: "Send test alert" }).click();
    await page.getByRole("button", { name: "It arrived" }).click();
    await page.waitForURL(/\/console/);
    // `/healthz` reuses what it read in the last five seconds.
    await expect.poll(() => warnings(page), { timeout: 10_000 }).not.toContain("ALERTS_UNPROVED");
    const me = await page.request.get("/api/v1/me");
    expect(await me.json()).toMatchObject({ email: "ann@example.com", name: "Ann Example", factors: { passkeys: 2 } });
    await page.goto("about:blank");
    await page.goto(link);
    await fill(page, "Ann", "ann@example.com");
    await page.getByText("This link no longer works").waitFor();
  });
});

async function warnings(page: Page): Promise<readonly string[]> {
  const health = await page.request.get("/healthz");
  const { warnings }: { readonly warnings: readonly string[] } = await health.json();
  return warnings;
}

/** Takes pictures, wide and narrow, light and dark, if SET_UP_PICTURES names a folder. */
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
