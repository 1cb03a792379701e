// The audit page: who changed what, before and after, with filters in the page's address, and as a file.
import { readFileSync } from "node:fs";
import { expect, inject, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { createOrder, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";
import { changeDatabase } from "./testbed.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

const MANY = 1_200;

/** Adds more renames than any user would make, as older copies of the merchant's first entry. */
function addEntries(merchantId: string, count: number): void {
  changeDatabase(inject("testbed"), (database) => {
    const [first = {}] = database.prepare("SELECT * FROM audit_events WHERE merchant_id = ?").all(merchantId);
    const insert = database.prepare(
      `INSERT INTO audit_events (${Object.keys(first).join(", ")}) VALUES (${Object.keys(first)
        .map(() => "?")
        .join(", ")})`,
    );
    database.exec("BEGIN");
    for (let number = 0; number < count; number++) {
      const id = `${String(first.id).slice(0, -6)}${String(number).padStart(6, "0")}`;
      const of = { id, action: "merchant.updated", created_at_ms: Number(first.created_at_ms) - number - 1 };
      const facts = { before: null, after: JSON.stringify({ name: `rename-${number}` }) };
      insert.run(...Object.values({ ...first, ...of, ...facts }));
    }
    database.exec("COMMIT");
  });
}

describeInBrowser("the audit log", () => {
  const browsing = useBrowser();

  it("shows the values before and after a change, and can be filtered and exported", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await merchant.call("PATCH", "", { name: "=Harbour Coffee" });
    await merchant.call("PATCH", "/settings", { underpaidTolerancePercent: 3 });
    const order = await createOrder(merchant, "Order 9001");
    await page.goto(`/console/${merchant.id}/audit`);
    await untilPage(page, "Audit");
    const renamed = page.getByRole("button", { name: /^You renamed the merchant from “Corner shop”/ });
    await renamed.click();
    await page.getByRole("cell", { name: "=Harbour Coffee" }).waitFor();
    await page.getByRole("cell", { name: "Corner shop" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("combobox", { name: "What" }).click();
    await page.getByRole("option", { name: "Created an invoice" }).click();
    await page.waitForURL(/action=invoice.created/);
    await renamed.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^You created “Order 9001” for \$49\.90/ }).click();
    await page.getByText(order.id).first().waitFor();
    await page.getByRole("link", { name: "View invoice" }).click();
    await untilPage(page, "Order 9001");
    await page.goBack();
    await untilPage(page, "Audit");
    await page.reload();
    await page.getByRole("button", { name: /^You created “Order 9001” for \$49\.90/ }).waitFor();
    await page.getByRole("combobox", { name: "When" }).click();
    await page.getByRole("option", { name: "Choose dates" }).click();
    await page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await page.getByText("No matching entries").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Show all entries" }).click();
    await page.getByRole("combobox", { name: "Who" }).click();
    await page.getByRole("option", { name: "Any API key" }).click();
    await page.waitForURL(/actor=API_KEY/);
    await page.getByText("No matching entries").waitFor();
    await page.getByRole("button", { name: "Show all entries" }).click();
    await renamed.waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as CSV" }).click();
    const text = readFileSync(await (await saved).path(), "utf8");
    const [head, ...lines] = text.trimEnd().split("\r\n");
    expect(head).toBe("\uFEFFtime,actor_kind,actor_id,actor_name,action,target,before,after,ip,request_id");
    expect(lines.some((line) => line.includes("merchant.updated") && line.includes("Corner shop"))).toBe(true);
  });

  it("is divided into pages, with links to older entries and back to the newest", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page, { isBare: true });
    for (let time = 0; time < 30; time++) await merchant.call("PATCH", "", { name: `Shop ${time}` });
    await page.goto(`/console/${merchant.id}/audit`);
    await page.getByText("You renamed the merchant from “Shop 28” to “Shop 29”").waitFor();
    await page.getByRole("button", { name: "Older" }).click();
    await page.waitForURL(/cursor=/);
    await page.getByRole("button", { name: /^You created the merchant/ }).waitFor();
    await page.getByRole("button", { name: "Newest" }).click();
    await page.getByText("You renamed the merchant from “Shop 28” to “Shop 29”").waitFor();
  });

  it("is exported in full, however many entries it has, and the export shows its progress", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page, { isBare: true });
    addEntries(merchant.id, MANY);
    await page.goto(`/console/${merchant.id}/audit`);
    await untilPage(page, "Audit");
    await page.getByRole("button", { name: "Export as CSV" }).click();
    await page.getByText(/ of 1,201 entries/).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as CSV" }).click();
    const lines = readFileSync(await (await saved).path(), "utf8")
      .trimEnd()
      .split("\r\n")
      .slice(1);
    expect(new Set(lines.map((line) => /rename-\d+/.exec(line)?.[0])).size).toBe(MANY + 1);
    expect(lines.length).toBe(MANY + 1);
    await page.getByText("1,201 entries were exported.").waitFor();
  });
});
