// A payer whose payment is wrong, and how it ends well: nobody is led to pay twice, and what is missing can be paid.
import { expect, inject, it } from "vitest";
import { en } from "../../src/platform/texts/en.ts";
import { timeText } from "../../src/platform/texts/format.ts";
import { fill } from "../../src/platform/texts/texts.ts";
import { findingsEverywhere } from "../support/page-axe.ts";
import {
  describeInBrowser,
  methodOf,
  mine,
  mineUntil,
  ON_ETH,
  openShop,
  payPath,
  REQUIRED,
  seenIn,
  send,
  untilStage,
  useBrowser,
} from "./harness.ts";
import { endInvoiceIn } from "./testbed.ts";

/** No message tells the page about a payment that is not credited, so it learns of it from its slow polls, once a minute. */
const SLOW_POLLS_MS = 240_000;

describeInBrowser("a payer", () => {
  const browsing = useBrowser();

  it("who sent another coin sees what arrived and that the shop decides; the page hides the invoice's amount until the payer asks for it", async () => {
    const shop = await openShop(["USDC", "USDT"]);
    const invoice = await shop.createInvoice({ rawAmount: 50, paymentMethods: [ON_ETH("USDC")] });
    const { address, amount } = await methodOf(shop, invoice, "USDC");
    const { page } = await browsing.visit();
    const { page: bare } = await browsing.visit({ javaScriptEnabled: false });
    for (const each of [page, bare]) await each.goto(`${payPath(invoice)}?method=USDC_ETH`);
    await page.locator("summary", { hasText: en.exchangeTitle }).click();
    await page.evaluate("window.__same = 1");
    const asked = page.locator('[data-part="amount"]', { hasText: amount ?? "" });
    await asked.waitFor();
    const hash = await send("USDT", "3", address ?? "");
    await mine();
    await page.locator("h1", { hasText: en.undecidedTitle }).waitFor({ timeout: SLOW_POLLS_MS });
    expect(await page.evaluate("window.__same")).toBe(1);
    expect(await page.locator("#say").textContent()).toBe(en.undecidedTitle);
    await bare.reload();
    for (const each of [page, bare]) {
      const shown = await seenIn(each.locator("main"));
      for (const text of ["3 USDT", hash, en.claimSentIt]) expect(shown).toContain(text);
      for (const text of [en.address, en.waiting]) expect(shown).not.toContain(text);
      expect(
        await each.locator('.qr, [data-part="amount"], [data-part="open"]').filter({ visible: true }).count(),
      ).toBe(0);
      await each.locator("summary", { hasText: en.payAnyway }).click();
      await each.locator('[data-part="amount"]', { hasText: amount ?? "" }).waitFor();
      expect(await each.locator(".qr").isVisible()).toBe(true);
    }
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("who paid half on time is asked by the shop for the rest, sees the new deadline, and pays the invoice with the amount that is shown", async () => {
    const shop = await openShop(["USDC"]);
    const invoice = await shop.createInvoice({ rawAmount: 50 });
    const { page } = await browsing.visit();
    await page.goto(payPath(invoice));
    await untilStage(page, "pay");
    const { address } = await methodOf(shop, invoice, "USDC");
    await send("USDC", "25", address ?? "");
    await mine(REQUIRED);
    await untilStage(page, "partial");
    endInvoiceIn(inject("testbed"), invoice.id, 1_500);
    await mineUntil(shop, invoice, "UNDERPAID");
    await untilStage(page, "underpaid");
    expect(await page.locator('[data-part="amount"]').count()).toBe(0);
    await shop.call("POST", `/invoices/${invoice.id}/resolve`, { action: "ASK_FOR_REST", reason: "They called us" });
    const due = page.locator('[data-part="amount"] [data-copy]');
    await due.waitFor();
    const { monitorUntil } = await shop.call<{ readonly monitorUntil: string }>("GET", `/invoices/${invoice.id}`);
    const time = timeText("en", Date.parse(monitorUntil));
    expect(await seenIn(page.locator("main"))).toContain(fill(en.underpaidAccept, { time }));
    expect(await findingsEverywhere(page)).toEqual([]);
    await send("USDC", (await due.getAttribute("data-copy")) ?? "", address ?? "");
    await mineUntil(shop, invoice, "PAID");
    await untilStage(page, "paid");
  });

  it("who paid twice is not returned to the shop automatically, and sees both payments on the page", async () => {
    const shop = await openShop(["USDC"]);
    const invoice = await shop.createInvoice({ rawAmount: 20, redirectUrl: "https://shop.example/back" });
    const { page } = await browsing.visit();
    await page.goto(payPath(invoice));
    await untilStage(page, "pay");
    const { address, amount } = await methodOf(shop, invoice, "USDC");
    await send("USDC", amount ?? "", address ?? "");
    await mine();
    await send("USDC", amount ?? "", address ?? "");
    // The first payment is confirmed now, the second is not.
    await mine(REQUIRED - 1);
    await page.waitForSelector("main#checkout:is([data-stage=paid], [data-stage=overpaid]) .return");
    expect(await page.locator("[data-return-url]").count()).toBe(0);
    await mineUntil(shop, invoice, "OVERPAID");
    await untilStage(page, "overpaid");
    expect(await page.locator('[data-part="payments"] li').count()).toBe(2);
    expect(await page.locator("[data-return-url]").count()).toBe(0);
  });
});
