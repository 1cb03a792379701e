// Plays a story of the simulator of reorgs (test/simulation/detection/reorg-plan.ts) on a real node: its invoices are a shop's, its transactions are
// signed and spend real coins, and each of its branches is mined, undone and mined again, as the story says.
import { hexToBytes } from "@noble/hashes/utils.js";
import { Transaction as Unsigned } from "@scure/btc-signer";
import { networkNamed } from "../../../src/chains/networks.ts";
import { type Block, chainOf, type Transaction, type View } from "../../simulation/detection/chain-tree.ts";
import { expectedOf } from "../../simulation/detection/reorg-model.ts";
import { type Plan, planOf } from "../../simulation/detection/reorg-plan.ts";
import type { TreeInvoice } from "../../simulation/detection/reorg-shop.ts";
import { byOrdinal } from "../../simulation/detection/tree-source.ts";
import type { CoreNode } from "../../support/core-node.ts";
import { Dice } from "../../support/dice.ts";
import { coinOf, type Invoice, type Shop, shownTo, untilRead } from "./harness.ts";

/** Of invoices that take any amount in the story; here they ask for it. */
const ANY_UNITS = 90_000n;
/** Micro-dollars of a satoshi, at 68,000 for a coin. */
const MICROS_A_UNIT = 680n;
/** What each transaction has to spend: more than all its outputs and its fee. */
const COIN = { coins: "0.05", units: 5_000_000n };
const FEE_UNITS = { usual: 2_000n, ofRival: 40_000n };
const REGTEST = { bech32: "bcrt", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };

/** The plan of a seed; undefined where it is of another chain. */
export function bitcoinPlan(seed: number): Plan | undefined {
  const plan = planOf({
    dice: new Dice(seed),
    hazards: new Set(),
    identify: byOrdinal,
    onShown: () => {},
    note: () => {},
  });
  return plan.network.name === networkNamed("BTC")?.name ? plan : undefined;
}

/** Whether a transaction leaves the chain for good, or a branch wins again that had lost: what a fork alone need not bring. */
export function isEventful({ tree: { views, last, deepestFork } }: Plan): boolean {
  if (deepestFork === 0) return false;
  const chains = [...views, last].map(({ tip }) => chainOf(tip));
  const ever = new Set(chains.flatMap((chain) => chain.flatMap(({ mined }) => mined.map((each) => each.transaction))));
  const stays = new Set(chainOf(last.tip).flatMap(({ mined }) => mined.map((each) => each.transaction)));
  const isBack = chains.some((chain, n) =>
    chain.some(
      (block) => n > 1 && !chains[n - 1]?.includes(block) && chains.slice(0, n - 1).some((old) => old.includes(block)),
    ),
  );
  return isBack || [...ever].some((each) => !stays.has(each));
}

/** What the shop must say of an invoice in the end. */
export interface Ending {
  readonly id: string;
  /** `txid:n` of the outputs that are credited and confirmed. */
  readonly confirmed: readonly string[];
  readonly confirmedMicros: bigint;
  /** While nothing of it waits in a mempool. */
  readonly status: string;
}

export class BitcoinStory {
  readonly #shop: Shop;
  readonly #node: CoreNode;
  readonly #plan: Plan;
  readonly #dice: Dice;
  readonly #invoices = new Map<string, Invoice>();
  readonly #signed = new Map<string, { readonly hex: string; readonly txid: string }>();
  /** By the coin's name in the story. */
  readonly #coins = new Map<string, { readonly txid: string; readonly vout: number }>();
  readonly #hashes = new Map<Block, string>();
  #active: readonly Block[] = [];

  constructor(of: { readonly shop: Shop; readonly node: CoreNode; readonly plan: Plan; readonly seed: number }) {
    this.#shop = of.shop;
    this.#node = of.node;
    this.#plan = of.plan;
    this.#dice = new Dice(of.seed + 1);
  }

  async play(walletId: string): Promise<readonly Ending[]> {
    await this.#open(walletId);
    const { views, last } = this.#plan.tree;
    for (const view of [...views, last]) {
      await this.#show(view);
      // What was undone and is mined no more is then unknown to the node, and not only unconfirmed.
      if (this.#dice.chance(0.4)) await this.#node.evict();
      if (this.#dice.chance(0.8)) await untilRead(this.#shop, this.#node);
    }
    return this.#endings(last);
  }

  async #open(walletId: string): Promise<void> {
    for (const { address, askedUnits, requiredConfirmations } of this.#plan.invoices) {
      await this.#shop.call("PATCH", `/wallets/${walletId}`, { requiredConfirmations });
      const rawAmount = Number((askedUnits ?? ANY_UNITS) * MICROS_A_UNIT) / 1_000_000;
      const paymentMethods = [coinOf(this.#node)];
      this.#invoices.set(address, await this.#shop.createInvoice({ rawAmount, paymentMethods }));
    }
    const names = [...new Set([...this.#transactions()].map(({ spends }) => spends))];
    const addresses = await Promise.all(names.map(() => this.#node.wallet()<string>("getnewaddress")));
    const txid = await this.#node.pay(Object.fromEntries(addresses.map((address) => [address, COIN.coins])));
    await this.#node.mine();
    const { vout } = await this.#node.rpc<{ vout: { n: number; scriptPubKey: { address: string } }[] }>(
      "getrawtransaction",
      txid,
      true,
    );
    for (const [n, name] of names.entries()) {
      const own = vout.find(({ scriptPubKey }) => scriptPubKey.address === addresses[n]);
      if (own === undefined) throw new Error(`${name} was not paid`);
      this.#coins.set(name, { txid, vout: own.n });
    }
    await this.#node.wallet()("lockunspent", false, [...this.#coins.values()]);
    for (const transaction of this.#transactions()) await this.#sign(transaction);
    this.#active = chainOf(this.#plan.tree.last.tip).slice(0, 1);
  }

  /** All that is ever in a block or a mempool of the story. */
  *#transactions(): Iterable<Transaction> {
    const { views, last } = this.#plan.tree;
    const known = new Set<Transaction>();
    for (const { tip, pool } of [...views, last])
      for (const each of [...pool, ...chainOf(tip).flatMap(({ mined }) => mined.map(({ transaction }) => transaction))])
        if (!known.has(each)) {
          known.add(each);
          yield each;
        }
  }

  async #sign({ hash, outputs, spends }: Transaction): Promise<void> {
    const coin = this.#coins.get(spends);
    if (coin === undefined) throw new Error(`no coin ${spends}`);
    const unsigned = new Unsigned();
    unsigned.addInput({ txid: hexToBytes(coin.txid), index: coin.vout, sequence: 0xfffffffd });
    for (const { toAddress, amountUnits } of outputs)
      unsigned.addOutputAddress(this.#addressOf(toAddress), amountUnits, REGTEST);
    const paid = outputs.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
    const fee = hash.startsWith("rival") ? FEE_UNITS.ofRival : FEE_UNITS.usual;
    const change = await this.#node.wallet()<string>("getnewaddress");
    unsigned.addOutputAddress(change, COIN.units - paid - fee, REGTEST);
    const raw = Buffer.from(unsigned.unsignedTx).toString("hex");
    const { hex } = await this.#node.wallet()<{ hex: string }>("signrawtransactionwithwallet", raw);
    this.#signed.set(hash, { hex, txid: unsigned.id });
  }

  #addressOf(address: string): string {
    const invoice = this.#invoices.get(address);
    if (invoice === undefined) throw new Error(`no invoice at ${address}`);
    return shownTo(invoice, coinOf(this.#node)).address;
  }

  /** Makes the node's chain that of the view, and offers it what waits there. */
  async #show({ tip, pool }: View): Promise<void> {
    const target = chainOf(tip);
    const shared = target.findIndex((block, n) => this.#active[n] !== block);
    const from = shared < 0 ? target.length : shared;
    await this.#invalidate(this.#active[from]);
    for (const block of target.slice(from)) {
      const hash = this.#hashes.get(block);
      if (hash === undefined) this.#hashes.set(block, await this.#mine(block));
      else await this.#bringBack(hash);
    }
    this.#active = target;
    // One that a mempool refuses, because it holds a rival or the coin is spent, waits nowhere.
    for (const { hash } of pool)
      await this.#node.rpc("sendrawtransaction", this.#hexOf(hash), 0).catch(() => undefined);
  }

  async #invalidate(block: Block | undefined): Promise<void> {
    const hash = block === undefined ? undefined : this.#hashes.get(block);
    if (hash !== undefined) await this.#node.rpc("invalidateblock", hash);
  }

  async #mine({ mined }: Block): Promise<string> {
    const miner = await this.#node.wallet()<string>("getnewaddress");
    const hexes = mined.map(({ transaction }) => this.#hexOf(transaction.hash));
    return (await this.#node.rpc<{ hash: string }>("generateblock", miner, hexes)).hash;
  }

  /** A block that was undone, without those that were on top of it. */
  async #bringBack(hash: string): Promise<void> {
    await this.#node.rpc("reconsiderblock", hash);
    const { height } = await this.#node.rpc<{ height: number }>("getblockheader", hash);
    while ((await this.#node.rpc<number>("getblockcount")) > height)
      await this.#node.rpc("invalidateblock", await this.#node.rpc("getblockhash", height + 1));
    if ((await this.#node.rpc("getbestblockhash")) !== hash) throw new Error(`${hash} did not come back`);
  }

  #hexOf(hash: string): string {
    return this.#signed.get(hash)?.hex ?? "";
  }

  /** By the simulator's own model, from the final chain alone. */
  #endings(last: View): readonly Ending[] {
    const asked = this.#plan.invoices.map((invoice): TreeInvoice => {
      const askedUnits = invoice.askedUnits ?? ANY_UNITS;
      const expectedMicros = askedUnits * MICROS_A_UNIT;
      const tolerances = {
        underpaidToleranceMicros: expectedMicros / 100n,
        overpaidToleranceMicros: expectedMicros / 20n,
      };
      return { ...invoice, ...tolerances, askedUnits, expectedMicros, expiresAtMs: Number.MAX_SAFE_INTEGER };
    });
    const expected = expectedOf(last, asked, (_, finalMs) => finalMs);
    return asked.map(({ id, address }) => {
      const confirmed = [...expected.payments].filter(
        ([, { invoiceId, status }]) => invoiceId === id && status === "CONFIRMED",
      );
      const { status = "", receivedMicros = 0n } = expected.invoices.get(id) ?? {};
      return {
        id: this.#invoices.get(address)?.id ?? "",
        confirmed: confirmed.map(([key]) => this.#keyOf(key)).toSorted(),
        confirmedMicros: receivedMicros,
        // Nothing closes here.
        status: status === "EXPIRED" || status === "UNDERPAID" ? "AWAITING_PAYMENT" : status,
      };
    });
  }

  /** `hash:n` of the story as `txid:n`. */
  #keyOf(key: string): string {
    const [hash = "", n] = key.split(":");
    return `${this.#signed.get(hash)?.txid}:${n}`;
  }
}
