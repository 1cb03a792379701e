// Takes the README's screenshots of the checkout: a payment on a local chain, as a payer sees it, narrow and wide, light and dark. Run it by hand
// after a visual change: `node scripts/screenshots.ts`. Writes docs/screenshots/: `pay.png` is narrow and light, the others are `pay-dark.png`,
// `pay-wide.png` and `pay-wide-dark.png`.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { endInvoiceIn, openTestbed, takeShop } from "../test/browser/testbed.ts";
import { launchChromium } from "../test/support/page-browser.ts";
import { evmChainAt } from "./demo-story/evm-chain.ts";
import { logoPng } from "./demo-story/logo.ts";
import { payDue } from "./demo-story/pay-due.ts";
import { type Invoice, type Shop, shopApi, TEST_ADDRESS } from "./demo-story/shop.ts";
import { until } from "./demo-story/until.ts";

const FOLDER = "docs/screenshots";
const WIDTHS = { narrow: 320, wide: 1024 } as const;
const SCHEMES = ["light", "dark"] as const;
/** This URL is never opened: requests to it are aborted. */
const SHOP = "https://shop.example";
const COLOR = "#0f766e";
const WITHIN_MS = 15_000;
/** From public test vectors: never send real coins to them. */
const BITCOIN_KEY =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const WALLETS = [
  ...["USDT", "USDC", "ETH"].map((cryptocurrency) => ({ cryptocurrency, network: "ETH", address: TEST_ADDRESS })),
  ...["USDT", "USDC", "POL"].map((cryptocurrency) => ({ cryptocurrency, network: "POL", address: TEST_ADDRESS })),
  { cryptocurrency: "USDC", network: "BASE", address: TEST_ADDRESS },
  { cryptocurrency: "USDT", network: "TRX", address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8" },
].map((wallet) => ({ walletType: "DIRECT_WALLET", requiredConfirmations: 3, ...wallet }));

type Desk = Pick<Shop, "call" | "registerWallet" | "changeSettings" | "createInvoice" | "invoice">;

mkdirSync(FOLDER, { recursive: true });
const { testbed, close } = await openTestbed();
const browser = await launchChromium();
try {
  const { merchantId, key } = takeShop(testbed);
  const shop = shopApi(testbed.baseUrl, merchantId, key);
  await openForTrade(shop);
  const context = await browser.newContext({ baseURL: testbed.baseUrl, locale: "en-US", reducedMotion: "reduce" });
  await context.route(`${SHOP}/**`, (route) => route.abort());
  const page = await context.newPage();
  await payOne(shop, page);
  await missOne(shop, page);
} finally {
  await browser.close();
  await close();
}

async function openForTrade(shop: Desk): Promise<void> {
  for (const wallet of WALLETS) await shop.registerWallet(wallet);
  await shop.registerWallet({
    walletType: "XPUB_WALLET",
    cryptocurrency: "BTC",
    network: "BTC",
    xpub: BITCOIN_KEY,
    derivationPath: "m/84h/0h/0h",
  });
  const data = logoPng(COLOR).toString("base64");
  const { name: logo } = await shop.call<{ readonly name: string }>("POST", "/images", {
    contentType: "image/png",
    data,
  });
  await shop.changeSettings({
    brand: { name: "Harbour Coffee", color: COLOR, logo, supportUrl: `${SHOP}/help` },
  });
}

/** Pays an invoice, and takes a screenshot of each page from the choice of a coin to the receipt. */
async function payOne(shop: Desk, page: Page): Promise<void> {
  const chain = await evmChainAt(testbed.chainUrl);
  const invoice = await order(shop);
  await open(page, `/pay/${invoice.id}`, "choose");
  await shoot(page, "choose");
  await page.locator('button[value="USDT_ETH"]').click();
  await reach(page, "pay");
  await shoot(page, "pay");
  await open(page, `/pay/${invoice.id}?method=USDT_ETH&lang=ar`, "pay");
  await shootOnce(page, "pay-arabic", "narrow", "light");
  await open(page, `/pay/${invoice.id}?lang=en`, "pay");
  const [method] = (await shop.invoice(invoice.id)).paymentMethods;
  if (method === undefined) throw new Error("no method was picked");
  await payDue(chain, method);
  await chain.mine();
  await reach(page, "seen");
  await chain.mine();
  await page.locator("progress[value='2']").waitFor({ timeout: WITHIN_MS });
  await shoot(page, "seen");
  await mineUntil(shop, invoice, "PAID");
  await open(page, `/pay/${invoice.id}`, "paid");
  await shoot(page, "paid");
  await page.goto(`/pay/${invoice.id}/receipt`);
  await shoot(page, "receipt");
}

async function missOne(shop: Desk, page: Page): Promise<void> {
  const invoice = await order(shop, { paymentMethods: [{ cryptocurrency: "USDC", network: "ETH" }] });
  endInvoiceIn(testbed, invoice.id, 0);
  await mineUntil(shop, invoice, "EXPIRED");
  await open(page, `/pay/${invoice.id}`, "expired");
  await page.locator("summary").first().click();
  await shoot(page, "expired");
}

function order(shop: Desk, fields: Readonly<Record<string, unknown>> = {}): Promise<Invoice> {
  const description = "Whole beans, roasted this week. Sent tomorrow.";
  const redirectUrl = `${SHOP}/thanks`;
  return shop.createInvoice({ name: "Espresso beans, 1 kg", description, rawAmount: 49.9, redirectUrl, ...fields });
}

async function mineUntil(shop: Desk, { id }: Invoice, status: Invoice["status"]): Promise<void> {
  const chain = await evmChainAt(testbed.chainUrl);
  const mined = async () => {
    await chain.mine();
    return shop.invoice(id);
  };
  await until(mined, (invoice) => invoice.status === status, WITHIN_MS);
}

async function open(page: Page, path: string, stage: string): Promise<void> {
  await page.goto(path, { waitUntil: "networkidle" });
  await reach(page, stage);
}

async function reach(page: Page, stage: string): Promise<void> {
  await page.locator(`main[data-stage="${stage}"]`).waitFor({ timeout: WITHIN_MS });
}

async function shoot(page: Page, name: string): Promise<void> {
  for (const width of ["narrow", "wide"] as const) {
    for (const scheme of SCHEMES) {
      const marks = [name, width === "wide" ? "-wide" : "", scheme === "dark" ? "-dark" : ""];
      await shootOnce(page, marks.join(""), width, scheme);
    }
  }
}

async function shootOnce(
  page: Page,
  name: string,
  width: keyof typeof WIDTHS,
  colorScheme: (typeof SCHEMES)[number],
): Promise<void> {
  await page.setViewportSize({ width: WIDTHS[width], height: 640 });
  await page.emulateMedia({ colorScheme });
  const path = join(FOLDER, `${name}.png`);
  const picture = compressed(await page.screenshot({ fullPage: true, animations: "disabled", caret: "hide" }));
  writeFileSync(path, picture);
  console.log(`${path}  ${Math.ceil(picture.length / 1_024)} KB`);
}

/** Compresses the image better than the browser does. Pages are flat and opaque, so no filter and no alpha channel give the smallest file. */
function compressed(png: Buffer): Buffer {
  return PNG.sync.write(PNG.sync.read(png), { colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 });
}
