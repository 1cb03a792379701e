// A merchant of a user who is signed in to the console, created and read through the API with the page's session.
import type { Page } from "playwright-core";
import { inject } from "vitest";
import { until } from "../../scripts/demo-story/until.ts";
import { randomHex } from "../support/wallet-bodies.ts";
import { enter } from "./console-entry.ts";
import { freshAddress } from "./console-harness.ts";
import { mine, REQUIRED, send } from "./harness.ts";

const SEEN_WITHIN_MS = 120_000;

export interface ConsoleMerchant {
  readonly id: string;
  /** The merchant's receiving address on Ethereum, for ETH. */
  readonly address: string;
  /** Calls one of the merchant's routes; throws if it is refused. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** Sends ETH to the address and waits until the payment is listed. Returns its id. */
  receive(coins: string): Promise<string>;
}

/** Signs in a new user, who owns a new merchant, through the API; no page is open yet. The merchant has a wallet for ETH unless `isBare`. */
export async function openMerchant(page: Page, { isBare = false } = {}): Promise<ConsoleMerchant> {
  const { baseUrl } = inject("testbed");
  await enter(page.context(), baseUrl, freshAddress());
  const sent = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const data = body === undefined ? {} : { data: body };
    const answer = await page.request.fetch(path, { method, headers: { origin: baseUrl }, ...data });
    if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const { id } = await sent<{ readonly id: string }>("POST", "/api/v1/merchants", { name: "Corner shop" });
  const call = <T>(method: string, path: string, body?: object) =>
    sent<T>(method, `/api/v1/merchants/merchant/${id}${path}`, body);
  const address = `0x${randomHex(20)}`;
  const pair = { cryptocurrency: "ETH", network: "ETH" };
  if (!isBare) {
    await call("POST", "/wallets", {
      ...pair,
      walletType: "DIRECT_WALLET",
      address,
      requiredConfirmations: REQUIRED,
    });
  }
  const receive = async (coins: string) => {
    const hash = await send("ETH", coins, address);
    const found = async () => {
      await mine();
      const { data } = await call<{ readonly data: readonly { readonly id: string }[] }>(
        "GET",
        `/payments?txHash=${hash}`,
      );
      return data[0]?.id;
    };
    const paymentId = await until(found, (each) => each !== undefined, SEEN_WITHIN_MS);
    return String(paymentId);
  };
  return { id, address, call, receive };
}

export interface OrderFacts {
  readonly id: string;
  readonly status: string;
  readonly amountReceived: string;
  readonly paymentMethods: readonly { readonly amount: string | null }[];
}

/** An invoice that asks for ETH. */
export function createOrder(merchant: ConsoleMerchant, name: string, more: object = {}): Promise<OrderFacts> {
  const paymentMethods = [{ cryptocurrency: "ETH", network: "ETH" }];
  return merchant.call("POST", "/invoices", { name, rawAmount: 49.9, paymentMethods, ...more });
}
