// The texts of console-hostile-texts.ts as names of keys and members, as endpoints and as settings: each must be shown unchanged on Developers, Team,
// Settings and Audit, none may run, and no page may get wider than a phone.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { ROLES } from "../../src/accounts/roles/roles.ts";
import { plainText } from "../../src/lib/plain-text.ts";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE, untilPage } from "./console-harness.ts";
import { expectFit, HOSTILE_AGENT, long, TEXTS } from "./console-hostile-texts.ts";
import { goTo } from "./console-links.ts";
import { signedIn } from "./console-office.ts";
import { describeInBrowser, openShop, type PageShop, useBrowser } from "./harness.ts";
import { changeDatabase, emailOf } from "./testbed.ts";

const ALL_TEXTS = Object.values(TEXTS);

describeInBrowser("hostile texts written by a team", () => {
  const browsing = useBrowser();

  it("are shown as text on every page about the merchant itself, and fit a phone", async () => {
    const shop = await openShop(["USDT"]);
    await write(shop);
    const { page } = await browsing.visit({
      reducedMotion: "reduce",
      alsoSaid: EXPECTED_IN_CONSOLE,
      userAgent: HOSTILE_AGENT,
    });
    const ran: string[] = [];
    page.on("dialog", (dialog) => {
      ran.push(dialog.message());
      void dialog.dismiss();
    });
    await enter(page.context(), shop.baseUrl, emailOf(shop.merchantId, "OWNER"));
    const open = async (path: string, heading: string) => {
      await goTo(page, `/console/${shop.merchantId}/${path}`);
      await untilPage(page, heading);
    };

    await open("developers", "Developers");
    await expectShown(page, ALL_TEXTS);
    await expectFit(page, "the keys");
    await page
      .getByRole("button", { name: /^Revoke: / })
      .first()
      .click();
    await expectFit(page, "the question whether to revoke a key");

    await open("developers?tab=endpoints", "Developers");
    await expectShown(
      page,
      ALL_TEXTS.map((text) => long(text, 500)),
    );
    await expectFit(page, "the endpoints");
    await page
      .getByRole("main")
      .getByRole("link", { name: /example\.com/ })
      .first()
      .click();
    await untilPage(page, "example.com");
    await expectFit(page, "an endpoint");

    await open("team", "Team");
    await expectShown(page, ALL_TEXTS.slice(0, ROLES.length));
    await expectFit(page, "the team");

    await open("settings", "Settings");
    const brand = page.getByRole("figure", { name: "Payment page preview" });
    expect(await brand.textContent()).toContain(brandOf(ALL_TEXTS.at(-1) ?? ""));
    await expectFit(page, "the settings");

    await open("audit?action=settings.updated", "Audit");
    // No sentence may contain a character that would reverse the words after it.
    for (const text of ALL_TEXTS) await expectShown(page, [plainText(brandOf(text)).trim()]);
    for (const entry of await page.getByRole("button", { name: /changed the settings/ }).all()) await entry.click();
    await page.getByRole("columnheader", { name: "After" }).waitFor();
    await expectFit(page, "the audit log");
    expect(ran).toEqual([]);
  });
});

/** The text, cut to the length that the name of a brand may have. */
function brandOf(text: string): string {
  return [...text].slice(0, 50).join("").trim();
}

async function write(shop: PageShop): Promise<void> {
  const asOwner = await signedIn(shop.baseUrl, emailOf(shop.merchantId, "OWNER"));
  for (const [place, text] of ALL_TEXTS.entries()) {
    await asOwner("POST", `/api/v1/merchants/merchant/${shop.merchantId}/api-keys`, {
      name: text,
      kind: "PUBLIC",
      permissions: ["INVOICE_VIEW"],
    });
    const url = `https://example.com/${place}/${encodeURIComponent(long(text, 150))}`;
    await shop.call("POST", "/webhooks", { url, description: long(text, 500), events: ["ping"] });
    await shop.call("PATCH", "/settings", { brand: { name: brandOf(text) } });
  }
  changeDatabase(inject("testbed"), (database) => {
    for (const [place, role] of ROLES.entries())
      database
        .prepare("UPDATE users SET name = ? WHERE email = ?")
        .run(ALL_TEXTS[place] ?? "", emailOf(shop.merchantId, role));
  });
}

async function expectShown(page: Page, texts: readonly string[]): Promise<void> {
  const main = page.getByRole("main");
  for (const text of texts) await expect.poll(() => main.textContent()).toContain(text);
}
