// A running service that has a merchant with some sales, and a browser whose user is signed in.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { type Shop, startShop, TEST_ADDRESS } from "../../scripts/demo-story/shop.ts";
import { DEMO_OWNER } from "../../scripts/seed.ts";
import { executeSqlFile } from "../../scripts/wrangler.ts";
import { launchChromium } from "../../test/support/page-browser.ts";

/** The number of invoices: enough for a full page of the list. */
const INVOICES = 25;
const DAYS = 60;
const DAY_MS = 24 * 60 * 60 * 1_000;
const BUCKET_MS = 15 * 60 * 1_000;

export type Session = Exclude<BrowserContextOptions["storageState"], string | undefined>;

export interface Stage {
  readonly browser: Browser;
  readonly baseUrl: string;
  /**
   * The ids in the paths of pages: of the merchant, and of one object of each kind that has a page. The keys are the paths' parameters, without the
   * colon.
   */
  readonly ids: Readonly<Record<string, string>>;
  readonly session: Session;
  stop(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const shop = await startShop({
    seedMore: async (home, { merchantId }) => {
      const file = join(home.path, "received.sql");
      writeFileSync(file, receivedSql(merchantId, Date.now()) + unmatchedSql(merchantId, Date.now()));
      executeSqlFile(home, file);
    },
  });
  try {
    const ids = await stocked(shop);
    const browser = await launchChromium();
    const stop = async () => {
      await browser.close();
      await shop.stop();
    };
    const { baseUrl } = shop;
    return { browser, baseUrl, ids, session: await signedIn(browser, baseUrl), stop };
  } catch (error) {
    await shop.stop();
    throw error;
  }
}

/** Payments on each of the last days, for the sums on Home. */
function receivedSql(merchantId: string, nowMs: number): string {
  const columns =
    "merchant_id, starts_at_ms, currency, network, cryptocurrency, created, paid, overpaid, underpaid, expired";
  const more =
    "cancelled, timed, seconds_to_paid, payments, unpriced, units_low, units_mid, units_high, fiat_low, fiat_high";
  const rows = Array.from({ length: DAYS }, (_, day) => {
    const startsAtMs = Math.floor((nowMs - day * DAY_MS) / BUCKET_MS) * BUCKET_MS;
    const bucket = `'${merchantId}', ${startsAtMs}, 'USD'`;
    return `(${bucket}, '', '', 5, 4, 0, 0, 1, 0, 4, 2400, 0, 0, 0, 0, 0, 0, 0),
      (${bucket}, 'ETH', 'USDT', 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 199600000, 0, 0, 199600000, 0)`;
  });
  return `INSERT OR IGNORE INTO report_buckets (${columns}, ${more}) VALUES ${rows.join(",\n")};\n`;
}

const PAYMENT_ID = `pay_01${"0".repeat(24)}`;

/** A payment that needs a decision. */
function unmatchedSql(merchantId: string, nowMs: number): string {
  const columns =
    "id, merchant_id, network, cryptocurrency, tx_hash, output_index, to_address, amount_units, status, confirmations";
  const more = "required_confirmations, is_late, received_at_ms, final_at_ms, evidence, created_at_ms, updated_at_ms";
  const transfer = `'ETH', 'USDT', '0x${"5c".repeat(32)}', '0', '${TEST_ADDRESS}', '77123456', 'UNMATCHED', 20`;
  const evidence = '{"raw":"{}","spends":[],"candidates":[]}';
  const seen = `20, 0, ${nowMs}, ${nowMs}, '${evidence}', ${nowMs}, ${nowMs}`;
  return `INSERT OR IGNORE INTO payments (${columns}, ${more}) VALUES ('${PAYMENT_ID}', '${merchantId}', ${transfer}, ${seen});\n`;
}

/** Creates the objects that the pages show, and returns their ids. Of the invoices, only the id of the last one is returned. */
async function stocked(shop: Shop): Promise<Stage["ids"]> {
  const { id: walletId } = await shop.registerWallet({
    walletType: "DIRECT_WALLET",
    cryptocurrency: "USDT",
    network: "ETH",
    address: TEST_ADDRESS,
  });
  const make = async (path: string, body: object) => (await shop.call<{ readonly id: string }>("POST", path, body)).id;
  const customerEmail = "ann@example.com";
  const ids = {
    merchantId: shop.merchantId,
    walletId,
    paymentId: PAYMENT_ID,
    productId: await make("/products", { name: "Coffee", price: 12.5 }),
    webhookId: await make("/webhooks", { url: "http://127.0.0.1:9/events", events: ["invoice.paid"] }),
  };
  const made = [];
  for (let n = 0; n < INVOICES; n++)
    made.push(await shop.createInvoice({ name: `Order ${1_000 + n}`, rawAmount: 20 + n, customerEmail }));
  const last = made.at(-1);
  if (last?.customerId == null) throw new Error("no invoice with a customer was made");
  return { ...ids, invoiceId: last.id, customerId: last.customerId };
}

/** Signs in with the code from the development mailbox. */
async function signedIn(browser: Browser, baseUrl: string): Promise<Session> {
  const context = await browser.newContext({ baseURL: baseUrl });
  const headers = { origin: baseUrl, accept: "application/json" };
  await context.request.post("/api/v1/auth/email/start", { headers, data: { email: DEMO_OWNER } });
  const mails = await context.request.get(`/dev/mail?to=${encodeURIComponent(DEMO_OWNER)}`, { headers });
  const [, code] = /(?:^|\\n)(\d{8})(?:$|\\n)/.exec(await mails.text()) ?? [];
  if (code === undefined) throw new Error(`no mail with a code to ${DEMO_OWNER}`);
  const verified = await context.request.post("/api/v1/auth/email/verify", {
    headers,
    data: { email: DEMO_OWNER, code },
  });
  if (!verified.ok()) throw new Error(`the code was refused: ${verified.status()} ${await verified.text()}`);
  const session = await context.storageState();
  await context.close();
  return session;
}
