// Forms that were closed or reloaded before they were sent: the typed text must be restored, for the same user only.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, freshAddress, signIn, untilPage } from "./console-harness.ts";
import { openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

const draftsIn = (page: Page) =>
  page.evaluate<readonly string[]>(`Object.keys(sessionStorage).filter((key) => key.startsWith("edgetill-draft "))`);

describeInBrowser("half-filled forms", () => {
  const browsing = useBrowser();
  const openForm = async (page: Page) => {
    await page.getByRole("button", { name: "New invoice" }).click();
    return page.getByRole("dialog", { name: "New invoice" });
  };

  it("for an invoice are restored after Escape and a reload, and are gone once discarded or sent", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/invoices`);
    const dialog = await openForm(page);
    const [name, amount] = [dialog.getByLabel("Name", { exact: false }).first(), dialog.getByLabel("Amount")];
    await name.fill("Order 7");
    await amount.fill("1,234.50");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await openForm(page);
    await dialog.getByText("Your draft was restored.").waitFor();
    expect([await name.inputValue(), await amount.inputValue()]).toEqual(["Order 7", "1,234.50"]);
    expect(await findings(page)).toEqual([]);
    await dialog.getByLabel("Order number").fill("7");
    await page.reload();
    await openForm(page);
    await dialog.getByText("Your draft was restored.").waitFor();
    expect(await dialog.getByLabel("Order number").inputValue()).toBe("7");
    await dialog.getByRole("button", { name: "Discard draft" }).click();
    await expect.poll(() => name.inputValue()).toBe("");
    expect(await draftsIn(page)).toEqual([]);
    await name.fill("Order 8");
    await amount.fill("20");
    await dialog.getByRole("button", { name: "Create invoice" }).click();
    await untilPage(page, "Order 8");
    expect(await draftsIn(page)).toEqual([]);
    await page.goto(`/console/${merchant.id}/invoices`);
    await openForm(page);
    expect(await name.inputValue()).toBe("");
  });

  it("for a product keep the fields that were typed, and show the current values of other fields if the product was changed meanwhile", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    const { id } = await merchant.call<{ readonly id: string }>("POST", "/products", { name: "Chair", price: 120 });
    await page.goto(`/console/${merchant.id}/products/${id}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit product" });
    await dialog.getByLabel("Price").fill("99");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    // Meanwhile a colleague changed the product.
    await merchant.call("PATCH", `/products/${id}`, { name: "Armchair" });
    await page.reload();
    await untilPage(page, "Armchair");
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByText("Your draft was restored.").waitFor();
    expect(await dialog.getByLabel("Name", { exact: false }).first().inputValue()).toBe("Armchair");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await merchant.call("GET", `/products/${id}`)).toMatchObject({ name: "Armchair", price: "99.000000" });
    expect(await draftsIn(page)).toEqual([]);
  });

  it("belong to one user: signing out deletes them", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/invoices`);
    const dialog = await openForm(page);
    await dialog.getByLabel("Name", { exact: false }).first().fill("Order 7");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await draftsIn(page)).toHaveLength(1);
    await page.getByRole("button", { name: /^Signed in as/ }).click();
    // The console goes to the sign-in page first, and then reloads that page.
    const loaded = page.waitForEvent("load");
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await loaded;
    expect(await draftsIn(page)).toEqual([]);
    await signIn(page, freshAddress());
    await untilPage(page, "Welcome");
    expect(await draftsIn(page)).toEqual([]);
  });
});
