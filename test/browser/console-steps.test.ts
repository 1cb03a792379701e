// A merchant's first steps on Home, in a browser.
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, freshAddress, untilPage } from "./console-harness.ts";
import { addWallet, type Member, newcomerAtHome, ownerAtHome } from "./console-member.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("the first steps", () => {
  const browsing = useBrowser();

  async function atHome(arrive = ownerAtHome): Promise<Member> {
    const { page } = await browsing.visit(QUIET);
    return arrive(page, freshAddress());
  }

  it("are ticked off as they are completed, and disappear permanently once the remaining ones are skipped", async () => {
    const member = await atHome(newcomerAtHome);
    const { page } = member;
    const steps = page.getByRole("region", { name: "First steps" });
    await steps.getByRole("button", { name: "Add a wallet" }).click();
    await page.getByRole("dialog").getByLabel("Address or extended public key").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await addWallet(member);
    await page.reload();
    await steps.getByText("Done.").waitFor();
    expect(await findings(page)).toEqual([]);
    await steps.getByRole("button", { name: "Skip: Sell something" }).click();
    await steps.getByText("Skipped.").waitFor();
    await steps.getByRole("button", { name: "Skip: Get your first invoice paid" }).click();
    await steps.waitFor({ state: "detached" });
    await page.reload();
    await untilPage(page, "Home");
    await page.getByRole("region", { name: "Received" }).waitFor();
    expect(await steps.count()).toBe(0);
  });

  it("show three lines of code with a key that can create invoices and is shown only once", async () => {
    const { page } = await atHome();
    await page.getByRole("button", { name: "Start selling" }).click();
    const dialog = page.getByRole("dialog", { name: "Sell something" });
    await dialog.getByText("Three lines of code").click();
    await dialog.getByRole("button", { name: "Create a key" }).click();
    await dialog.getByText("This key is shown once").waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByText("fetch", { exact: true }).click();
    const code = (await dialog.locator("pre").textContent()) ?? "";
    expect(code.split("\n").length).toBe(3);
    const run = new Function(`return (async () => { ${code}; return checkoutUrl; })()`);
    const invoicePage = await fetch(await run());
    expect(invoicePage.status).toBe(200);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("region", { name: "First steps" }).getByText("Done.").waitFor();
    expect(await page.content()).not.toMatch(/sk_\w{20}/);
  });
});
