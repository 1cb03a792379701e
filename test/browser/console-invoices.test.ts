// Invoices in the console: they are created with products, customers and methods, found by any of their details, paid, changed and followed to the
// end.
import { expect, it } from "vitest";
import { randomHex } from "../support/wallet-bodies.ts";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { createOrder, type OrderFacts, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, mine, until, useBrowser } from "./harness.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;
const PAID_WITHIN_MS = 120_000;

describeInBrowser("invoices in the console", () => {
  const browsing = useBrowser();

  it("ask for a wallet if there is none, and are created for a product and a customer", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page, { isBare: true });
    await merchant.call("POST", "/products", { name: "Chair", price: 120, currency: "EUR" });
    await merchant.call("POST", "/customers", { email: "ada@example.com", name: "Ada" });
    await page.goto(`/console/${merchant.id}/invoices`);
    await page.getByRole("button", { name: "New invoice" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Add a wallet first").waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByLabel("Address or extended public key").fill(`0x${randomHex(20)}`);
    await dialog.getByRole("button", { name: "Add wallet" }).click();
    await dialog.getByRole("combobox", { name: "Product" }).click();
    await page.getByRole("option", { name: /^Chair/ }).click();
    expect(await dialog.getByLabel("Name", { exact: false }).first().inputValue()).toBe("Chair");
    await dialog.getByRole("combobox", { name: "Existing customer" }).fill("Ada");
    await page.getByRole("option", { name: /^Ada/ }).click();
    expect(await dialog.getByLabel("Customer's email").inputValue()).toBe("ada@example.com");
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create invoice" }).click();
    await untilPage(page, "Chair");
    await page.getByText("€120.00").first().waitFor();
    await page.getByText("ada@example.com").waitFor();
  });

  it("can be shown as a QR code and changed from the list", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await createOrder(merchant, "Order 9001");
    await page.goto(`/console/${merchant.id}/invoices`);
    const actions = page.getByRole("button", { name: "Actions for Order 9001" });
    await actions.click();
    await page.getByRole("menuitem", { name: "Show QR code" }).click();
    await page.getByRole("img", { name: "Payment page QR code" }).waitFor();
    await page.keyboard.press("Escape");
    await actions.click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit invoice" });
    await dialog.getByLabel("Description").fill("Two chairs");
    await dialog.getByLabel("Customer's email").fill("grace@example.com");
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Order 9001" }).click();
    await page.getByText("Two chairs").waitFor();
    await page.getByText("grace@example.com").waitFor();
  });

  it("show their payment, why it was credited, and what happened to each event", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await merchant.call("POST", "/webhooks", { url: "http://127.0.0.1:9/orders", events: ["invoice.*"] });
    const order = await createOrder(merchant, "Order 9051");
    await merchant.receive(order.paymentMethods[0]?.amount ?? "");
    await until(
      async () => {
        await mine();
        return merchant.call<OrderFacts>("GET", `/invoices/${order.id}`);
      },
      ({ status }) => status === "PAID",
      PAID_WITHIN_MS,
    );
    // Answers as if EXPLORERS were set.
    const transaction = "https://explorer.example/tx/{hash}";
    const json = { data: [{ network: "ETH", transaction, address: null }] };
    await page.route("**/api/v1/explorers", (route) => route.fulfill({ json }));
    await page.goto(`/console/${merchant.id}/invoices/${order.id}`);
    await page.getByText("Credited because only this invoice expects this amount.").waitFor();
    const link = page.getByRole("link", { name: "The transaction at explorer.example" });
    expect(await link.getAttribute("href")).toMatch(/^https:\/\/explorer\.example\/tx\/0x[0-9a-f]{64}$/);
    expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
    await page.getByRole("button", { name: /^invoice\.created/ }).click();
    await page.getByText("http://127.0.0.1:9/orders").first().waitFor();
    await page.getByRole("button", { name: "Send again to http://127.0.0.1:9/orders" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("link", { name: "Payment details" }).click();
    await page.getByText("Credited to an invoice").waitFor();
  });

  it("can be found by the hash of the transaction that paid them, and by their address", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    const order = await createOrder(merchant, "Order 9101");
    const paymentId = await merchant.receive(order.paymentMethods[0]?.amount ?? "");
    const { txHash } = await merchant.call<{ readonly txHash: string }>("GET", `/payments/${paymentId}`);
    await page.goto(`/console/${merchant.id}/invoices`);
    const found = page.getByRole("region", { name: "Found on chain" });
    for (const [text, why] of [
      [txHash, "by a transaction that pays it"],
      [merchant.address, "by its address"],
    ] as const) {
      await page.getByLabel("Search invoices").fill(text);
      await found.getByText(why).waitFor();
    }
    expect(await findings(page)).toEqual([]);
    await page.reload();
    await found.getByRole("link", { name: "Order 9101" }).click();
    await untilPage(page, "Order 9101");
  });
});
