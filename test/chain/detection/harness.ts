// Shared by scenarios on real chains: a shop with its own server, and waiting for the state of its invoices. Each file starts its
// shop and its nodes in `beforeAll` and ends them in `afterAll`:
//
//   shop = await startShop({ sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] }, pollSeconds: POLL_SECONDS });
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { HDKey } from "@scure/bip32";
import { expect } from "vitest";
import {
  type Invoice,
  type Pair,
  type Payment,
  type PaymentMethod,
  type Shop,
  type ShopOptions,
  type Sources,
  startShop as startShopAlone,
} from "../../../scripts/demo-story/shop.ts";
import { until as untilAlone } from "../../../scripts/demo-story/until.ts";
import { decodeBase58check, encodeBase58check } from "../../../src/chains/encodings/address-text.ts";
import { parseUnits } from "../../../src/lib/money.ts";
import { builtServer } from "../../support/built-worker.ts";
import type { CoreNode } from "../../support/core-node.ts";

export type { Invoice, Pair, Payment, PaymentMethod, Shop, ShopOptions, Sources };

/** Often enough that a scenario takes seconds, but not so often that passes overlap on two cores. */
export const POLL_SECONDS = 0.25;
/** Limits the wait for something that never happens; it does not measure speed. */
export const SEEN_WITHIN_MS = 200_000;

const shops = new Set<Shop>();

export async function startShop(options?: ShopOptions): Promise<Shop> {
  const shop = await startShopAlone({ wrangler: builtServer(), ...options });
  shops.add(shop);
  const stop = async () => {
    shops.delete(shop);
    await shop.stop();
  };
  return { ...shop, stop };
}

/** Like the demo's `until`, but a timeout error includes the health and the logs of this file's shops. */
export async function until<T>(read: () => Promise<T>, isIt: (value: T) => boolean, boundMs: number): Promise<T> {
  try {
    return await untilAlone(read, isIt, boundMs);
  } catch (error) {
    const reports = await Promise.all([...shops].map(reportOf));
    throw new Error([error instanceof Error ? error.message : error, ...reports].join("\n"), { cause: error });
  }
}

/** How many characters from the end of a server's log are shown. */
const LOG_SHOWN = 4_000;

async function reportOf({ raw, logFile }: Shop): Promise<string> {
  const health = await raw("GET", "/healthz").catch(String);
  const lines = readFileSync(logFile, "utf8").split("\n");
  const log = lines
    .filter((line) => !/ GET .* 200 OK| QUEUE [a-z0-9-]+-jobs /.test(line))
    .join("\n")
    .slice(-LOG_SHOWN);
  return `/healthz: ${typeof health === "string" ? health : health.text}\nthe end of its log:\n${log}`;
}

/** Reads the invoice until `isIt` holds. */
export async function untilInvoice(
  shop: Pick<Shop, "invoice">,
  id: string,
  isIt: (invoice: Invoice) => boolean,
  boundMs = SEEN_WITHIN_MS,
): Promise<Invoice> {
  return until(() => shop.invoice(id), isIt, boundMs);
}

/** Reads the invoice until it has this status. */
export async function untilStatus(shop: Shop, id: string, status: Invoice["status"]): Promise<Invoice> {
  return untilInvoice(shop, id, (invoice) => invoice.status === status);
}

/** Reads the merchant's payments of this transaction until there is at least one, and `isIt` holds for all. */
export async function untilPayments(
  shop: Shop,
  txHash: string,
  isIt: (payment: Payment) => boolean = () => true,
): Promise<readonly Payment[]> {
  return until(
    () => shop.payments(`txHash=${txHash}`),
    (payments) => payments.length > 0 && payments.every(isIt),
    SEEN_WITHIN_MS,
  );
}

/** Waits until the only payment of a transaction is in this block. */
export async function untilInBlock(shop: Shop, txHash: string, blockHash: string | undefined) {
  const read = async () => {
    const [payment, ...more] = await untilPayments(shop, txHash);
    expect(more).toEqual([]);
    return shop.payment(payment?.id ?? "");
  };
  const isThere = ({ evidence }: { readonly evidence?: unknown }) =>
    (evidence as { readonly block: { readonly hash: string } | null }).block?.hash === blockHash;
  return until(read, isThere, SEEN_WITHIN_MS);
}

/** The base units of a number of whole coins. */
export function unitsOf(coins: string, decimals = 0): bigint {
  const units = parseUnits(coins, decimals);
  if (!units.ok) throw new Error(`${coins} is no amount`);
  return units.value;
}

/** Every status that the invoice went through, in order. */
export function pathOf(invoice: Invoice): readonly string[] {
  return invoice.invoiceTimeline.map(({ paymentStatus }) => paymentStatus);
}

/** The method shown to the customer for a pair; it must be active, with an address and an amount. */
export function shownTo(
  invoice: Invoice,
  pair: Pair,
): PaymentMethod & { readonly address: string; readonly amount: string } {
  const method = invoice.paymentMethods.find(
    (each) => each.cryptocurrency === pair.cryptocurrency && each.network === pair.network,
  );
  const { address, amount } = method ?? {};
  expect(method, JSON.stringify(invoice.paymentMethods)).toMatchObject({ status: "ACTIVE" });
  if (method === undefined || address == null || amount == null) throw new Error("the method shows nothing to pay");
  return { ...method, address, amount };
}

const ACCOUNT = "m/84'/1'/0'";
const VPUB_VERSION = 0x045f1cf6;

/** A wallet of the node's coin with one address per invoice, from a fresh key. */
export function accountOn({ network }: Pick<CoreNode, "network">) {
  const { publicExtendedKey } = HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32))).derive(ACCOUNT);
  const payload = Uint8Array.from(decodeBase58check(publicExtendedKey) ?? []);
  new DataView(payload.buffer).setUint32(0, VPUB_VERSION);
  return {
    walletType: "XPUB_WALLET",
    ...coinOf({ network }),
    xpub: encodeBase58check(payload),
    derivationPath: ACCOUNT,
  };
}

/** The pair that customers on a regtest node pay with. */
export function coinOf({ network }: Pick<CoreNode, "network">): Pair {
  return { cryptocurrency: network.slice(0, 3), network };
}

interface NetworkHealth {
  readonly height: number | null;
  readonly tipHeight: number | null;
  readonly degradedSince: string | null;
}

/** Reads the network's state at /healthz until `isIt` holds. */
export async function untilHealth(
  shop: Shop,
  network: string,
  isIt: (health: NetworkHealth) => boolean,
): Promise<NetworkHealth> {
  const read = async () => {
    const { body } = await shop.raw("GET", "/healthz");
    const health = (body as { readonly networks: Record<string, NetworkHealth> }).networks[network];
    if (health === undefined) throw new Error(`/healthz says nothing of ${network}`);
    return health;
  };
  return until(read, isIt, SEEN_WITHIN_MS);
}

/** Mines the mempool into a block and waits until the shop has read it, and everything before it. */
export async function mineAndRead(shop: Shop, node: CoreNode): Promise<void> {
  await node.mine();
  await untilRead(shop, node);
}

/** Waits until the shop has read the node's newest block. */
export async function untilRead(shop: Shop, node: CoreNode): Promise<void> {
  const tip = await node.rpc<number>("getblockcount");
  await untilHealth(shop, node.network, ({ height }) => height === tip);
}

/** Spends the inputs of a transaction to these outputs, the rest back to `payer`, at a higher fee; leaves the new transaction in the mempool. */
export async function spendInstead(
  node: CoreNode,
  txid: string,
  outputs: Readonly<Record<string, string>>,
): Promise<string> {
  const payer = node.wallet();
  const { hex } = await payer<{ readonly hex: string }>("gettransaction", txid);
  const { vin, vout } = await node.rpc<RawTransaction>("decoderawtransaction", hex);
  const paid = Object.values(outputs).reduce((sum, coins) => sum + Number(coins), 0);
  const before = vout.reduce((sum, { value }) => sum + value, 0);
  const back = { [await payer<string>("getnewaddress")]: (before - paid - HIGH_FEE).toFixed(8) };
  const inputs = vin.map((input) => ({ txid: input.txid, vout: input.vout, sequence: 0xfffffffd }));
  const raw = await node.rpc<string>("createrawtransaction", inputs, { ...outputs, ...back });
  const signed = await payer<{ readonly hex: string }>("signrawtransactionwithwallet", raw);
  return node.rpc<string>("sendrawtransaction", signed.hex, 0);
}

/** In coins: many times a wallet's usual fee, and less than any of the wallet's outputs. */
const HIGH_FEE = 0.001;

interface RawTransaction {
  readonly vin: readonly { readonly txid: string; readonly vout: number }[];
  readonly vout: readonly { readonly value: number }[];
}

/** Mines blocks without the mempool's transactions. */
export async function mineEmpty(node: CoreNode, blocks = 1): Promise<void> {
  for (let mined = 0; mined < blocks; mined++) {
    await node.rpc("generateblock", await node.wallet()<string>("getnewaddress"), []);
  }
}

/** A proxy to a node, which a test can close. Closing it closes its port and cuts open connections. */
export interface Relay {
  /** The node's own URL, except for the port. */
  readonly url: string;
  close(): Promise<void>;
}

export async function startRelay(node: Pick<CoreNode, "url">): Promise<Relay> {
  const target = new URL(node.url);
  const sockets = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect(Number(target.port), target.hostname);
    for (const socket of [inward, outward]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
    }
    inward.pipe(outward).pipe(inward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(node.url);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
