// `npm run demo:pay [-- inv_...]`: pays an invoice of `npm start` on the chain of `npm run demo:chain`, exactly the amount still due; without an id
// creates an invoice first. Ends when the invoice neither awaits payment nor is being confirmed, or after two minutes.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { chainUrl } from "./demo-story/chain-place.ts";
import { evmChainAt } from "./demo-story/evm-chain.ts";
import { payDue } from "./demo-story/pay-due.ts";
import { type Invoice, type PaymentMethod, shopApi, TEST_ADDRESS } from "./demo-story/shop.ts";
import { until } from "./demo-story/until.ts";

const PAIR = { cryptocurrency: "USDT", network: "ETH" } as const;
const WITHIN_MS = 120_000;

const home = resolve(process.env.EDGETILL_HOME || ".edgetill");

try {
  const demo = JSON.parse(readFileSync(join(home, "demo.json"), "utf8"));
  const shop = shopApi(demo.baseUrl, demo.merchantId, demo.secretKey);
  const invoice = await payable(shop, process.argv[2]);
  const method = await methodOf(shop, invoice);
  await payDue(await evmChainAt(chainUrl()), method);
  console.log(`Paid ${method.amountDue} ${method.cryptocurrency} to ${method.address} for ${invoice.id}.`);
  let shown = "";
  const paid = await until(
    async () => shop.invoice(invoice.id),
    ({ status, amountConfirmed }) => {
      const now = `${status}, ${amountConfirmed} ${invoice.currency} confirmed`;
      if (now !== shown) console.log(`  ${now}`);
      shown = now;
      return !["AWAITING_PAYMENT", "PENDING_CONFIRMATION"].includes(status);
    },
    WITHIN_MS,
  );
  process.exit(["PAID", "OVERPAID"].includes(paid.status) ? 0 : 1);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error("Start `npm run demo:chain` first; it prints how to start a server that watches it.");
  process.exit(1);
}

type Shop = ReturnType<typeof shopApi>;

async function payable(shop: Shop, id: string | undefined): Promise<Invoice> {
  if (id !== undefined) return shop.invoice(id);
  const wallets = await shop.call<readonly { cryptocurrency: string; network: string }[]>("GET", "/wallets");
  const hasWallet = wallets.some(
    (each) => each.cryptocurrency === PAIR.cryptocurrency && each.network === PAIR.network,
  );
  if (!hasWallet) {
    const wallet = { walletType: "DIRECT_WALLET", ...PAIR, address: TEST_ADDRESS, requiredConfirmations: 3 };
    await shop.registerWallet(wallet);
    console.log(`Registered a wallet for USDT on ETH: ${TEST_ADDRESS}, from public test vectors.`);
  }
  const invoice = await shop.createInvoice({ name: "Demo order", rawAmount: 49.9, paymentMethods: [PAIR] });
  console.log(`Made ${invoice.id} of 49.90 USD.`);
  return invoice;
}

/** The payment method on the local chain; the invoice may not have one yet. */
async function methodOf(shop: Shop, { id, paymentMethods }: Invoice): Promise<PaymentMethod> {
  const active = paymentMethods.find(({ network, status }) => network === PAIR.network && status === "ACTIVE");
  return active ?? (await shop.activate(id, PAIR));
}
