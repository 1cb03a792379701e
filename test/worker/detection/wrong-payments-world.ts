// The participants in the generated wrong payments: a shop with orders, a payer who pays one of them wrongly, and neighbours, who have orders at the
// same address. The payer does what the page asks for and never writes to the shop; the merchant does only what the API recommends.
import { eq } from "drizzle-orm";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { parseId } from "../../../src/lib/ids.ts";
import { parseUnits } from "../../../src/lib/money.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { api, page } from "../../support/checkouts.ts";
import { ageQuotes } from "../../support/quotes.ts";
import { randomHex, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt, look, transferTo } from "./transfers-harness.ts";

export const PAIRS = {
  /** A wallet with one address for all invoices. */
  shared: { cryptocurrency: "USDT", network: "ETH", decimals: 6 },
  /** A wallet with an address for each invoice. */
  own: { cryptocurrency: "BTC", network: "BTC", decimals: 8 },
} as const;

export interface World {
  readonly shop: TestMerchant;
  readonly place: keyof typeof PAIRS;
  /** The address that wallets share; "" if each invoice has its own. */
  readonly address: string;
}

/** Creates the shop. Its shared address takes USDT and USDC on Ethereum, and USDT on Polygon. */
export async function openWorld(place: World["place"]): Promise<World> {
  const shop = await freshMerchant();
  const address = `0x${randomHex(20)}`;
  const direct = (cryptocurrency: string, network: string) => {
    return { walletType: "DIRECT_WALLET", cryptocurrency, network, address, requiredConfirmations: 1 };
  };
  const wallets =
    place === "own"
      ? [{ ...xpubWallet(), requiredConfirmations: 1 }]
      : [direct("USDT", "ETH"), direct("USDC", "ETH"), direct("USDT", "POL")];
  for (const wallet of wallets) {
    const made = await shop.post("/wallets", wallet);
    if (made.status !== 201) throw new Error(made.text);
  }
  const [first] = (await shop.get("/wallets")).body;
  return { shop, place, address: place === "own" ? "" : String(first.address) };
}

export interface Order {
  readonly id: `inv_${string}`;
  readonly address: string;
  readonly units: bigint;
}

export async function makeOrder({ shop, place }: World, rawAmount: number): Promise<Order> {
  const { cryptocurrency, network, decimals } = PAIRS[place];
  const paymentMethods = [{ cryptocurrency, network }];
  const made = await shop.post("/invoices", { name: "Order", rawAmount, paymentMethods });
  const [method] = made.body.paymentMethods;
  const id = parseId("inv", String(made.body.id));
  if (id === undefined) throw new Error(made.text);
  return { id, address: String(method.address), units: unitsOf(String(method.amount), decimals) };
}

export function unitsOf(amount: string, decimals: number): bigint {
  const units = parseUnits(amount, decimals);
  if (!units.ok) throw new Error(`${amount} is no amount`);
  return units.value;
}

/** Puts the transfer into a block of this second, which the network's watcher reads. */
export async function pay(
  world: World,
  to: string,
  amountUnits: bigint,
  of: { readonly cryptocurrency?: string; readonly network?: string } = {},
): Promise<Transfer> {
  const pair = PAIRS[world.place];
  const { cryptocurrency = pair.cryptocurrency, network = pair.network } = of;
  const hash = network === "BTC" ? randomHex(32) : `0x${randomHex(32)}`;
  const block = blockAt(100, Date.now());
  const transfer = transferTo(to, amountUnits, { cryptocurrency, txHash: hash, block });
  const seen = await look([transfer], { network });
  if (!seen.ok) throw new Error(seen.error.code);
  return transfer;
}

/** Changes the invoice so that it ended a moment ago, and its price was locked hours ago. */
export async function end({ id }: Order): Promise<void> {
  await ageQuotes(testDb, id, 2 * HOUR_MS);
  const expiresAtMs = Date.now() - 1;
  await testDb.update(invoices).set({ expiresAtMs }).where(eq(invoices.id, id));
}

/** Ends the time in which payments to the order are watched for. */
export async function forget({ id }: Order): Promise<void> {
  const monitorUntilMs = Date.now() - 1;
  await testDb.update(invoices).set({ monitorUntilMs }).where(eq(invoices.id, id));
  await testDb.update(methodAmounts).set({ heldUntilMs: monitorUntilMs }).where(eq(methodAmounts.invoiceId, id));
}

/** Names the transaction on the page of an order, as anyone may do. */
export async function claim({ id }: Order, { txHash }: Transfer): Promise<string> {
  const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] });
  const NETWORK_WATCHER = { getByName: () => ({ look: async () => "FOUND" }) };
  const changes = { NETWORK_WATCHER, CHAIN_SOURCES } as unknown as Partial<Env>;
  const headers = { "cf-connecting-ip": `2001:db8:${randomHex(2)}:${randomHex(2)}::1` };
  const body = { network: "ETH", txHash };
  const { status, json } = await api({ id }, "/claims", { method: "POST", body, headers }, changes);
  if (status !== 202) throw new Error(JSON.stringify(json));
  return String(json?.id);
}

/** The amount that the page asks for, or undefined. It is read from the API, and counts only if the page shows it too. */
export async function askedByPage({ id }: Order, place: World["place"]): Promise<bigint | undefined> {
  const html = (await page({ id }, "/state")).text;
  const { cryptocurrency, decimals } = PAIRS[place];
  const { json } = await api({ id });
  const methods: readonly { readonly cryptocurrency: string; readonly amountDue: string | null }[] = (
    json as { readonly paymentMethods: [] }
  ).paymentMethods;
  const due = methods.find((method) => method.cryptocurrency === cryptocurrency)?.amountDue ?? null;
  const isAsked = due !== null && html.includes(`data-copy="${due}"`);
  if (isAsked && !html.includes('data-part="codes"')) throw new Error("an amount without its code");
  return isAsked ? unitsOf(due, decimals) : undefined;
}

/** Hashes that a page names, and hashes that the payer's API names for the same invoice. */
export async function namedBy(
  { id }: Order,
  query = "",
): Promise<{ readonly page: Set<string>; readonly api: Set<string> }> {
  const hashesIn = (text: string) => new Set([...text.matchAll(/\b(?:0x)?[0-9a-f]{64}\b/g)].map(([hash]) => hash));
  const html = (await page({ id }, `/state${query}`)).text;
  return { page: hashesIn(html), api: hashesIn(JSON.stringify((await api({ id })).json)) };
}
