// What the shops of the guide share: a local Ethereum node, Edgetill on it, and a merchant with a wallet.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { type EvmChain, startEvmChain } from "../../../scripts/demo-story/evm-chain.ts";
import { payDue } from "../../../scripts/demo-story/pay-due.ts";
import { assetOn } from "../../../src/chains/registry/networks.ts";
import { builtServer } from "../../support/built-worker.ts";
import { network } from "../../support/named-network.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import {
  type PaymentMethod,
  POLL_SECONDS,
  SEEN_WITHIN_MS,
  type Shop,
  startShop,
  unitsOf,
  until,
} from "../detection/harness.ts";

/** Retries soon at first, then at long intervals, because an endpoint that failed 20 times in a row is only probed. */
const WEBHOOK_SCHEDULE = "0,1,3,6,20,60,60,60,60,60";

export interface World {
  readonly edgetill: Shop;
  /** The merchant's secret key. */
  readonly key: string;
  /** Chooses a payment method on the checkout, as its page does. */
  choose(checkoutUrl: string): Promise<PaymentMethod>;
  /** Chooses a method and sends the amount asked for; the transaction is not mined yet. */
  pay(checkoutUrl: string): Promise<void>;
  /** Sends USDT to an address; returns the hash of the transaction, which is not mined yet. */
  send(address: string, amount: string): Promise<string>;
  mine(): Promise<void>;
  /** Mines a block before each reading, until the value is as expected. */
  mineUntil<T>(read: () => Promise<T>, isIt: (value: T) => boolean): Promise<T>;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const usdt = assetOn(network("ETH"), "USDT");
  const contract = usdt?.contract ?? "";
  const chain = await startEvmChain([contract]);
  const edgetill = await startEdgetill(chain).catch(async (error) => {
    await chain.stop();
    throw error;
  });
  const choose: World["choose"] = async (checkoutUrl) => {
    const path = `/api/v1/checkout/${invoiceIdIn(checkoutUrl)}/payment-methods`;
    const response = await fetch(new URL(path, checkoutUrl), {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
      body: JSON.stringify(USDT),
    });
    if (!response.ok) throw new Error(`the checkout refused: ${response.status} ${await response.text()}`);
    return (await response.json()) as PaymentMethod;
  };
  return {
    edgetill,
    key: keyOf(edgetill),
    choose,
    pay: async (checkoutUrl) => payDue(chain, await choose(checkoutUrl)),
    mine: chain.mine,
    send: (to, amount) => chain.sendToken({ contract, to, units: unitsOf(amount, usdt?.decimals) }),
    mineUntil: (read, isIt) => {
      const mined = async () => {
        await chain.mine();
        return read();
      };
      return until(mined, isIt, SEEN_WITHIN_MS);
    },
    close: async () => {
      await edgetill.stop();
      await chain.stop();
    },
  };
}

/** The invoice's id, `inv_...`, from the address of its checkout. */
export function invoiceIdIn(checkoutUrl: string): string {
  const [, id] = /\/pay\/(inv_\w+)$/.exec(checkoutUrl) ?? [];
  if (id === undefined) throw new Error(`${checkoutUrl} is no checkout`);
  return id;
}

async function startEdgetill(chain: EvmChain): Promise<Shop> {
  await chain.mine();
  const sources = { ETH: [{ kind: "evm-rpc", url: chain.url }] };
  const edgetill = await startShop({
    wrangler: builtServer(),
    sources,
    pollSeconds: POLL_SECONDS,
    webhookSchedule: WEBHOOK_SCHEDULE,
  });
  await edgetill.registerWallet({ ...directWallet(), requiredConfirmations: 2 });
  return edgetill;
}

function keyOf({ logFile }: Shop): string {
  const demo: unknown = JSON.parse(readFileSync(join(dirname(logFile), "demo.json"), "utf8"));
  return z.object({ secretKey: z.string() }).parse(demo).secretKey;
}
