// The developers page: keys are created, limited, rotated and revoked; an endpoint gets events, and its failures are shown and fixed.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterEach, expect, inject, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, signIn, untilPage } from "./console-harness.ts";
import { createOrder, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, openShop, until, useBrowser } from "./harness.ts";
import { emailOf } from "./testbed.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;
/** Also tolerates the error of a form that the service refuses. */
const REFUSED = { ...QUIET, alsoSaid: /status of 40[013]/ } as const;

interface Receiver {
  readonly url: string;
  readonly bodies: readonly string[];
  /** Sets how the receiver answers from now on. */
  answer(status: number, text: string): void;
}

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A shop's server on this machine, to which a development server may deliver. */
async function receiver(): Promise<Receiver> {
  let [status, text] = [200, "thanks"];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (more: string) => {
      body += more;
    });
    request.on("end", () => {
      bodies.push(body);
      response.writeHead(status, { "content-type": "text/plain" }).end(text);
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/events`,
    bodies,
    answer: (next, words) => {
      [status, text] = [next, words];
    },
  };
}

describeInBrowser("developers", () => {
  const browsing = useBrowser();
  const dialog = (page: Page) => page.getByRole("dialog");

  it("create a key with the ticked permissions, see it only once, and rotate and revoke it", async () => {
    const { page } = await browsing.visit(REFUSED);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}`);
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Developers" }).click();
    await untilPage(page, "Developers");
    await page.getByText("No keys yet.").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "New key" }).click();
    expect(await findings(page)).toEqual([]);
    await dialog(page).getByLabel("Name").fill("Shop <b>server</b>");
    await dialog(page).getByLabel("Products: View").check();
    await dialog(page).getByLabel("Invoices: Cancel").uncheck();
    await dialog(page).getByLabel("Allowed IP addresses").fill("300.1.1.1");
    await page.keyboard.press("Enter");
    await dialog(page).getByRole("button", { name: "Create key" }).click();
    await dialog(page).getByText("Must be an IP address or a CIDR range").waitFor();
    await dialog(page).getByLabel("Allowed IP addresses").click();
    await page.keyboard.press("Backspace");
    await page.keyboard.type("127.0.0.0/8,");
    await page.keyboard.type("::1 ");
    await dialog(page).getByRole("button", { name: "Create key" }).click();
    const secret = dialog(page).getByText(/^sk_/);
    const first = String(await secret.textContent());
    expect(await findings(page)).toEqual([]);
    await dialog(page).getByRole("button", { name: "I have saved it" }).click();
    await page.getByText("Works only from 127.0.0.0/8, ::1").waitFor();
    await expect.poll(() => page.getByText(first).count()).toBe(0);
    await page.getByRole("button", { name: /permissions: / }).click();
    await page.getByText("View, Create, Edit", { exact: true }).waitFor();
    expect(await findings(page)).toEqual([]);
    const { baseUrl } = inject("testbed");
    const statusOf = async (key: string, path: string) => {
      const url = `${baseUrl}/api/v1/merchants/merchant/${merchant.id}${path}`;
      return (await fetch(url, { headers: { "x-api-key": key } })).status;
    };
    expect([await statusOf(first, "/products"), await statusOf(first, "/wallets")]).toEqual([200, 403]);
    await page.getByRole("button", { name: "Rotate" }).click();
    await dialog(page).getByLabel("Old secret").selectOption("Stops working immediately");
    await dialog(page).getByRole("button", { name: "Create new secret" }).click();
    const second = String(await secret.textContent());
    await dialog(page).getByRole("button", { name: "I have saved it" }).click();
    expect([await statusOf(first, "/products"), await statusOf(second, "/products")]).toEqual([401, 200]);
    await page.getByRole("button", { name: "Revoke" }).click();
    const revoke = dialog(page).getByRole("button", { name: "Revoke" });
    await expect.poll(() => revoke.isDisabled()).toBe(true);
    await dialog(page).getByLabel("to confirm").fill("Shop <b>server</b>");
    await revoke.click();
    await page.getByText("No keys yet.").waitFor();
    expect(await statusOf(second, "/products")).toBe(401);
  });

  it("add an endpoint, see what it was sent and what it answered, and resend an event once the endpoint is fixed", async () => {
    const { page } = await browsing.visit(REFUSED);
    const merchant = await openMerchant(page);
    const shop = await receiver();
    shop.answer(500, "no such table: orders");
    await page.goto(`/console/${merchant.id}/developers?tab=endpoints`);
    await page.getByText("No endpoints yet.").waitFor();
    await page.getByRole("button", { name: "New endpoint" }).click();
    await dialog(page).getByLabel("URL").fill("https://10.0.0.1/");
    await dialog(page).getByRole("button", { name: "Create endpoint" }).click();
    await dialog(page).getByText("Events cannot be delivered to this URL.").waitFor();
    await dialog(page).getByLabel("URL").fill(shop.url);
    await dialog(page).getByLabel("Selected events").check();
    await dialog(page).getByRole("combobox", { name: "Events" }).fill("invoice.");
    await page.getByRole("option", { name: "invoice.*" }).click();
    await page.keyboard.press("Escape");
    await dialog(page).getByRole("button", { name: "Create endpoint" }).click();
    await dialog(page)
      .getByText(/^whsec_/)
      .waitFor();
    await dialog(page).getByRole("button", { name: "I have saved it" }).click();
    await untilPage(page, new URL(shop.url).host);
    await page.getByText("No deliveries yet.").waitFor();
    expect(await findings(page)).toEqual([]);
    await createOrder(merchant, "Order 8001");
    await page.getByText("This endpoint is failing").waitFor();
    await page.getByRole("button", { name: "invoice.created" }).click();
    await page.getByText("no such table: orders").first().waitFor();
    await page.getByText("Order 8001").first().waitFor();
    expect(await findings(page)).toEqual([]);
    shop.answer(200, "thanks");
    await page.getByRole("button", { name: "Send again: invoice.created" }).click();
    await page.getByText("thanks", { exact: true }).waitFor();
    await page.getByText("This endpoint is failing").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Send a ping" }).click();
    await until(
      async () => shop.bodies.some((body) => body.includes('"ping"')),
      (isSent) => isSent,
      120_000,
    );
    await page.getByRole("button", { name: "Rotate secret" }).click();
    await dialog(page).getByRole("button", { name: "Rotate secret" }).click();
    await dialog(page)
      .getByText(/^whsec_/)
      .waitFor();
    await dialog(page).getByRole("button", { name: "I have saved it" }).click();
    await page.getByText("Secrets", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Replay" }).click();
    await dialog(page).getByRole("button", { name: "Replay events" }).click();
    await page.getByText("One event is being sent again.").waitFor();
    await page.getByRole("combobox", { name: "Delivery status" }).click();
    await page.getByRole("option", { name: "Failed" }).click();
    await page.waitForURL(/status=FAILED/);
    await page.getByText("No deliveries with this status.").waitFor();
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("button", { name: "Turn on" }).waitFor();
    await page.getByRole("button", { name: /^Delete/ }).click();
    await dialog(page).getByLabel("to confirm").fill(new URL(shop.url).host);
    await dialog(page).getByRole("button", { name: "Delete" }).click();
    await page.getByText("No endpoints yet.").waitFor();
  });

  it("see events as they happen, by type, with the body that endpoints get", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/developers?tab=events`);
    await untilPage(page, "Developers");
    const order = await createOrder(merchant, "Order 8101");
    const row = page.getByRole("button", { name: "invoice.created" });
    await row.click();
    await page.getByText(order.id).first().waitFor();
    await page.getByText("No endpoint subscribes to this event.").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("combobox", { name: "Event type" }).fill("wallet.*");
    await page.getByRole("option", { name: "wallet.*" }).click();
    await page.waitForURL(/type=wallet/);
    await row.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "wallet.created" }).waitFor();
  });

  it("who may only view see no button that changes anything", async () => {
    const { page } = await browsing.visit(QUIET);
    const shop = await openShop(["USDT"]);
    const path = `/console/${shop.merchantId}/developers`;
    await page.goto(path);
    await signIn(page, emailOf(shop.merchantId, "VIEWER"));
    await untilPage(page, "Developers");
    await page.getByRole("button", { name: /permissions: / }).waitFor();
    for (const name of ["New key", "Edit", "Rotate", "Revoke"]) {
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    }
    await page.getByRole("tab", { name: "Endpoints" }).click();
    await page.getByText("No endpoints yet.").waitFor();
    expect(await page.getByRole("button", { name: "New endpoint" }).count()).toBe(0);
  });
});
