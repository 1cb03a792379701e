// The last story is played by the user: a shop whose checkout is open in the browser, and the terminal as the customer's wallet.
import { createServer } from "node:http";
import { createInterface } from "node:readline/promises";
import { verifyReturn } from "../../client/return.ts";
import { assetOn, networkNamed } from "../../src/chains/registry/networks.ts";
import { formatUnits, parseUnits } from "../../src/lib/money.ts";
import { portOf } from "../port-of.ts";
import { logoPng } from "./logo.ts";
import { payDue } from "./pay-due.ts";
import type { Chains } from "./play.ts";
import type { Invoice, PaymentMethod, Shop } from "./shop.ts";

const BRAND_COLOR = "#0f766e";
const BLOCK_EVERY_MS = { evm: 2_000, litecoin: 6_000 } as const;
/** How many of the newest invoices are searched for one that awaits payment. */
const LOOKED_AT = 20;
const HELP = "Press Enter to pay the amount due, type a number to pay that percentage of it, or q to end.";

interface Counter {
  readonly invoice: Invoice;
  readonly productUrl: string;
  stop(): Promise<void>;
}

/** Brands the shop, creates a product and an invoice, and opens the page to which customers return. */
async function openCounter(shop: Shop): Promise<Counter> {
  const logo = await shop.call<{ name: string }>("POST", "/images", {
    contentType: "image/png",
    data: logoPng(BRAND_COLOR).toString("base64"),
  });
  await shop.changeSettings({ brand: { name: "Corner Coffee", color: BRAND_COLOR, logo: logo.name } });
  const product = await shop.call<{ id: string }>("POST", "/products", {
    name: "Coffee beans, 1 kg",
    description: "Roasted this week.",
    price: 19.5,
    askForName: true,
  });
  const shopServer = await openShopServer(shop.baseUrl);
  const invoice = await shop.createInvoice({
    name: "Two flat whites and a croissant",
    rawAmount: 12.4,
    redirectUrl: shopServer.url,
  });
  return { invoice, productUrl: `${shop.baseUrl}/buy/${product.id}`, stop: shopServer.stop };
}

/** Runs until the user ends it: blocks are mined, and each line typed at the terminal is a payment. */
export async function yourTurn(of: {
  readonly shop: Shop;
  readonly chains: Chains;
  readonly say: (text: string) => void;
}): Promise<void> {
  const { shop, chains, say } = of;
  const counter = await openCounter(shop);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Passes Ctrl-C on to the handler of the whole demo.
  terminal.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const beats = [
    setInterval(() => void chains.evm.mine().catch(() => {}), BLOCK_EVERY_MS.evm),
    setInterval(() => void chains.litecoin?.mine().catch(() => {}), BLOCK_EVERY_MS.litecoin),
  ];
  say("\nNow it is your turn. Open this in a browser, and choose how to pay:");
  say(`    ${counter.invoice.checkoutUrl}`);
  say(`or buy something:\n    ${counter.productUrl}`);
  say(`Then pay from here. ${HELP}\n`);
  try {
    for await (const line of terminal) {
      const text = line.trim();
      if (text === "q") return;
      const percent = text === "" ? 100 : Number(text);
      if (!(percent > 0 && percent <= 1_000)) say(HELP);
      else say(await pay(shop, chains, percent).catch((error: unknown) => `Nothing was paid: ${messageOf(error)}`));
    }
  } finally {
    for (const beat of beats) clearInterval(beat);
    terminal.close();
    await counter.stop();
  }
}

/** Pays the invoice whose payment method was chosen most recently; returns a message about it. */
async function pay(shop: Shop, chains: Chains, percent: number): Promise<string> {
  const query = `/invoices?status=AWAITING_PAYMENT&limit=${LOOKED_AT}`;
  const { data } = await shop.call<{ data: readonly Invoice[] }>("GET", query);
  const waiting = data.flatMap((invoice) =>
    invoice.paymentMethods.filter(isDue).map((method) => ({ invoice, method })),
  );
  const [newest] = waiting.toSorted((a, b) => ((a.method.quotedAt ?? "") < (b.method.quotedAt ?? "") ? 1 : -1));
  if (newest === undefined) return "No invoice waits for money: first choose how to pay on the page.";
  const method = portionOf(newest.method, percent);
  if (networkNamed(method.network)?.family === "evm") await payDue(chains.evm, method);
  else await chains.litecoin?.pay(method.address ?? "", method.amountDue ?? "");
  return `Sent ${method.amountDue} ${method.cryptocurrency} for "${newest.invoice.name}". Watch the page.`;
}

function isDue({ status, amountDue }: PaymentMethod): boolean {
  return status === "ACTIVE" && Number(amountDue) > 0;
}

/** The method with its amount due reduced or increased to this percentage. */
function portionOf(method: PaymentMethod, percent: number): PaymentMethod {
  const network = networkNamed(method.network);
  const asset = network === undefined ? undefined : assetOn(network, method.cryptocurrency);
  const units = asset === undefined ? undefined : parseUnits(method.amountDue ?? "", asset.decimals);
  if (asset === undefined || !units?.ok) throw new Error(`nothing is due in ${method.cryptocurrency}`);
  const portion = (units.value * BigInt(Math.round(percent * 100))) / 10_000n;
  return { ...method, amountDue: formatUnits(portion, asset.decimals) };
}

/** The shop's own page, to which customers return. It trusts only the signature in its URL. */
async function openShopServer(baseUrl: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    const url = `http://${request.headers.host}${request.url}`;
    const text = await greeting(baseUrl, url).catch(
      (error: unknown) => `The payment could not be verified: ${messageOf(error)}`,
    );
    response.end(`<!doctype html><title>Corner Coffee</title><h1>Corner Coffee</h1><p>${text}</p>\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}/thanks?order=7`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function greeting(baseUrl: string, url: string): Promise<string> {
  const { invoiceId, status } = await verifyReturn({ url, baseUrl });
  return `Welcome back. ${invoiceId} is ${status}: the signature in the address proves it.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
