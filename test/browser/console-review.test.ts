// Payments to review: a payment that no rule could credit is compared with the invoices it may be meant for, and a user decides.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { createOrder, type OrderFacts, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, mine, until, useBrowser } from "./harness.ts";
import { endInvoiceIn } from "./testbed.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("payments to review", () => {
  const browsing = useBrowser();

  const decide = async (page: Page, button: string) => {
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: button }).click();
    await dialog.getByText("Enter a reason; it is saved with the payment").waitFor();
    await dialog.getByLabel("Reason").fill("The customer named the order");
    await dialog.getByRole("button", { name: button }).click();
    await dialog.waitFor({ state: "detached" });
  };

  it("are listed, and the page shows a message if there are none", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/payments`);
    await page.getByText("No payments to review").waitFor();
    expect(await findings(page)).toEqual([]);
    await createOrder(merchant, "Order 4001");
    await merchant.receive("0.04");
    await page.reload();
    await page.getByRole("link", { name: "0.04 ETH" }).waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("are shown with their candidate invoices, and credited in two steps to the invoice that a user chooses", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    const meant = await createOrder(merchant, "Order 5001");
    const other = await createOrder(merchant, "Order 5002");
    await merchant.receive("0.01");
    await page.goto(`/console/${merchant.id}/payments`);
    await page.getByRole("link", { name: "0.01 ETH" }).click();
    await untilPage(page, "0.01 ETH");
    const candidate = page.getByRole("region", { name: "Order 5001" });
    await candidate.getByText("Not chosen because the amount differs from the amount due.").waitFor();
    const named = page.getByRole("region", { name: "Order 5002" });
    await named.getByText("Not chosen because").waitFor();
    const why = candidate.getByRole("list", { name: "Why it is listed" });
    await why.getByText(/% (less|more) than the .* requested/).waitFor();
    await why
      .getByText(/The invoice was created .* before the payment|The invoice was created .* after the payment/)
      .waitFor();
    const [payment] = (await merchant.call<{ data: { txHash: string }[] }>("GET", "/payments")).data;
    const claim = { data: { network: "ETH", txHash: payment?.txHash } };
    expect((await page.request.post(`/api/v1/checkout/${other.id}/claims`, claim)).status()).toBe(202);
    await page.reload();
    await named.getByText("This transaction was entered on its payment page.").waitFor();
    expect(await candidate.getByText("This transaction was entered on its payment page").count()).toBe(0);
    // Only the candidates have an order's name as their heading. The invoice on whose page the transaction was entered comes first.
    const headings = await page.getByRole("heading", { name: /^Order 500/ }).allTextContents();
    expect(headings).toEqual(["Order 5002", "Order 5001"]);
    expect(await findings(page)).toEqual([]);
    await candidate.getByRole("button", { name: "Assign to this invoice" }).click();
    await page.getByRole("dialog").getByText("This cannot be undone.").waitFor();
    expect(await findings(page)).toEqual([]);
    await decide(page, "Assign payment");
    await page.getByText("Assigned manually", { exact: true }).waitFor();
    const { amountReceived } = await merchant.call<OrderFacts>("GET", `/invoices/${meant.id}`);
    expect(Number(amountReceived)).toBeGreaterThan(30);
    await page.getByRole("link", { name: "View invoice" }).click();
    await untilPage(page, "Order 5001");
  });

  it("can be ignored, reopened, and credited to an invoice that no rule suggested", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await createOrder(merchant, "Order 6000");
    const paymentId = await merchant.receive("0.05");
    const other = await createOrder(merchant, "Order 6001", { externalId: "six" });
    await page.goto(`/console/${merchant.id}/payments/${paymentId}`);
    await page.getByRole("region", { name: "Order 6000" }).getByText("Not chosen because").waitFor();
    const ignore = async () => {
      await page.getByRole("button", { name: "Ignore payment" }).click();
      await decide(page, "Ignore payment");
      await page.getByText("Ignored manually").waitFor();
    };
    await ignore();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Reopened manually").waitFor();
    await ignore();
    // The user decides later, in the list of ignored payments; the list's filter is in the page's address.
    await page.goto(`/console/${merchant.id}/payments`);
    await page.getByText("No payments to review").waitFor();
    await page.getByRole("combobox", { name: "Status" }).click();
    await page.getByRole("option", { name: "Ignored" }).click();
    await page.waitForURL(/status=IGNORED/);
    await page.reload();
    await page.getByRole("link", { name: "0.05 ETH" }).click();
    await page.getByRole("button", { name: "Reopen payment" }).click();
    await page.getByText("Reopened manually").waitFor();
    await page.getByRole("combobox", { name: "Invoice" }).fill("six");
    await page.getByRole("option", { name: /^Order 6001/ }).click();
    await page.getByRole("button", { name: "Assign to selected invoice" }).click();
    await decide(page, "Assign payment");
    await page.getByText("Assigned manually", { exact: true }).waitFor();
    const read = () => merchant.call<OrderFacts>("GET", `/invoices/${other.id}`);
    expect((await read()).amountReceived).not.toBe("0.000000");
  });

  it("are listed with the invoices that need a decision, and a transaction can be looked up by its hash", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    const late = await createOrder(merchant, "Order 7001");
    endInvoiceIn(inject("testbed"), late.id, -1_000);
    const read = async () => {
      await mine();
      return merchant.call<OrderFacts>("GET", `/invoices/${late.id}`);
    };
    await until(read, ({ status }) => status === "EXPIRED", 120_000);
    const paymentId = await merchant.receive(late.paymentMethods[0]?.amount ?? "");
    const { txHash } = await merchant.call<{ readonly txHash: string }>("GET", `/payments/${paymentId}`);
    await page.goto(`/console/${merchant.id}/payments`);
    const waiting = page.getByRole("region", { name: "Invoices that need a decision" });
    await waiting.getByRole("link", { name: "Order 7001" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Look up transaction" }).click();
    await page.getByRole("dialog").getByLabel("Transaction hash").fill(txHash);
    await page.getByRole("button", { name: "Look up", exact: true }).click();
    await page.getByRole("link", { name: "View invoice" }).click();
    await untilPage(page, "Order 7001");
    await page.getByText("This invoice needs your decision").waitFor();
  });

  it("are shown without the buttons for decisions to a member who may not decide", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await createOrder(merchant, "Order 8001");
    const paymentId = await merchant.receive("0.03");
    await page.route("**/api/v1/merchants?*", async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text()).replaceAll('"payment:resolve",', "");
      await route.fulfill({ response: answer, body: text });
    });
    await page.goto(`/console/${merchant.id}/payments/${paymentId}`);
    await untilPage(page, "0.03 ETH");
    await page.getByRole("region", { name: "Order 8001" }).getByText("Not chosen because").waitFor();
    expect(await page.getByRole("button", { name: /Assign|Ignore|Reopen/ }).count()).toBe(0);
    expect(await page.getByRole("region", { name: "Another invoice" }).count()).toBe(0);
  });
});
