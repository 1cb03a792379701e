// Payments to review: what no rule could credit is compared with the invoices it may be meant for, and decided by a user.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { createOrder, type OrderFacts, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, mine, until, useBrowser } from "./harness.ts";
import { endInvoiceIn } from "./testbed.ts";

/** Mantine removes elements after their transition. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("payments to review", () => {
  const browsing = useBrowser();

  const decide = async (page: Page, button: string) => {
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: button }).click();
    await dialog.getByText("Say why: it is kept with the payment").waitFor();
    await dialog.getByLabel("Reason").fill("The customer named the order");
    await dialog.getByRole("button", { name: button }).click();
    await dialog.waitFor({ state: "detached" });
  };

  it("are listed, and the page says so if there are none", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/payments`);
    await page.getByText("No payment waits for you").waitFor();
    expect(await findings(page)).toEqual([]);
    await createOrder(merchant, "Order 4001");
    await merchant.receive("0.04");
    await page.reload();
    await page.getByRole("link", { name: "0.04 ETH" }).waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("show a payment next to its candidates, and credit the one a user chooses, in two steps", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    const meant = await createOrder(merchant, "Order 5001");
    const other = await createOrder(merchant, "Order 5002");
    await merchant.receive("0.01");
    await page.goto(`/console/${merchant.id}/payments`);
    await page.getByRole("link", { name: "0.01 ETH" }).click();
    await untilPage(page, "0.01 ETH");
    const candidate = page.getByRole("region", { name: "Order 5001" });
    await candidate.getByText("Not chosen because the amount is not what it asks for.").waitFor();
    const named = page.getByRole("region", { name: "Order 5002" });
    await named.getByText("Not chosen because").waitFor();
    const why = candidate.getByRole("list", { name: "Why it is listed" });
    await why.getByText(/% (less|more) than the .* that it asked for/).waitFor();
    await why.getByText(/It was made .* before the payment|It was made .* after the payment/).waitFor();
    const [payment] = (await merchant.call<{ data: { txHash: string }[] }>("GET", "/payments")).data;
    const claim = { data: { network: "ETH", txHash: payment?.txHash } };
    expect((await page.request.post(`/api/v1/checkout/${other.id}/claims`, claim)).status()).toBe(202);
    await page.reload();
    await named.getByText("Its payer named this transaction.").waitFor();
    expect(await candidate.getByText("Its payer named").count()).toBe(0);
    // The payment's own card has no order heading: the named one is the first candidate.
    const headings = await page.getByRole("heading", { name: /^Order 500/ }).allTextContents();
    expect(headings).toEqual(["Order 5002", "Order 5001"]);
    expect(await findings(page)).toEqual([]);
    await candidate.getByRole("button", { name: "Assign to this invoice" }).click();
    await page.getByRole("dialog").getByText("This cannot be taken back.").waitFor();
    expect(await findings(page)).toEqual([]);
    await decide(page, "Assign it");
    await page.getByText("Assigned by hand", { exact: true }).waitFor();
    const { amountReceived } = await merchant.call<OrderFacts>("GET", `/invoices/${meant.id}`);
    expect(Number(amountReceived)).toBeGreaterThan(30);
    await page.getByRole("link", { name: "Open the invoice" }).click();
    await untilPage(page, "Order 5001");
  });

  it("can be ignored, with an undo, and credited to an invoice that no rule suggested", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await createOrder(merchant, "Order 6000");
    const paymentId = await merchant.receive("0.05");
    const other = await createOrder(merchant, "Order 6001", { externalId: "six" });
    await page.goto(`/console/${merchant.id}/payments/${paymentId}`);
    await page.getByRole("region", { name: "Order 6000" }).getByText("Not chosen because").waitFor();
    const ignore = async () => {
      await page.getByRole("button", { name: "Ignore it" }).click();
      await decide(page, "Ignore it");
      await page.getByText("Ignored by hand").waitFor();
    };
    await ignore();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Reopened by hand").waitFor();
    await ignore();
    // Later, from the list of what was ignored, whose filter is in the address.
    await page.goto(`/console/${merchant.id}/payments`);
    await page.getByText("No payment waits for you").waitFor();
    await page.getByRole("combobox", { name: "State" }).click();
    await page.getByRole("option", { name: "Ignored" }).click();
    await page.waitForURL(/status=IGNORED/);
    await page.reload();
    await page.getByRole("link", { name: "0.05 ETH" }).click();
    await page.getByRole("button", { name: "Put it back" }).click();
    await page.getByText("Reopened by hand").waitFor();
    await page.getByRole("combobox", { name: "Invoice" }).fill("six");
    await page.getByRole("option", { name: /^Order 6001/ }).click();
    await page.getByRole("button", { name: "Assign to the chosen invoice" }).click();
    await decide(page, "Assign it");
    await page.getByText("Assigned by hand", { exact: true }).waitFor();
    const read = () => merchant.call<OrderFacts>("GET", `/invoices/${other.id}`);
    expect((await read()).amountReceived).not.toBe("0.000000");
  });

  it("link to invoices that need a decision, and find a transaction that a customer names", async () => {
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
    const waiting = page.getByRole("region", { name: "Invoices that wait for a decision" });
    await waiting.getByRole("link", { name: "Order 7001" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Look up a transaction" }).click();
    await page.getByRole("dialog").getByLabel("Transaction hash").fill(txHash);
    await page.getByRole("button", { name: "Look it up" }).click();
    await page.getByRole("link", { name: "Open the invoice" }).click();
    await untilPage(page, "Order 7001");
    await page.getByText("This invoice needs your decision").waitFor();
  });

  it("show everything except the decisions to a member who may not decide", async () => {
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
    expect(await page.getByRole("button", { name: /Assign|Ignore|Put it back/ }).count()).toBe(0);
    expect(await page.getByRole("region", { name: "Another invoice" }).count()).toBe(0);
  });
});
