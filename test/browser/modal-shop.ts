// A shop's page, as its BTCPay Server plugin creates it: it loads /modal/btcpay.js from us, shows an invoice, and listens.
import type { FrameLocator, Page } from "playwright-core";
import { inject } from "vitest";

/** Never contacted: the test answers for it. */
export const SHOP = "https://shop.example";

interface ModalShop {
  /** The payer's page over the shop's. */
  readonly frame: FrameLocator;
  /** The statuses that the plugin's function received, in order. */
  heard(): Promise<readonly string[]>;
  /** Whether there is a frame at all. */
  isOpen(): Promise<boolean>;
}

/** What WooCommerce's plugin does when an order is placed, and how it listens; with a version after the script's name, as WordPress adds. */
const pageOf = (invoiceId: string) => `<!doctype html><title>Shop</title><button>Place order</button>
  <script src="${inject("testbed").baseUrl}/modal/btcpay.js?ver=2.7.1"></script>
  <script>
    const heard = [];
    btcpay.onModalWillEnter(() => heard.push("enters"));
    btcpay.onModalWillLeave(() => heard.push("leaves"));
    document.querySelector("button").onclick = () => {
      btcpay.setApiUrlPrefix("${inject("testbed").baseUrl}/");
      btcpay.showInvoice("${invoiceId}");
      btcpay.onModalReceiveMessage(({ data }) => {
        heard.push(typeof data === "string" ? data : data.status);
        if (["expired", "invalid"].includes(data.status?.toLowerCase())) btcpay.hideFrame();
      });
    };
  </script>`;

/** Opens the shop's page and places the order. */
export async function placeOrder(page: Page, invoiceId: string): Promise<ModalShop> {
  await page.route(`${SHOP}/**`, (route) => route.fulfill({ contentType: "text/html", body: pageOf(invoiceId) }));
  await page.goto(SHOP);
  await page.getByRole("button").click();
  return {
    frame: page.frameLocator("iframe[name=btcpay]"),
    heard: () => page.evaluate<readonly string[]>("heard"),
    isOpen: async () => (await page.locator("iframe").count()) > 0,
  };
}

/**
 * What another script on the shop's page can claim: that the invoice is paid. To the shop itself, from another frame, and to our page.
 */
export async function forge(page: Page, invoiceId: string): Promise<void> {
  const claim = `{ invoiceId: "${invoiceId}", status: "Settled" }`;
  await page.evaluate(`(async () => {
    const other = document.createElement("iframe");
    other.srcdoc = "<script>parent.postMessage(" + JSON.stringify(${claim}) + ", '*'); parent.postMessage('close', '*')</" + "script>";
    await new Promise((resolve) => { other.onload = resolve; document.body.append(other); });
    const ours = document.querySelector("iframe[name=btcpay]").contentWindow;
    for (const to of [window, ours]) for (const what of [${claim}, "close", { type: "edgetill.checkout", stage: "paid" }]) to.postMessage(what, "*");
    other.remove();
    await new Promise((resolve) => setTimeout(resolve));
  })()`);
}
