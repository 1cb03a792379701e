// Shared by the tests of pages. Each file starts its own browser, and each test uses a new shop:
//
//   const browsing = useBrowser();
//   const shop = await openShop();
//   const { page } = await browsing.visit();
//   await page.goto(payPath(await shop.createInvoice({ rawAmount: 30 })));
//
// A request from a page to another origin, a message in the page's console or an error that it throws fails the test at its end.
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { evmChainAt } from "../../scripts/demo-story/evm-chain.ts";
import { type Invoice, type PaymentMethod, type Shop, shopApi } from "../../scripts/demo-story/shop.ts";
import { until } from "../../scripts/demo-story/until.ts";
import { assetOn } from "../../src/chains/registry/networks.ts";
import { parseUnits } from "../../src/lib/money.ts";
import { network } from "../support/named-network.ts";
import { launchChromium } from "../support/page-browser.ts";
import { howToInstallChromium, isBrowserWanted } from "../support/page-program.ts";
import { lastSteps, openPages } from "../support/page-steps.ts";
import { startVisit, type Visit, type VisitOptions } from "../support/page-visit.ts";
import { randomHex, xpubWallet } from "../support/wallet-bodies.ts";
import { takeShop } from "./testbed.ts";

export type { Invoice, PaymentMethod };
export { until };
export type PageShop = Pick<
  Shop,
  | "baseUrl"
  | "merchantId"
  | "raw"
  | "call"
  | "registerWallet"
  | "createInvoice"
  | "invoice"
  | "activate"
  | "cancelInvoice"
  | "changeSettings"
>;

/** Two confirmations, so that a payer sees "seen" before "paid". */
export const REQUIRED = 2;
/** For a shop whose payments must stay unconfirmed while the test examines the page, although tests of other files mine blocks on the same chain. */
export const MANY_REQUIRED = 200;
/** Time for a pass of the watcher and the push to the page, on a busy machine. */
const CHANGES_WITHIN_MS = 120_000;

/** Tests in a browser. Without one they fail in CI and are skipped elsewhere, with instructions to install it. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (isBrowserWanted()) describe(name, tests);
  else it.skip(`${name} (${howToInstallChromium()})`, () => {});
}

interface Browsing {
  browser(): Browser;
  /** Opens a page for a new visitor; both end with the test. */
  visit(options?: VisitOptions): Promise<Visit>;
}

export function useBrowser(): Browsing {
  let browser: Browser;
  let visits: Visit[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async ({ task }) => {
    const ending = visits;
    visits = [];
    const story = task.result?.state === "fail" ? await lastSteps(browser, openPages(browser)) : undefined;
    const faults = ending.flatMap((visit) => visit.faults);
    for (const visit of ending) await visit.close();
    // Reported next to the test's own error, where it is noticed.
    if (story !== undefined) throw new Error([story, ...faults].join("\n"));
    expect(faults).toEqual([]);
  });
  return {
    browser: () => browser,
    visit: async (options) => {
      const visit = await startVisit(browser, inject("testbed").baseUrl, options);
      visits.push(visit);
      return visit;
    },
  };
}

export type Code = "USDT" | "USDC" | "DAI" | "ETH" | "BTC";

/** A shop that accepts these coins at addresses of its own; all coins but BTC are on Ethereum. */
export async function openShop(
  codes: readonly Code[] = ["USDT", "USDC", "ETH", "BTC"],
  requiredConfirmations = REQUIRED,
): Promise<PageShop> {
  const testbed = inject("testbed");
  const { merchantId, key } = takeShop(testbed);
  const shop = shopApi(testbed.baseUrl, merchantId, key);
  const address = `0x${randomHex(20)}`;
  for (const cryptocurrency of codes) {
    await shop.registerWallet(
      cryptocurrency === "BTC"
        ? xpubWallet()
        : { walletType: "DIRECT_WALLET", cryptocurrency, network: "ETH", address, requiredConfirmations },
    );
  }
  return shop;
}

export const ON_ETH = (cryptocurrency: Exclude<Code, "BTC">) => ({ cryptocurrency, network: "ETH" });

export function payPath({ id }: Pick<Invoice, "id">): string {
  return `/pay/${id}`;
}

/** Waits until the page shows this stage, without reloading it. */
export async function untilStage(page: Page, stage: string): Promise<void> {
  await page.waitForSelector(`main#checkout[data-stage="${stage}"]`, { timeout: CHANGES_WITHIN_MS });
}

/** The text of an element as a visitor sees it, without hidden parts. */
export function seenIn(part: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: hidden text must not count
  return part.innerText();
}

/** The invoice's payment method for the coin, as the API returns it now. */
export async function methodOf(shop: PageShop, { id }: Pick<Invoice, "id">, code: Code): Promise<PaymentMethod> {
  const { paymentMethods } = await shop.invoice(id);
  const found = paymentMethods.find(({ cryptocurrency }) => cryptocurrency === code);
  if (found === undefined) throw new Error(`${id} has no method for ${code}`);
  return found;
}

/** Sends coins from a customer's wallet to an address, without mining a block. Returns the transaction's hash. */
export async function send(code: Exclude<Code, "BTC">, coins: string, to: string): Promise<string> {
  const asset = assetOn(network("ETH"), code);
  const units = asset === undefined ? undefined : parseUnits(coins, asset.decimals);
  if (asset === undefined || !units?.ok) throw new Error(`${coins} ${code} is no amount`);
  const chain = await evmChainAt(inject("testbed").chainUrl);
  if (asset.contract === null) return chain.sendNative({ to, units: units.value });
  return chain.sendToken({ contract: asset.contract, to, units: units.value });
}

export async function mine(blocks = 1): Promise<void> {
  const chain = await evmChainAt(inject("testbed").chainUrl);
  for (let mined = 0; mined < blocks; mined++) await chain.mine();
}

/** Mines blocks until the API returns this status. */
export async function mineUntil(shop: PageShop, { id }: Pick<Invoice, "id">, status: Invoice["status"]): Promise<void> {
  const mined = async () => {
    await mine();
    return shop.invoice(id);
  };
  await until(mined, (invoice) => invoice.status === status, CHANGES_WITHIN_MS);
}
