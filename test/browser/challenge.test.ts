// A product's page on a deployment that requires Turnstile tokens. A stand-in for Turnstile runs on another origin, as the real one does.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Shop, startShop } from "../../scripts/demo-story/shop.ts";
import { en } from "../../src/platform/texts/en.ts";
import { builtServer } from "../support/built-worker.ts";
import type { Listening } from "../support/listen.ts";
import { findingsEverywhere } from "../support/page-axe.ts";
import { startVisit, type Visit } from "../support/page-visit.ts";
import { SECRET_KEY, startTurnstile } from "../support/turnstile-stand-in.ts";
import { xpubWallet } from "../support/wallet-bodies.ts";
import { describeInBrowser, seenIn, useBrowser } from "./harness.ts";

/** axe sends messages to every frame of a page, even to a frame of another origin, which does not listen. */
const FROM_AXE = { alsoSaid: /postMessage/ };

describeInBrowser("a product page with a challenge", () => {
  const browsing = useBrowser();
  let turnstile: Listening;
  let shop: Shop;
  let path: string;

  beforeAll(async () => {
    turnstile = await startTurnstile();
    shop = await startShop({
      wrangler: builtServer(),
      turnstile: { siteKey: "0x4AAA-site", secretKey: SECRET_KEY, origin: turnstile.origin },
    });
    await shop.registerWallet(xpubWallet());
    const product = { name: "Coffee, 1 kg", price: 19.5, askForName: true };
    path = `/buy/${(await shop.call<{ readonly id: string }>("POST", "/products", product)).id}`;
  });
  afterAll(async () => {
    await shop?.stop();
    await turnstile?.close();
  });

  async function visited(work: (visit: Visit) => Promise<void>, options = {}): Promise<void> {
    const visit = await startVisit(browsing.browser(), shop.baseUrl, { alsoAllowed: [turnstile.origin], ...options });
    try {
      await visit.page.goto(path);
      await work(visit);
      expect(visit.faults).toEqual([]);
    } finally {
      await visit.close();
    }
  }

  it("accepts a customer who fills in the form and presses the button", async () => {
    await visited(async ({ page, shifts }) => {
      await page.locator('[name="cf-turnstile-response"][value]').waitFor({ state: "attached" });
      await page.getByLabel(en.buyName).fill("Ann");
      expect(await shifts()).toEqual([]);
      expect(await findingsEverywhere(page)).toEqual([]);
      await page.getByRole("button", { name: en.buyGo }).click();
      await page.waitForURL(/\/pay\/inv_/);
    }, FROM_AXE);
  });

  it("is shown again with its fields filled in if the token was refused, and accepts the form once a new token is accepted", async () => {
    await visited(
      async ({ page }) => {
        await page.locator('[name="cf-turnstile-response"][value]').waitFor({ state: "attached" });
        await page.getByLabel(en.buyName).fill("Ann");
        await page.evaluate(
          "{ const form = document.querySelector('form.card'); form['cf-turnstile-response'].value = 'x'; form.submit(); }",
        );
        await page.getByRole("alert").waitFor();
        expect(await seenIn(page.getByRole("alert"))).toBe(en.buyChallenge);
        expect(await page.getByLabel(en.buyName).inputValue()).toBe("Ann");
        expect(await findingsEverywhere(page)).toEqual([]);
        await page.locator('[name="cf-turnstile-response"][value]').waitFor({ state: "attached" });
        await page.getByRole("button", { name: en.buyGo }).click();
        await page.waitForURL(/\/pay\/inv_/);
      },
      { alsoSaid: /403 \(Forbidden\)|postMessage/ },
    );
  });

  it("shows that it needs scripts if the browser runs none", async () => {
    await visited(
      async ({ page }) => {
        expect(await seenIn(page.locator("noscript .note"))).toBe(en.buyNeedsScript);
      },
      { javaScriptEnabled: false },
    );
  });
});
