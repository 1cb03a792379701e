// Measures the time from the block with a payment until its invoice is PAID, with the whole service and a real chain. The result is a multiple of the
// polling interval.
import { type EvmChain, startEvmChain } from "../../scripts/demo-story/evm-chain.ts";
import { type Shop, startShop } from "../../scripts/demo-story/shop.ts";
import { assetOn, networkNamed } from "../../src/chains/registry/networks.ts";
import type { Context } from "../context.ts";
import type { Outcome } from "../report.ts";
import { spread } from "../statistics.ts";

const POLL_SECONDS = 1;
const PAYMENTS = 12;
const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const USDT = { cryptocurrency: "USDT", network: "ETH" };
/** The time between two reads of the invoice, and so the error of the measurement. */
const READ_EVERY_MS = 10;
const PAID_WITHIN_MS = 30_000;

export async function paymentLatency(context: Context): Promise<Outcome> {
  const ethereum = networkNamed("ETH");
  const contract = ethereum === undefined ? undefined : assetOn(ethereum, "USDT")?.contract;
  if (typeof contract !== "string") throw new Error("no USDT on ETH");
  context.progress("starting a chain and the service");
  const chain = await startEvmChain([contract]);
  let shop: Shop | undefined;
  try {
    await chain.mine();
    shop = await startShop({ sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] }, pollSeconds: POLL_SECONDS });
    await shop.registerWallet({ walletType: "DIRECT_WALLET", ...USDT, address: ADDRESS });
    const waited: number[] = [];
    for (let n = 0; n < PAYMENTS; n++) {
      context.progress(`paying invoice ${n + 1} of ${PAYMENTS}`);
      const ms = await paidAfterMs(shop, chain, { contract, rawAmount: 20 + n });
      // The first payment also determines the block at which watching begins, so it does not count.
      if (n > 0) waited.push(ms / (POLL_SECONDS * 1_000));
    }
    const ratio = spread(waited);
    return {
      figures: [
        {
          what: "from a block on anvil to the invoice's PAID row",
          baseline: `the poll interval of ${POLL_SECONDS} s`,
          ratio,
          measured: `${(ratio.median * POLL_SECONDS * 1_000).toFixed(0)} ms, ${waited.length} payments at random moments`,
        },
      ],
    };
  } finally {
    await shop?.stop();
    await chain.stop();
  }
}

async function paidAfterMs(
  shop: Shop,
  chain: EvmChain,
  of: { readonly contract: string; readonly rawAmount: number },
): Promise<number> {
  const invoice = await shop.createInvoice({ rawAmount: of.rawAmount, paymentMethods: [USDT] });
  const [method] = invoice.paymentMethods;
  if (method?.amount == null) throw new Error("the invoice shows no amount");
  // Customers pay at random times between two polls.
  await sleep(Math.random() * POLL_SECONDS * 1_000);
  const units = BigInt(Math.round(Number(method.amount) * 1e6));
  await chain.sendToken({ contract: of.contract, to: ADDRESS, units });
  const from = performance.now();
  await chain.mine();
  while (performance.now() - from < PAID_WITHIN_MS) {
    const { status } = await shop.invoice(invoice.id);
    if (status === "PAID") return performance.now() - from;
    await sleep(READ_EVERY_MS);
  }
  throw new Error(`not PAID within ${PAID_WITHIN_MS} ms`);
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
