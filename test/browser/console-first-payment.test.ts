// A newcomer's first payment: after `npm start` the browser alone is enough to get an invoice paid, without another command.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";
import { EXPECTED_IN_CONSOLE, findings, freshAddress, untilPage } from "./console-harness.ts";
import { describeInBrowser, until, useBrowser } from "./harness.ts";

const STARTS_WITHIN_MS = 180_000;
const PAID_WITHIN_MS = 120_000;

interface Start {
  readonly child: ChildProcess;
  readonly printed: () => string;
}

describeInBrowser("a newcomer who runs npm start", () => {
  const browsing = useBrowser();
  const home = mkdtempSync(join(tmpdir(), "edgetill-newcomer-"));
  let origin = "";
  let start: Start;

  beforeAll(async () => {
    const port = await findFreePort();
    origin = `http://localhost:${port}`;
    start = await started(port);
  }, STARTS_WITHIN_MS);
  afterAll(async () => {
    await end(start);
    rmSync(home, { recursive: true, force: true });
  });

  async function started(port: number): Promise<Start> {
    const env = { ...process.env, PORT: String(port), EDGETILL_HOME: home, CHAIN_SOURCES: "", POLL_SECONDS: "" };
    const child = spawn(process.execPath, ["scripts/start.ts"], { env });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
    await until(
      async () => ({ printed, isOver: child.exitCode !== null }),
      (now) => now.isOver || /^Stop with Ctrl-C/m.test(now.printed),
      STARTS_WITHIN_MS,
    );
    return { child, printed: () => printed };
  }

  /** Opens a new browser, and signs in on the first page. */
  async function arrived(email: string): Promise<Page> {
    const visit = {
      baseURL: origin,
      alsoAllowed: [origin],
      reducedMotion: "reduce",
      alsoSaid: EXPECTED_IN_CONSOLE,
    } as const;
    const { page } = await browsing.visit(visit);
    await page.goto("/");
    await page.getByLabel("Email address").fill(email);
    await page.getByRole("button", { name: "Send me a code" }).click();
    const mailbox = page.waitForEvent("popup");
    await page.getByRole("link", { name: "open its mailbox" }).click();
    const mails = await mailbox;
    const code = await mails.locator("article b").first().textContent();
    expect(await findings(mails)).toEqual([]);
    await mails.close();
    await page.getByLabel("Digit 1 of the code").click();
    await page.keyboard.type(code ?? "");
    await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
    return page;
  }

  async function createInvoice(page: Page, name: string, hasWallet = true): Promise<void> {
    await page.getByRole("button", { name: "Create your first invoice" }).click();
    if (!hasWallet) await page.getByRole("dialog").getByRole("button", { name: "Skip" }).click();
    await page.getByLabel("Name", { exact: false }).first().fill(name);
    await page.getByRole("dialog").getByLabel("Amount").fill("49.9");
    await page.getByRole("button", { name: "Create invoice" }).click();
    await untilPage(page, name);
  }

  async function anotherInvoice(page: Page, name: string): Promise<void> {
    await page.getByRole("link", { name: "Invoices", exact: true }).first().click();
    await untilPage(page, "Invoices");
    await page.getByRole("button", { name: "New invoice" }).click();
    await page.getByLabel("Name", { exact: false }).first().fill(name);
    await page.getByRole("dialog").getByLabel("Amount").fill("20");
    await page.getByRole("button", { name: "Create invoice" }).click();
    await untilPage(page, name);
  }

  async function payAsCustomer(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Pay as a customer" }).click();
    await page.getByText("The customer has paid.").waitFor();
    await page.getByText("The invoice is paid.").waitFor({ timeout: PAID_WITHIN_MS });
    await page.getByText("Paid", { exact: true }).first().waitFor();
    await page.getByText("$0.00").first().waitFor({ state: "detached" });
  }

  it("is first shown where the console and its sign-in codes are", () => {
    const [, ready, ...rest] = start.printed().split("\n");
    expect(ready).toBe(`Ready on ${origin}`);
    expect(rest.slice(0, 3).join("\n")).toContain(`Open ${origin} in a browser`);
    expect(rest.slice(0, 3).join("\n")).toContain(`${origin}/dev/mail`);
  });

  it("signs in and gets an invoice paid without running another command", async () => {
    const page = await arrived(freshAddress());
    await untilPage(page, "Welcome");
    await page.getByLabel("Name of your shop or business").fill("Corner shop");
    await page.getByRole("button", { name: "Continue" }).click();
    const chain = page.getByRole("button", { name: "Start a test chain on this machine" });
    await chain.waitFor();
    expect(await findings(page)).toEqual([]);
    await chain.click();
    await page.getByLabel("Product").waitFor();
    await page.getByRole("button", { name: "Skip" }).click();
    await page.getByRole("link", { name: "Go to your invoices" }).click();
    await untilPage(page, "Invoices");
    await createInvoice(page, "Order 1");
    expect(await findings(page)).toEqual([]);
    await payAsCustomer(page);
    expect(await findings(page)).toEqual([]);
    await page.getByRole("link", { name: "Home", exact: true }).first().click();
    await untilPage(page, "Home");
    // A test chain's coins are worthless.
    await page.getByText("Nothing received in this period").waitFor();
    await page.getByText("One payment on test networks is not included").waitFor();
    await page.getByRole("region", { name: "Test money" }).getByText("on Ethereum Sepolia testnet").waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("signs in as the owner of the demo merchant, which has no wallet, starts the test chain, and pays on an invoice's own page", async () => {
    const page = await arrived("owner@example.com");
    await untilPage(page, "Home");
    await page.getByRole("link", { name: "Invoices", exact: true }).first().click();
    await untilPage(page, "Invoices");
    await createInvoice(page, "Order of the demo", false);
    await page.getByText("This invoice cannot be paid yet").waitFor();
    await page.getByRole("button", { name: "Start a test chain on this machine" }).click();
    await payAsCustomer(page);
    for (const name of ["Order 2", "Order 3"]) await anotherInvoice(page, name);
    const buttons = ["Pay only half", "Pay as a customer"].map((name) => page.getByRole("button", { name }));
    let pay = () => {};
    const held = new Promise<void>((resolve) => (pay = resolve));
    await page.route("**/dev/payments", async (route) => {
      await held;
      await route.continue();
    });
    await buttons[0]?.click();
    const loading = () => Promise.all(buttons.map((button) => button.getAttribute("data-loading")));
    await expect.poll(loading).toEqual(["true", null]);
    expect(await Promise.all(buttons.map((button) => button.isDisabled()))).toEqual([true, true]);
    pay();
    await page.getByRole("status").getByRole("link", { name: "Payments to review" }).click();
    await untilPage(page, "Payments to review");
    await page.getByRole("row", { name: /ETH/ }).first().waitFor({ timeout: PAID_WITHIN_MS });
  });

  it("finds the test chain running again after a restart", async () => {
    const { networks } = (await (await fetch(`${origin}/healthz`)).json()) as Health;
    expect(networks.ETH_SEPOLIA?.degradedSince).toBeNull();
    expect(existsSync(join(home, "test-chain.json"))).toBe(true);
    await end(start);
    start = await started(Number(new URL(origin).port));
    const page = await arrived(freshAddress());
    const state = await page.evaluate<{ readonly state: string }>(
      "fetch('/dev/chain').then((answer) => answer.json())",
    );
    expect(state).toMatchObject({ state: "RUNNING", network: "ETH_SEPOLIA" });
  });
});

interface Health {
  readonly networks: Readonly<Record<string, { readonly degradedSince: string | null }>>;
}

async function end({ child }: Start): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await over;
}
