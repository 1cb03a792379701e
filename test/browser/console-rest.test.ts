// A user asks a customer for what is missing, in the console, and the payment page asks for it until the time that the console said.
import { expect, inject, it } from "vitest";
import { en } from "../../src/platform/texts/en.ts";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { createOrder, type OrderFacts, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, mine, payPath, until, useBrowser } from "./harness.ts";
import { endInvoiceIn } from "./testbed.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;
const ENDED_WITHIN_MS = 120_000;

interface Monitored extends OrderFacts {
  readonly monitorUntil: string;
}

describeInBrowser("an underpaid invoice", () => {
  const browsing = useBrowser();

  it("has a button for the recommended request; its dialog says until when, and the page then asks for the missing amount until then", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    const order = await createOrder(merchant, "Order 9071");
    const half = (Number(order.paymentMethods[0]?.amount) / 2).toFixed(8);
    await merchant.receive(half);
    endInvoiceIn(inject("testbed"), order.id, 1_500);
    const read = () => merchant.call<Monitored>("GET", `/invoices/${order.id}`);
    await until(
      async () => {
        await mine();
        return read();
      },
      ({ status }) => status === "UNDERPAID",
      ENDED_WITHIN_MS,
    );
    const { page: payer } = await browsing.visit();
    await payer.goto(payPath(order));
    expect(await payer.locator('[data-part="amount"]').count()).toBe(0);

    await page.goto(`/console/${merchant.id}/invoices/${order.id}`);
    await untilPage(page, "Order 9071");
    await page.getByRole("button", { name: "Request remaining amount" }).click();
    const dialog = page.getByRole("dialog");
    const said = dialog.getByText("The page asks until").locator("time");
    const saidUntil = await said.getAttribute("datetime");
    expect(await findings(page)).toEqual([]);
    await dialog.getByLabel("Reason").fill("They called us");
    await dialog.getByRole("button", { name: "Request remaining amount" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Remaining amount requested manually").first().waitFor();
    expect((await read()).monitorUntil).toBe(saidUntil);

    await payer.reload();
    const due = payer.locator('[data-part="amount"] [data-copy]');
    await due.waitFor();
    expect(Number(await due.getAttribute("data-copy"))).toBeCloseTo(Number(half), 6);
    expect(await payer.locator("h1").textContent()).toBe(en.underpaidTitle);
  });
});
