// Buyers at the demo shop: each opens the page of a product, sends its form, chooses a payment method, and pays on a local Ethereum chain, again
// and again. Not part of `npm run bench`: it runs on the development server, whose proxy takes more time than what is measured (performance.md
// "How it is measured"), so its figures only compare commits on one machine. Run with `node bench/buyers.ts`.
import * as z from "zod";
import { type EvmChain, startEvmChain } from "../scripts/demo-story/evm-chain.ts";
import { payDue } from "../scripts/demo-story/pay-due.ts";
import { type Shop, startShop, TEST_ADDRESS } from "../scripts/demo-story/shop.ts";
import { assetOn, networkNamed } from "../src/chains/registry/networks.ts";
import { percentile } from "./statistics.ts";

const BUYERS = Number(process.env.BUYERS ?? 64);
const PURCHASES_EACH = Number(process.env.PURCHASES ?? 2);
const COINS = ["USDT", "USDC"];
const PAID_WITHIN_MS = 120_000;

/** Transfers are sent one after the other, because concurrent ones would use the same nonce. */
let lastSent: Promise<void> = Promise.resolve();

interface Tally {
  readonly createMs: number[];
  readonly errors: string[];
  readonly invoiceIds: string[];
}

async function main(): Promise<void> {
  const ethereum = networkNamed("ETH");
  const tokens = COINS.flatMap((code) => (ethereum && assetOn(ethereum, code)?.contract) ?? []);
  const chain = await startEvmChain(tokens);
  const shop = await startShop({ pollSeconds: 0.5, sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] } });
  try {
    console.log(await measure(shop, chain));
  } finally {
    await shop.stop();
    await chain.stop();
  }
}

async function measure(shop: Shop, chain: EvmChain): Promise<string> {
  for (const cryptocurrency of COINS) {
    const place = { cryptocurrency, network: "ETH", address: TEST_ADDRESS, requiredConfirmations: 1 };
    await shop.registerWallet({ walletType: "DIRECT_WALLET", ...place });
  }
  const product = await shop.call<{ id: string }>("POST", "/products", {
    name: "Coffee",
    price: 19.5,
    askForName: true,
  });
  const page = `${shop.baseUrl}/buy/${product.id}`;
  const tally: Tally = { createMs: [], errors: [], invoiceIds: [] };
  await buy(shop, chain, page, 0, { createMs: [], errors: [], invoiceIds: [] });
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: BUYERS }, async (_, buyer) => {
      for (let n = 0; n < PURCHASES_EACH; n++)
        await buy(shop, chain, page, buyer, tally).catch((error: unknown) => void tally.errors.push(String(error)));
    }),
  );
  const seconds = (performance.now() - startMs) / 1_000;
  await untilPaid(shop, chain, tally);
  const paidSeconds = (performance.now() - startMs) / 1_000;
  const sorted = Float64Array.from(tally.createMs).sort();
  return [
    `${tally.invoiceIds.length} of ${BUYERS * PURCHASES_EACH} invoices by ${BUYERS} buyers`,
    `${(tally.createMs.length / seconds).toFixed(1)} creates/s`,
    `create p50 ${Math.round(percentile(sorted, 0.5))} ms, p99 ${Math.round(percentile(sorted, 0.99))} ms`,
    `all paid after ${paidSeconds.toFixed(1)} s`,
    `${tally.errors.length} errors${tally.errors[0] === undefined ? "" : `, the first: ${tally.errors[0].slice(0, 200)}`}`,
  ].join("; ");
}

/** One purchase, up to the transfer, which the next block confirms. */
async function buy(shop: Shop, chain: EvmChain, page: string, buyer: number, tally: Tally): Promise<void> {
  const html = await (await fetch(page)).text();
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? "";
  const form = new URLSearchParams({ token, name: `Buyer ${buyer}`, email: `buyer-${buyer}@example.com` });
  const sentMs = performance.now();
  const created = await post(page, form);
  tally.createMs.push(performance.now() - sentMs);
  const invoiceId = /\/pay\/(inv_[0-9A-Z]{26})/.exec(created.headers.get("location") ?? "")?.[1];
  if (invoiceId === undefined) throw new Error(`the form was answered with ${created.status}`);
  const method = `${COINS[tally.invoiceIds.length % COINS.length]}_ETH`;
  const picked = await post(`${shop.baseUrl}/pay/${invoiceId}/methods`, new URLSearchParams({ method }));
  if (picked.status !== 303) throw new Error(`the pick was answered with ${picked.status}`);
  const [due] = (await checkout(shop, invoiceId)).paymentMethods.filter(({ status }) => status === "ACTIVE");
  if (due === undefined) throw new Error("no method was activated");
  const sent = lastSent.then(() => payDue(chain, due));
  lastSent = sent.catch(() => {});
  await sent;
  tally.invoiceIds.push(invoiceId);
}

async function post(url: string, form: URLSearchParams): Promise<Response> {
  const response = await fetch(url, { method: "POST", body: form, redirect: "manual" });
  await response.arrayBuffer();
  return response;
}

const CHECKOUT = z.object({
  status: z.string(),
  paymentMethods: z.array(
    z.object({
      cryptocurrency: z.string(),
      network: z.string(),
      status: z.string(),
      address: z.string().nullable(),
      amountDue: z.string().nullable(),
    }),
  ),
});

async function checkout(shop: Shop, invoiceId: string) {
  const { body, status } = await shop.raw("GET", `/api/v1/checkout/${invoiceId}`);
  if (status !== 200) throw new Error(`the invoice was answered with ${status}`);
  return CHECKOUT.parse(body);
}

async function untilPaid(shop: Shop, chain: EvmChain, { invoiceIds, errors }: Tally): Promise<void> {
  const lateMs = performance.now() + PAID_WITHIN_MS;
  let waiting: readonly string[] = invoiceIds;
  while (waiting.length > 0 && performance.now() < lateMs) {
    await chain.mine();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const paid = await Promise.all(waiting.map(async (id) => (await checkout(shop, id)).status === "PAID"));
    waiting = waiting.filter((_, n) => !paid[n]);
  }
  if (waiting.length > 0) errors.push(`${waiting.length} invoices were not paid`);
}

await main();
