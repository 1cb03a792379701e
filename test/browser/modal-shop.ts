// A shop's page like the one a BTCPay Server plugin creates: it loads /modal/btcpay.js from us, shows an invoice, and listens for its status.
import type { FrameLocator, Page } from "playwright-core";
import { inject } from "vitest";

/** An origin that is never contacted, because the test answers in its place. */
export const SHOP = "https://shop.example";

interface ModalShop {
  /** The payer's page, shown over the shop's page. */
  readonly frame: FrameLocator;
  /** The statuses that the plugin's function received, in order. */
  heard(): Promise<readonly string[]>;
  /** Whether the page contains any frame. */
  isOpen(): Promise<boolean>;
}

/** What WooCommerce's plugin runs when an order is placed, and how it listens for messages. WordPress adds a version to the script's URL. */
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
 * Claims that the invoice is paid, as another script on the shop's page could: to the shop's own window, from another frame, and to our page in its
 * frame.
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
