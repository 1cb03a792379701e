// A block tree of the reorg simulator on bitcoind. Its transactions spend real coins, and a branch that wins again consists of the same blocks.
import { hexToBytes } from "@noble/hashes/utils.js";
import { Transaction as Unsigned } from "@scure/btc-signer";
import type { Block, Output, Transaction } from "../../simulation/detection/chain-tree.ts";
import type { Plan } from "../../simulation/detection/reorg-plan.ts";
import type { TreeInvoice } from "../../simulation/detection/reorg-shop.ts";
import type { CoreNode } from "../../support/core-node.ts";
import { coinOf, type Invoice, mineEmpty, type Shop, shownTo, untilRead } from "./harness.ts";
import { type Opened, type OutputName, type StoryChain, transactionsIn } from "./story.ts";

/** The amount of invoices that accept any amount in the simulator; here every invoice must ask for an amount. */
const ANY_UNITS = 90_000n;
/** Micro-dollars per satoshi, at 68,000 dollars per coin. */
const MICROS_A_UNIT = 680n;
/** The coin that each transaction spends: worth more than all its outputs and its fee. */
const COIN = { coins: "0.05", units: 5_000_000n };
const FEE_UNITS = { usual: 2_000n, ofRival: 40_000n };
const REGTEST = { bech32: "bcrt", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };

export class BitcoinStory implements StoryChain {
  readonly #shop: Shop;
  readonly #node: CoreNode;
  readonly #walletId: string;
  readonly #invoices = new Map<string, Invoice>();
  readonly #signed = new Map<string, { readonly hex: string; readonly txid: string }>();
  /** The real coins, by their name in the simulator. */
  readonly #coins = new Map<string, { readonly txid: string; readonly vout: number }>();
  readonly #hashes = new Map<Block, string>();

  constructor(of: { readonly shop: Shop; readonly node: CoreNode; readonly walletId: string }) {
    this.#shop = of.shop;
    this.#node = of.node;
    this.#walletId = of.walletId;
  }

  async open(plan: Plan): Promise<readonly Opened[]> {
    const opened: Opened[] = [];
    for (const invoice of plan.invoices) opened.push(await this.#create(invoice));
    const transactions = transactionsIn(plan);
    const names = [...new Set(transactions.flatMap(({ spends }) => spends))];
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
    for (const transaction of transactions) await this.#sign(transaction);
    return opened;
  }

  async #create(of: TreeInvoice): Promise<Opened> {
    const askedUnits = of.askedUnits ?? ANY_UNITS;
    const expectedMicros = askedUnits * MICROS_A_UNIT;
    const { requiredConfirmations } = of;
    await this.#shop.call("PATCH", `/wallets/${this.#walletId}`, { requiredConfirmations });
    const rawAmount = Number(expectedMicros) / 1_000_000;
    const invoice = await this.#shop.createInvoice({ rawAmount, paymentMethods: [coinOf(this.#node)] });
    this.#invoices.set(of.address, invoice);
    const tolerances = {
      underpaidToleranceMicros: expectedMicros / 100n,
      overpaidToleranceMicros: expectedMicros / 20n,
    };
    return { planned: { ...of, ...tolerances, askedUnits, expectedMicros }, shop: this.#shop, id: invoice.id };
  }

  async #sign({ hash, outputs, spends }: Transaction): Promise<void> {
    const [name = ""] = spends;
    const coin = this.#coins.get(name);
    if (coin === undefined) throw new Error(`no coin ${name}`);
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

  height(): Promise<number> {
    return this.#node.rpc<number>("getblockcount");
  }

  async undo([lowest]: readonly Block[]): Promise<void> {
    const hash = lowest === undefined ? undefined : this.#hashes.get(lowest);
    if (hash !== undefined) await this.#node.rpc("invalidateblock", hash);
  }

  async put(block: Block): Promise<void> {
    const hash = this.#hashes.get(block);
    if (hash === undefined) this.#hashes.set(block, await this.#mine(block));
    else await this.#bringBack(hash);
  }

  async #mine({ mined }: Block): Promise<string> {
    const miner = await this.#node.wallet()<string>("getnewaddress");
    const hexes = mined.map(({ transaction }) => this.#signedOf(transaction.hash).hex);
    return (await this.#node.rpc<{ hash: string }>("generateblock", miner, hexes)).hash;
  }

  /** Restores an undone block, without the blocks on top of it. */
  async #bringBack(hash: string): Promise<void> {
    await this.#node.rpc("reconsiderblock", hash);
    const { height } = await this.#node.rpc<{ height: number }>("getblockheader", hash);
    while ((await this.height()) > height)
      await this.#node.rpc("invalidateblock", await this.#node.rpc("getblockhash", height + 1));
    if ((await this.#node.rpc("getbestblockhash")) !== hash) throw new Error(`${hash} did not come back`);
  }

  async offer({ hash }: Transaction): Promise<void> {
    await this.#node.rpc("sendrawtransaction", this.#signedOf(hash).hex, 0).catch(() => undefined);
  }

  evict(): Promise<void> {
    return this.#node.evict();
  }

  mineEmpty(): Promise<void> {
    return mineEmpty(this.#node);
  }

  untilRead(): Promise<void> {
    return untilRead(this.#shop, this.#node);
  }

  outputOf(hash: string, ordinal: number, { amountUnits }: Output): OutputName {
    return { txHash: this.#signedOf(hash).txid, outputIndex: String(ordinal), amountUnits };
  }

  #signedOf(hash: string) {
    const signed = this.#signed.get(hash);
    if (signed === undefined) throw new Error(`${hash} was not signed`);
    return signed;
  }
}
